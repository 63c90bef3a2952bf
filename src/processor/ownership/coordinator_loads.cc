// The loads of what a coordinator holds: smoothed, told to the others, and when to wait for theirs.
// tidy: no test: tests/sim runs it, in scenarios by load
#include <algorithm>
#include <cmath>

#include "processor/ownership/coordinator_core.h"

namespace evenkeel::processor {

namespace {

constexpr double load_change = 0.1;                          // smaller ones are not worth a write
constexpr double load_jump = 0.5;                            // larger ones are believed at once
constexpr Duration load_memory = std::chrono::seconds(120);  // smaller ones are smoothed over it

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

// A plan needs the news of all.
void Coordinator::Core::compare_loads(const std::vector<checkpoint::Ownership>& listed,
                                      Instant now) {
    const bool has_jumped =
        std::any_of(listed.begin(), listed.end(), [&](const checkpoint::Ownership& entry) {
            if (entry.partition.value >= ownerships_.size()) return false;
            const double before = ownerships_[entry.partition].load;
            return std::abs(entry.load - before) > load_jump * before;
        });
    if (has_jumped) on_loads_changed(now);
}

// Smooths the loads of what we hold, and looks at once if they are worth telling: if loads jump,
// they do so for everybody, and a plan needs all of them.
void Coordinator::Core::watch_loads() {
    const Instant now = loop_.clock().now();
    const double part = seconds(timing_.poll_fast) / seconds(load_memory);
    bool is_due = false;
    for (const auto& [partition, holding] : holdings_.all()) {
        const double load = options_.load(partition);
        const auto [known, is_new] = loads_.emplace(partition, load);
        if (std::abs(load - known->second) > load_jump * known->second) {
            known->second = load;
        } else {
            known->second += part * (load - known->second);
        }
        is_due = is_due || is_load_due(holding, now);
    }
    std::erase_if(loads_, [&](const auto& entry) { return !holdings_.find(entry.first); });
    if (is_due) {
        on_loads_changed(now);
        look_now();
    }
    loop_.run_after(timing_.poll_fast, guarded([this] { watch_loads(); }));
}

bool Coordinator::Core::is_load_due(const Holding& holding, Instant now) const {
    const auto load = loads_.find(holding.entry.partition);
    if (load == loads_.end() || !holding.is_verified || holding.is_handing_over) return false;
    const double told = holding.entry.load;
    return std::abs(load->second - told) > load_change * told &&
           now - holding.renewed >= timing_.heartbeat;
}

// Nothing is moved by half of the news; but if they never end, once a heartbeat it is.
void Coordinator::Core::on_loads_changed(Instant now) {
    if (now - loads_changed_ < timing_.heartbeat) return;
    loads_changed_ = now;
    calm_at_ = std::max(calm_at_, now + (has_push_ ? timing_.settle_push : timing_.settle));
}

}  // namespace evenkeel::processor
