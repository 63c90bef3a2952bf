// What a Hub that Hub::open() made consists of, for code that reads it from a loop of its own.
#pragma once

#include <memory>

#include "base/result.h"
#include "hub/namespace.h"
#include "io/system/loop.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

struct Inside {
    Namespace& hubs;  // pinned to the loop; answers `cancelled` once the hub is closed
    io::system::LoopThread& loop;
    std::shared_ptr<void> owner;  // keeps both
};

// `invalid_argument` for a hub that Hub::open() did not make, such as a test double.
Result<Inside> inside(Hub& hub);

}  // namespace evenkeel::hub
