#include "processor/balance/holdings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/canary.h"
#include "base/check.h"

namespace evenkeel::processor {

Holding* Holdings::find(PartitionId partition) {
    const auto found = held_.find(partition);
    return found == held_.end() ? nullptr : &found->second;
}

const Holding* Holdings::find(PartitionId partition) const {
    const auto found = held_.find(partition);
    return found == held_.end() ? nullptr : &found->second;
}

void Holdings::hold(const checkpoint::Ownership& entry, bool is_verified, Instant now) {
    Holding& holding = held_[entry.partition];
    const Pump& pump = pumps_[entry.partition];
    const bool is_new_epoch = entry.epoch > pump.epoch;
    if (pump.state == State::open) {
        EK_CHECK(entry.epoch == pump.epoch || !holding.is_verified,
                 "the epoch of an open pump changed");
    }
    holding.entry = entry;
    if (!is_verified) return;
    holding.renewed = now;
    // OWN-7: a renewal under the old epoch does not bring back what was closed.
    if (is_new_epoch || pump.state == State::open) holding.is_verified = true;
    open_if_due(entry.partition);
}

void Holdings::unverify(PartitionId partition) {
    Holding* holding = find(partition);
    if (holding == nullptr) return;
    holding->is_verified = false;
    close(partition, CloseReason::lost);
}

void Holdings::unverify_all() {
    std::vector<PartitionId> partitions;
    for (const auto& [partition, holding] : held_) partitions.push_back(partition);
    for (const PartitionId partition : partitions) unverify(partition);
}

void Holdings::forget(PartitionId partition) {
    held_.erase(partition);
    close(partition, CloseReason::lost);
}

void Holdings::let_go(PartitionId partition) {
    EK_CHECK(is_closed(partition) || EK_CANARY(release_without_flush),
             "a partition was given away that is being read");
    held_.erase(partition);
}

void Holdings::drain(PartitionId partition, CloseReason reason, Task done) {
    Holding* holding = find(partition);
    EK_CHECK(holding != nullptr, "drained what is not held");
    holding->is_handing_over = true;
    Pump& pump = pumps_[partition];
    if (pump.state == State::closed) return done();
    EK_CHECK(!pump.closed || EK_CANARY(release_without_flush), "drained twice");
    pump.closed = std::move(done);
    close(partition, reason);
}

void Holdings::keep(PartitionId partition) {
    Holding* holding = find(partition);
    if (holding == nullptr) return;
    holding->is_handing_over = false;
    if (EK_CANARY(unknown_transfer_reopens)) {
        holding->entry.epoch.value += 1;
        return open_if_due(partition);
    }
    holding->is_verified = false;
    close(partition, CloseReason::lost);
}

bool Holdings::may_act(PartitionId partition) const {
    const Holding* holding = find(partition);
    if (holding == nullptr || !holding->is_verified) return false;
    const auto pump = pumps_.find(partition);
    if (pump == pumps_.end()) return false;
    return pump->second.state == State::open ||
           (pump->second.state == State::closing && pump->second.reason != CloseReason::lost);
}

bool Holdings::is_open(PartitionId partition) const {
    const auto pump = pumps_.find(partition);
    return pump != pumps_.end() && pump->second.state == State::open;
}

bool Holdings::is_closed(PartitionId partition) const {
    const auto pump = pumps_.find(partition);
    return pump == pumps_.end() || pump->second.state == State::closed;
}

bool Holdings::all_closed() const {
    return std::all_of(pumps_.begin(), pumps_.end(),
                       [](const auto& entry) { return entry.second.state == State::closed; });
}

void Holdings::open_if_due(PartitionId partition) {
    Holding* holding = find(partition);
    if (holding == nullptr || !holding->is_verified || holding->is_handing_over ||
        lifetime_.watch().over())
        return;
    Pump& pump = pumps_[partition];
    if (pump.state != State::closed) return;
    EK_CHECK(holding->entry.epoch > pump.epoch, "opened again under the same epoch (OWN-7)");
    pump.state = State::open;
    pump.epoch = holding->entry.epoch;
    ++pump.turn;
    host_.open(partition, holding->entry.epoch);
}

void Holdings::close(PartitionId partition, CloseReason reason) {
    Pump& pump = pumps_[partition];
    if (pump.state == State::closed || lifetime_.watch().over()) return;
    // A graceful close is hastened by one as lost, and nothing else changes it.
    if (pump.state == State::closing &&
        (pump.reason == CloseReason::lost || reason != CloseReason::lost)) {
        return;
    }
    pump.state = State::closing;
    pump.reason = reason;
    host_.close(partition, reason, lifetime_.guard([this, partition, turn = pump.turn] {
        on_closed(partition, turn);
    }));
}

void Holdings::on_closed(PartitionId partition, std::uint64_t turn) {
    Pump& pump = pumps_[partition];
    // Both answers of a hastened close come; the first one counts.
    if (pump.turn != turn || pump.state != State::closing) return;
    pump.state = State::closed;
    if (Task closed = std::exchange(pump.closed, {})) {
        closed();
    } else {
        open_if_due(partition);
    }
}

}  // namespace evenkeel::processor
