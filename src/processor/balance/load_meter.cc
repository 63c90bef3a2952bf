#include "processor/balance/load_meter.h"

#include <cmath>

namespace evenkeel::processor {

double LoadMeter::load(PartitionId partition, std::uint64_t handled, Instant now) {
    const auto [found, is_new] = known_.try_emplace(partition, Known{handled, now, 0});
    Known& known = found->second;
    const double seconds = std::chrono::duration<double>(now - known.at).count();
    if (is_new || seconds <= 0) return known.load;
    // A pump that was opened anew counts from 0.
    const std::uint64_t before = handled < known.handled ? 0 : known.handled;
    const double rate = static_cast<double>(handled - before) / seconds;
    const double part = 1 - std::exp(-seconds / std::chrono::duration<double>(window).count());
    known = {handled, now, known.load + part * (rate - known.load)};
    return known.load;
}

}  // namespace evenkeel::processor
