#include "demo/fleet.h"

#include <algorithm>
#include <utility>

namespace evenkeel::demo {

std::size_t Fleet::living() const {
    return static_cast<std::size_t>(std::ranges::count(processors_, true, &Processor::lives));
}

std::size_t Fleet::owned_by(int processor) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        traffic_.partitions,
        [&](const PartitionTraffic& partition) { return partition.owner == processor; }));
}

int Fleet::busiest() const {
    int found = -1;
    for (int i = 0; i < static_cast<int>(processors_.size()); ++i) {
        if (lives(i) && (found < 0 || owned_by(i) >= owned_by(found))) found = i;
    }
    return found;
}

std::size_t Fleet::killed(int processor, Instant now) {
    processors_[index(processor)].lives = false;
    Kill& kill = kills_.emplace_back(Kill{processor, now, {}});
    for (std::size_t i = 0; i < traffic_.partitions.size(); ++i) {
        if (traffic_.partitions[i].owner == processor) kill.partitions.push_back(i);
    }
    return kill.partitions.size();
}

std::optional<Fleet::TakenOver> Fleet::next_taken_over(Instant now) {
    for (Kill& kill : kills_) {
        const bool is_over = std::ranges::all_of(kill.partitions, [&](std::size_t i) {
            return traffic_.partitions[i].owner != kill.processor;
        });
        if (!is_over || std::exchange(kill.is_told, true)) continue;
        return TakenOver{kill.processor, now - kill.at};
    }
    return std::nullopt;
}

bool Fleet::all_taken_over() const {
    return std::ranges::all_of(kills_, &Kill::is_told);
}

std::size_t Fleet::orphans() const {
    std::size_t sum = 0;
    for (const Kill& kill : kills_) sum += kill.partitions.size();
    return sum;
}

}  // namespace evenkeel::demo
