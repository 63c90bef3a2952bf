// One life of a group by chance whose store is emptied, or set back to an older copy, while members
// join, crash, stop for a while and lose answers. In a third of them the store is emptied, and a
// member joins right after that, before others can have noticed it.
//
// Checked
//   LOSS-1  After the loss no event is handled that the lost store knew to be handled.
//   LOSS-2  Every member that is there stops, and says why.
//   LOSS-3  Nobody begins before an operator has accepted the loss; then everything is handled.
//   LOSS-4  What a living owner had stored is not handled again after that either.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::sim {

struct StoreLossResult {
    std::string violations;  // "" if all is well
    std::string story;
    std::uint64_t events = 0;  // handled
};

StoreLossResult run_store_loss_schedule(std::uint64_t seed);

}  // namespace evenkeel::sim
