#include "sim/model_host.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::sim {

using processor::CloseReason;
using std::chrono::milliseconds;

namespace {

constexpr Duration open_takes = milliseconds(50);
constexpr Duration drain_min = milliseconds(20);
constexpr Duration drain_max = milliseconds(200);
constexpr Duration retry_after = milliseconds(200);

}  // namespace

template <typename F>
auto ModelHost::of_turn(PartitionId partition, F function) {
    return [this, partition, turn = pumps_.at(partition).turn, self = lifetime_.watch(),
            function = std::move(function)](auto&&... arguments) mutable {
        if (self.over()) return;
        const auto pump = pumps_.find(partition);
        if (pump == pumps_.end() || pump->second.turn != turn) return;
        function(std::forward<decltype(arguments)>(arguments)...);
    };
}

void ModelHost::open(PartitionId partition, Epoch epoch) {
    EK_CHECK(!pumps_.contains(partition), "opened twice");
    Pump& pump = pumps_[partition];
    pump.epoch = epoch;
    pump.turn = ++last_turn_;
    seal(partition);
}

void ModelHost::seal(PartitionId partition) {
    const Epoch epoch = pumps_.at(partition).epoch;
    store_.seal(partition, epoch,
                of_turn(partition, [this, partition](const Result<checkpoint::Checkpoint>& result) {
                    if (pumps_.at(partition).state != State::opening) return;
                    if (result) {
                        loop_.run_after(open_takes,
                                        of_turn(partition, [this, partition] { read(partition); }));
                    } else if (result.error().code == ErrorCode::fenced) {
                        permit_->on_fenced(partition);
                    } else {
                        loop_.run_after(retry_after, of_turn(partition, [this, partition] {
                                            if (pumps_.at(partition).state == State::opening) {
                                                seal(partition);
                                            }
                                        }));
                    }
                }));
}

void ModelHost::read(PartitionId partition) {
    Pump& pump = pumps_.at(partition);
    if (pump.state != State::opening) return;
    if (!attach(partition, pump.epoch)) return permit_->on_fenced(partition);
    pump.state = State::reading;
    pump.is_attached = true;
}

void ModelHost::stop_reading(PartitionId partition) {
    Pump& pump = pumps_.at(partition);
    if (std::exchange(pump.is_attached, false)) detach(partition);
}

void ModelHost::close(PartitionId partition, CloseReason reason, Task done) {
    const auto found = pumps_.find(partition);
    EK_CHECK(found != pumps_.end(), "closed what is not open");
    Pump& pump = found->second;
    pump.closed.push_back(std::move(done));
    const bool was_draining = pump.state == State::draining;
    const bool was_reading = pump.state == State::reading;
    pump.state = State::draining;
    stop_reading(partition);
    if (reason == CloseReason::lost || !was_reading) {
        // The handler may be in the middle of a batch; nothing of it counts.
        pump.turn = ++last_turn_;
        loop_.run_after(milliseconds(random_.between(1, 50)),
                        of_turn(partition, [this, partition] { closed(partition); }));
        return;
    }
    if (was_draining) return;
    const Duration takes(random_.between(drain_min.count(), drain_max.count()));
    loop_.run_after(takes, of_turn(partition, [this, partition] { drained(partition); }));
}

void ModelHost::drained(PartitionId partition) {
    if (!permit_->may_act(partition)) return closed(partition);
    checkpoint::Checkpoint checkpoint{.partition = partition,
                                      .sequence = {static_cast<std::int64_t>(last_turn_)},
                                      .epoch = pumps_.at(partition).epoch};
    store_.write_checkpoint(
        checkpoint, of_turn(partition, [this, partition](const Result<>&) { closed(partition); }));
}

void ModelHost::closed(PartitionId partition) {
    std::vector<Task> waiting = std::move(pumps_.at(partition).closed);
    pumps_.erase(partition);
    for (Task& done : waiting) done();
}

void ModelHost::cut(PartitionId partition, Epoch epoch) {
    const auto pump = pumps_.find(partition);
    if (pump == pumps_.end() || pump->second.epoch != epoch || !pump->second.is_attached) return;
    stop_reading(partition);
    // The process learns of it when it runs.
    loop_.post(of_turn(partition, [this, partition] {
        if (pumps_.at(partition).state == State::reading) permit_->on_fenced(partition);
    }));
}

bool ModelHost::is_attached(PartitionId partition) const {
    const auto pump = pumps_.find(partition);
    return pump != pumps_.end() && pump->second.is_attached;
}

bool ModelHost::any_attached() const {
    return std::any_of(pumps_.begin(), pumps_.end(),
                       [](const auto& entry) { return entry.second.is_attached; });
}

std::vector<PartitionId> ModelHost::attached() const {
    std::vector<PartitionId> partitions;
    for (const auto& [partition, pump] : pumps_) {
        if (pump.is_attached) partitions.push_back(partition);
    }
    return partitions;
}

Epoch ModelHost::epoch_of(PartitionId partition) const {
    const auto pump = pumps_.find(partition);
    return pump == pumps_.end() ? Epoch{} : pump->second.epoch;
}

void ModelHost::detach_all() {
    for (const PartitionId partition : attached()) stop_reading(partition);
}

}  // namespace evenkeel::sim
