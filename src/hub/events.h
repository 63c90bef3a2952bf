// Events as programs see them, out of what was read from a log.
#pragma once

#include <cstddef>

#include "commitlog/read.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

// The first of what is left, as many as there are up to the maximum; nothing is copied. They are
// left no more.
EventBatch take_events(commitlog::Slice& left, std::size_t events_max);

}  // namespace evenkeel::hub
