// The seed of a test's chance: EVENKEEL_SEED if it is set, a fresh one otherwise. It is printed
// when first asked for, so that a failure can be run again: EVENKEEL_SEED=7741 ./test NAME
#pragma once

#include <cstdint>

namespace evenkeel::test {

std::uint64_t test_seed();

// For tests of real processes and threads, whose outcome no seed decides: new each time, and not
// printed, since it would not repeat a failure.
std::uint64_t fresh_seed();

}  // namespace evenkeel::test
