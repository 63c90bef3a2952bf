#include "processor/ownership/hand_over.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/canary.h"
#include "base/check.h"

namespace evenkeel::processor {

void HandOvers::begin(PartitionId partition, const std::string& to, CloseReason reason,
                      Instant wait_until) {
    if (running_.contains(partition) || running_.size() >= count_max) return;
    running_.emplace(partition, Running{to, reason, wait_until});
    if (!to.empty()) offers_.emplace(partition, to);
}

void HandOvers::advance() {
    const Instant now = with_.loop.clock().now();
    std::vector<PartitionId> gone;
    std::vector<PartitionId> ready;
    for (const auto& [partition, running] : running_) {
        if (running.step != Step::offered) continue;
        const bool is_release = running.to.empty();
        if (!is_release && !with_.members.is_up(running.to)) {
            gone.push_back(partition);
        } else if (is_release || with_.holdings.is_closed(partition) || now >= running.wait_until ||
                   with_.members.is_expecting(running.to)) {
            ready.push_back(partition);
        }
    }
    for (const PartitionId partition : gone) end(partition, Outcome::kept);
    for (const PartitionId partition : ready) drain(partition);
}

Instant HandOvers::next_deadline() const {
    Instant next{std::numeric_limits<std::int64_t>::max()};
    for (const auto& [partition, running] : running_) {
        if (running.step == Step::offered) next = std::min(next, running.wait_until);
    }
    return next;
}

void HandOvers::drain(PartitionId partition) {
    if (with_.holdings.find(partition) == nullptr) return end(partition, Outcome::lost);
    running_.at(partition).step = Step::draining;
    check_state(partition);
    if (EK_CANARY(release_without_flush)) {
        with_.holdings.drain(partition, running_.at(partition).reason, [] {});
        return on_drained(partition);
    }
    with_.holdings.drain(partition, running_.at(partition).reason,
                         lifetime_.guard([this, partition] { on_drained(partition); }));
}

void HandOvers::on_drained(PartitionId partition) {
    const auto running = running_.find(partition);
    if (running == running_.end()) return;
    if (with_.holdings.find(partition) == nullptr) return end(partition, Outcome::lost);
    if (!running->second.to.empty() && !with_.members.is_up(running->second.to)) {
        with_.holdings.keep(partition);
        return end(partition, Outcome::kept);
    }
    // The lease ended meanwhile, and perhaps with it the last checkpoint. Whoever stays reads on,
    // and hands it over later.
    if (running->second.reason == CloseReason::hand_over &&
        !with_.holdings.find(partition)->is_verified) {
        with_.holdings.keep(partition);
        return end(partition, Outcome::kept);
    }
    // A renewal may be under way: its answer brings the version that we must name.
    if (with_.ownerships.is_writing(partition)) {
        with_.holdings.keep(partition);
        return end(partition, Outcome::kept);
    }
    write(partition);
}

void HandOvers::write(PartitionId partition) {
    Running& running = running_.at(partition);
    running.step = Step::writing;
    checkpoint::Ownership entry = with_.holdings.find(partition)->entry;
    entry.owner = running.to;
    entry.epoch.value += 1;
    entry.since_ms = with_.loop.clock().wall().milliseconds;
    check_state(partition);
    with_.writer.write({entry},
                       lifetime_.guard([this, partition](const WrittenOwnerships& written) {
                           on_written(partition, written.ok() ? written->front() : written.error());
                       }));
}

void HandOvers::on_written(PartitionId partition, const Result<checkpoint::Ownership>& result) {
    if (result) {
        if (with_.holdings.find(partition) != nullptr) with_.holdings.let_go(partition);
        return end(partition, Outcome::given);
    }
    if (result.error().code == ErrorCode::conflict) {
        with_.holdings.forget(partition);
        return end(partition, Outcome::lost);
    }
    // It may have been applied: closed and unverified until the entry tells.
    with_.holdings.keep(partition);
    end(partition, Outcome::unknown);
}

void HandOvers::end(PartitionId partition, Outcome outcome) {
    running_.erase(partition);
    offers_.erase(partition);
    ended_(partition, outcome);
}

void HandOvers::check_state(PartitionId partition) const {
    const Running& running = running_.at(partition);
    EK_CHECK(running_.size() <= count_max, "too many hand-overs at a time");
    EK_CHECK(offers_.contains(partition) == !running.to.empty(), "an offer without a receiver");
    EK_CHECK(running.step != Step::writing || !with_.ownerships.is_writing(partition),
             "a transfer overtakes another write");
}

}  // namespace evenkeel::processor
