#include "processor/balance/smoothed_loads.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::processor {

namespace {

constexpr double load_change = 0.1;                          // smaller ones are not worth a write
constexpr double load_jump = 0.5;                            // larger ones are believed at once
constexpr Duration load_memory = std::chrono::seconds(120);  // smaller ones are smoothed over it

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

bool SmoothedLoads::measure(const Holdings& holdings,
                            const std::function<double(PartitionId)>& load, Instant now) {
    const double part = seconds(timing_.poll_fast) / seconds(load_memory);
    bool any_due = false;
    for (const auto& [partition, holding] : holdings.all()) {
        const double measured = load(partition);
        const auto [known, is_new] = loads_.emplace(partition, measured);
        if (std::abs(measured - known->second) > load_jump * known->second) {
            known->second = measured;
        } else {
            known->second += part * (measured - known->second);
        }
        any_due = any_due || is_due(holding, now);
    }
    std::erase_if(loads_, [&](const auto& entry) { return !holdings.find(entry.first); });
    return any_due;
}

bool SmoothedLoads::is_due(const Holding& holding, Instant now) const {
    const auto load = of(holding.entry.partition);
    if (!load || !holding.is_verified || holding.is_handing_over) return false;
    const double published = holding.entry.load;
    return std::abs(*load - published) > load_change * published &&
           now - holding.renewed >= timing_.heartbeat;
}

std::optional<double> SmoothedLoads::of(PartitionId partition) const {
    const auto load = loads_.find(partition);
    return load == loads_.end() ? std::nullopt : std::optional(load->second);
}

bool SmoothedLoads::has_jumped(const std::vector<checkpoint::Ownership>& listed,
                               const Ownerships& known) {
    return std::any_of(listed.begin(), listed.end(), [&](const checkpoint::Ownership& entry) {
        if (entry.partition.value >= known.size()) return false;
        const double before = known[entry.partition].load;
        return std::abs(entry.load - before) > load_jump * before;
    });
}

}  // namespace evenkeel::processor
