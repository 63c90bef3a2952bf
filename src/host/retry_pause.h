// How long to wait between two executions of a function that failed, as Azure Functions does. Pure.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "host/app.h"

namespace evenkeel::host {

// Before the `retry`th retry, from 1. `spread` is drawn from 0.8 to 1.2 by the caller; it counts
// from the second retry of an exponential policy on.
Duration retry_pause(const RetryRule& rule, std::uint32_t retry, double spread);

}  // namespace evenkeel::host
