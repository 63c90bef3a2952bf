// What a Hub that Hub::open() made consists of, for code that reads it from a loop of its own.
#pragma once

#include "hub/namespace.h"
#include "io/system/loop.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

struct Inside {
    Namespace& hubs;  // pinned to the loop
    io::system::LoopThread& loop;
};

// Good as long as the hub is open.
Inside inside(Hub& hub);

}  // namespace evenkeel::hub
