// Sharing by load instead of by count, for members that all publish loads.
//
// With hysteresis: nothing moves while everybody is between 0.8 and 1.1 of the mean, and a move
// must gain more than 4 % of it. A member that holds nothing but one partition heavier than the
// mean is left out: that one cannot be split.
#pragma once

#include "processor/balance/balancer.h"

namespace evenkeel::processor {

// Replaces the moves (and quotas: what each would have) of a plan that was made by count. Leaves it
// alone if loads are unknown or a foreign member is there.
void replace_by_load(const View& view, Plan& plan);

}  // namespace evenkeel::processor
