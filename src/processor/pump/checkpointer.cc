#include "processor/pump/checkpointer.h"

#include <algorithm>
#include <string>

#include "base/number.h"
#include "base/time_point.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

namespace {

std::int64_t offset_of(const std::string& text) {
    return parse_number<std::int64_t>(text).value_or(-1);
}

}  // namespace

Mark mark_of(const Event& event) {
    return {event.sequence_number, 0, event.offset, wall_time(event.enqueued_time).milliseconds};
}

bool is_due(const CheckpointPolicy& policy, std::uint64_t events) {
    return !policy.manual && policy.every_events > 0 && events >= policy.every_events;
}

Checkpointer::Checkpointer(const Place& place, const CheckpointPolicy& policy, Told told,
                           Random random)
    : place_(place), policy_(policy), told_(std::move(told)), random_(random) {}

void Checkpointer::begin(const checkpoint::Checkpoint& stored) {
    latest_ = stored_ = {stored.sequence.value, stored.attempts, offset_of(stored.offset),
                         stored.enqueued_ms};
    hub_created_ms_ = stored.hub_created_ms;
    is_hub_new_ = false;
    events_ = 0;
}

void Checkpointer::set_hub(std::int64_t created_ms, bool must_write) {
    if (created_ms == 0 || created_ms == hub_created_ms_) return;
    hub_created_ms_ = created_ms;
    is_hub_new_ = must_write;
}

void Checkpointer::advance(const Mark& mark, std::uint64_t events) {
    if (is_stopped_ || mark <= latest_) return;
    latest_ = mark;
    events_ += events;
    if (is_due(policy_, events_)) return write_soon();
    if (policy_.manual || policy_.every.count() == 0 || policy_timer_.is_pending()) return;
    policy_timer_.run_after(policy_.every, [this] { write_soon(); });
}

void Checkpointer::note_stored(const Mark& mark) {
    latest_ = std::max(latest_, mark);
    stored_ = std::max(stored_, mark);
    is_hub_new_ = false;
}

void Checkpointer::write_soon() {
    if (is_stopped_ || !is_dirty()) return;
    is_wanted_ = true;
    if (!is_under_way_ && !retry_timer_.is_pending()) write();
}

void Checkpointer::flush(Done done) {
    if (is_stopped_) return done(Error{ErrorCode::cancelled, "the partition is given up"});
    if (!is_dirty() && !is_under_way_) return done({});
    waiters_.push_back({latest_, std::move(done)});
    write_soon();
}

void Checkpointer::write() {
    if (!place_.permit.may_act(place_.partition)) return try_again(permit_poll);  // PUMP-11
    policy_timer_.cancel();
    is_wanted_ = false;
    is_under_way_ = true;
    events_ = 0;
    EK_CHECK(latest_ >= stored_, "PUMP-9: a checkpoint rises");
    place_.store.write_checkpoint(
        checkpoint(),
        lifetime_.guard([this, mark = latest_](const Result<>& result) { written(mark, result); }));
}

checkpoint::Checkpoint Checkpointer::checkpoint() const {
    checkpoint::Checkpoint checkpoint;
    checkpoint.partition = place_.partition;
    checkpoint.sequence = {latest_.sequence};
    if (latest_.offset >= 0) checkpoint.offset = std::to_string(latest_.offset);
    checkpoint.epoch = place_.epoch;
    checkpoint.attempts = latest_.attempts;
    checkpoint.hub_created_ms = hub_created_ms_;
    checkpoint.enqueued_ms = latest_.enqueued_ms;
    return checkpoint;
}

void Checkpointer::written(const Mark& mark, const Result<>& result) {
    is_under_way_ = false;
    if (is_stopped_) return;
    const Lifetime::Watch self = lifetime_.watch();  // an answer may destroy us
    if (result.ok()) {
        failures_ = 0;
        stored_ = std::max(stored_, mark);
        is_hub_new_ = false;
        answer({}, false);
        if (self.over()) return;
        if (is_wanted_ || !waiters_.empty()) write_soon();
        return;
    }
    if (result.error().code == ErrorCode::fenced) {
        stop();
        if (!self.over()) told_.fenced();
        return;
    }
    if (result.error().code == ErrorCode::conflict) {
        // Somebody set it further on by hand. What is handled next may be further still.
        stored_ = std::max(stored_, mark);
        told_.failed(result.error(), std::nullopt);
        return answer(result, true);
    }
    const Duration delay = restart_delay(++failures_, random_);
    try_again(delay);
    told_.failed(result.error(), delay);
}

void Checkpointer::try_again(Duration delay) {
    is_wanted_ = true;
    retry_timer_.run_after(delay, [this] { write(); });
}

void Checkpointer::answer(const Result<>& result, bool is_all) {
    std::vector<Waiter> answered;
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
        if (is_all || waiter->mark <= stored_) {
            answered.push_back(std::move(*waiter));
            waiter = waiters_.erase(waiter);
        } else {
            ++waiter;
        }
    }
    const Lifetime::Watch self = lifetime_.watch();
    for (Waiter& waiter : answered) {
        waiter.done(result);
        if (self.over()) return;
    }
}

void Checkpointer::stop() {
    if (is_stopped_) return;
    is_stopped_ = true;
    policy_timer_.cancel();
    retry_timer_.cancel();
    answer(Error{ErrorCode::cancelled, "the partition is given up"}, true);
}

}  // namespace evenkeel::processor
