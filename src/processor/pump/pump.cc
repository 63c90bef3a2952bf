#include "processor/pump/pump.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/canary.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

Pump::Pump(const PumpPlace& place, PumpOwner& owner, PartitionId partition, Epoch epoch,
           Random random)
    : place_(place),
      options_(place.options),
      owner_(owner),
      partition_(partition),
      epoch_(epoch),
      random_(random),
      checkpoints_({place.loop, place.store, place.permit, partition, epoch},
                   place.options.checkpoints,
                   {[this] { fenced(); },
                    [this](const Error& error, std::optional<Duration> retried_in) {
                        report(ErrorScope::checkpoint, "checkpoint", error, retried_in);
                    }},
                   random_.fork()) {}

Pump::~Pump() {
    for (auto* timer : {&restart_timer_, &read_timer_, &turn_timer_, &slow_timer_, &drain_timer_}) {
        cancel(*timer);
    }
    if (cell_) cell_->abandon(Closed::lost, nullptr);
}

void Pump::start() {
    place_.loop.check_here();
    seal();
}

// One read under way, as long as there is room for what it brings.
void Pump::fill() {
    if (!reader_ || is_reading_ || read_timer_ || is_paused_ || is_held_back_ || closing_ ||
        is_fenced_) {
        return;
    }
    if (next_.size() >= options_.batch_events_max) return;
    is_reading_ = true;
    const Duration wait =
        options_.progress_slow.count() > 0 ? Duration(options_.progress_slow) : read_wait;
    reader_->read(options_.batch_events_max - next_.size(), wait,
                  while_current([this](Result<EventBatch> batch) { arrived(std::move(batch)); }));
}

void Pump::arrived(Result<EventBatch> batch) {
    is_reading_ = false;
    if (!batch.ok()) return read_failed(batch.error());
    failures_ = 0;
    if (!batch->empty()) heard(true);
    last_enqueued_ = std::max(last_enqueued_, reader_->last_enqueued().value);
    if (batch->empty()) return look_for_progress();
    keep(std::move(*batch));
    dispatch();
    fill();
}

void Pump::keep(EventBatch batch) {
    if (awaited_ && !pass_landmark(batch)) return;
    const std::int64_t first = batch[0].sequence_number;
    const std::int64_t last = batch.back().sequence_number;
    if (first <= last_read_) {  // PUMP-2
        return restart(
            ErrorScope::source, "read",
            {ErrorCode::corrupt, fmt::format("event {} came after event {}", first, last_read_)});
    }
    const std::int64_t expected = last_read_ < 0 || may_skip_ ? first : last_read_ + 1;
    const std::int64_t missing = last - expected + 1 - static_cast<std::int64_t>(batch.size());
    if (missing > 0) {
        report(ErrorScope::source, "read",
               {ErrorCode::not_found, fmt::format("{} events are missing between {} and {}; "
                                                  "retention may have been faster",
                                                  missing, expected, last)});
    }
    may_skip_ = false;
    last_read_ = last;
    last_enqueued_ = std::max(last_enqueued_, last);
    if (next_.empty()) next_since_ = place_.loop.clock().now();
    next_.append(std::move(batch));
}

void Pump::read_failed(const Error& error) {
    if (error.code == ErrorCode::corrupt) {
        may_skip_ = true;
        report(ErrorScope::source, "read", error);
        return fill();
    }
    if (!is_retriable(error)) return restart(ErrorScope::source, "read", error);
    unheard();
    const Duration delay = restart_delay(++failures_, random_);
    read_timer_ = place_.loop.run_after(delay, [this] {
        read_timer_.reset();
        fill();
    });
    report(ErrorScope::source, "read", error, delay);
}

// Nothing came for a while. Is there nothing, or is the reader dead?
void Pump::look_for_progress() {
    fill();
    if (options_.progress_slow.count() == 0) return;
    place_.source.properties(
        partition_,
        while_current([this, before = last_read_](Result<source::PartitionProperties> known) {
            if (!known.ok()) {
                return report(ErrorScope::source, "look at the partition", known.error());
            }
            heard(reader_ != nullptr && !read_timer_);
            last_enqueued_ = std::max(last_enqueued_, known->last.value);
            const bool is_stuck = known->last.value > before && last_read_ == before &&
                                  known->last.value >= known->first.value && next_.empty();
            if (!is_stuck || !reader_) return;
            restart(ErrorScope::source, "read",
                    {ErrorCode::timed_out,
                     fmt::format("event {} is there but nothing came for {} ms; the reader is "
                                 "opened again",
                                 known->last.value, options_.progress_slow.count())});
        }));
}

bool Pump::is_held() const {
    return turn_ != Turn::idle || closing_ || is_fenced_ || is_paused_ || is_held_back_ || !cell_ ||
           cell_->is_busy() || opening_ < Opening::attaching;
}

bool Pump::may_handle() const {
    if (!place_.permit.may_act(partition_)) return false;
    if (EK_CANARY(acts_without_reader)) return true;
    return !place_.permit.hangs_on_reader(partition_) || (reader_ && reader_->is_attached());
}

void Pump::wait_to_dispatch(Duration delay) {
    if (turn_timer_) return;
    turn_timer_ = place_.loop.run_after(delay, [this] {
        turn_timer_.reset();
        dispatch();
    });
}

void Pump::dispatch() {
    if (is_held()) return;
    const Instant now = place_.loop.clock().now();
    const Duration max_wait = options_.max_wait;
    is_tick_ = false;
    if (next_.size() < options_.batch_events_min) {
        if (max_wait.count() == 0 && next_.empty()) return;
        const Duration waited = now - next_since_;
        if (waited < max_wait) return wait_to_dispatch(max_wait - waited);
        is_tick_ = next_.empty();
    }
    if (!may_handle()) return wait_to_dispatch(permit_poll);  // PUMP-3
    cancel(turn_timer_);
    next_since_ = now;
    batch_ = std::move(next_);
    next_ = {};
    left_ = batch_.events();
    is_single_ = event_failures_ > 0;
    if (!left_.empty()) {
        const Event& last = left_.back();
        last_taken_ = last.sequence_number;
        taken_ = {last.sequence_number, last.offset, last.enqueued_time_ms};
    }
    fill();
    if (options_.delivery == Delivery::at_most_once && !is_tick_) return commit_first();
    handle();
}

// PUMP-15: durable before the handler begins. It is handled then even if we are to hand over.
void Pump::commit_first() {
    turn_ = Turn::committing;
    const Event& last = left_.back();
    checkpoints_.advance(mark_of(last), left_.size());
    checkpoints_.flush(lifetime_.guard([this](const Result<>& stored) {
        if (turn_ != Turn::committing) return;
        turn_ = Turn::idle;
        if (stored.ok() && !is_fenced_ && may_handle()) return handle();
        // Not known to be stored, so not handled: if it was stored after all, it is skipped.
        left_ = {};
        if (closing_) return drained();
        if (!is_fenced_) {
            restart(ErrorScope::checkpoint, "checkpoint",
                    stored.ok() ? Error{ErrorCode::timed_out, "the lease ended meanwhile"}
                                : stored.error());
        }
    }));
}

void Pump::handle() {
    const bool must_wait = is_held_back_ && !closing_;
    if (must_wait || !may_handle()) {  // PUMP-3
        turn_ = Turn::resting;
        turn_timer_ = place_.loop.run_after(permit_poll, [this] {
            turn_timer_.reset();
            handle();
        });
        return;
    }
    turn_ = Turn::handling;
    if (EK_CANARY(checkpoint_before_handling) && !left_.empty()) {
        checkpoints_.advance(mark_of(left_.back()), left_.size());
    }
    tried_ = is_single_ ? std::min<std::size_t>(1, left_.size()) : left_.size();
    handling_since_ = place_.loop.clock().now();
    cell_->set_ending(closing_.has_value());
    if (options_.delivery == Delivery::exactly_once && !is_tick_) {
        run_in_transaction();
    } else {
        cell_->run(std::move(batch_), left_.first(tried_), event_failures_,
                   place_.permit.term(partition_));
    }
    watch_handler();
}

// PUMP-15: what the handler writes, the position and the fence commit as one.
void Pump::run_in_transaction() {
    const Event& last = left_[tried_ - 1];
    checkpoint::Checkpoint done;
    done.partition = partition_;
    done.sequence = {last.sequence_number};
    done.offset = std::to_string(last.offset);
    done.epoch = epoch_;
    done.hub_created_ms = hub_created_ms_;
    done.enqueued_ms = last.enqueued_time_ms;
    EK_CHECK(place_.store.transactions() != nullptr, "exactly once needs transactions");
    cell_->run_in(*place_.store.transactions(), done, std::move(batch_), left_.first(tried_),
                  event_failures_, place_.permit.term(partition_));
}

// It may have been stored all the same: only the store knows, so we begin from what it says.
void Pump::not_committed(const Error& error) {
    left_ = {};
    batch_ = {};
    is_single_ = false;
    last_taken_ = -1;
    if (closing_) {
        report(ErrorScope::store, "commit", error);
        return drained();
    }
    opening_ = Opening::sealing;
    is_position_ours_ = false;
    restart(ErrorScope::store, "commit", error);
}

void Pump::watch_handler() {
    if (options_.handler_slow.count() == 0 || slow_timer_) return;
    slow_timer_ = place_.loop.run_at(handling_since_ + options_.handler_slow, [this] {
        slow_timer_.reset();
        if (turn_ != Turn::handling) return;
        const Duration runs = place_.loop.clock().now() - handling_since_;
        if (runs < Duration(options_.handler_slow)) return watch_handler();
        cell_->set_ending(true);
        report(ErrorScope::handler, "handle",
               {ErrorCode::timed_out,
                fmt::format("the handler has run for {} s; it is told to end soon",
                            std::chrono::duration_cast<std::chrono::seconds>(runs).count())});
    });
}

void Pump::on_ended(Result<> result) {
    if (opening_ == Opening::opening_handler && turn_ == Turn::idle && !closing_) {
        if (result.ok()) return attach();
        cell_->abandon(Closed::lost, nullptr);
        cell_.reset();
        return restart(ErrorScope::handler, "open handler", result.error());
    }
    if (closing_ && !cell_->is_open()) return closed();
    if (turn_ != Turn::handling) return closing_ ? drained() : void();
    turn_ = Turn::idle;
    batch_ = cell_->take_batch();
    if (is_fenced_ || closing_ == CloseReason::lost) {  // PUMP-6
        left_ = {};
        return closing_ ? drained() : void();
    }
    if (cell_->was_late()) return not_begun();
    if (const auto error = cell_->take_store_error()) return not_committed(*error);
    if (!result.ok()) return failed(result.error());
    if (options_.delivery == Delivery::exactly_once && !is_tick_) {
        const Event& last = left_[tried_ - 1];
        checkpoints_.note_stored(mark_of(last));
    }
    handled(tried_);
}

// The lease ended while the call waited for its turn. Asks for the permit again.
void Pump::not_begun() {
    if (closing_) return drained();
    if (seek_) return apply_seek();
    handle();
}

// The first `count` of those left are done with; goes on with the others.
void Pump::handled(std::size_t count) {
    settle(count);
    store_asked();
    if (closing_) return drained();
    if (seek_) return apply_seek();
    if (!left_.empty()) return handle();
    turn_ = Turn::idle;
    is_single_ = false;
    batch_ = {};
    dispatch();
    fill();
}

// PUMP-4
void Pump::settle(std::size_t count) {
    if (count == 0) return;
    const Event& last = left_[count - 1];
    left_ = left_.subspan(count);
    event_failures_ = 0;
    events_handled_ += count;
    handled_sequence_ = last.sequence_number;
    if (!options_.checkpoints.manual) {
        checkpoints_.advance(mark_of(last), count);
    }
}

// What the handler asked for, as far as its handlers have ended.
void Pump::store_asked() {
    if (!options_.checkpoints.manual || is_fenced_ || closing_ == CloseReason::lost) return;
    if (!cell_) return;  // closed before its handler was opened
    const HandlerCell::Asked asked = cell_->asked();
    if (asked.sequence < 0 || asked.sequence > handled_sequence_) return;
    checkpoints_.advance({asked.sequence, 0, asked.offset, asked.enqueued_ms}, 0);
    checkpoints_.write_soon();
}

void Pump::failed(const Error& error) {
    ++handler_failures_;
    if (is_tick_ || options_.delivery == Delivery::at_most_once) {
        report(ErrorScope::handler, "handle", error);
        return handled(tried_);
    }
    // What it said is done before it failed is done.
    const std::int64_t asked = cell_->asked().sequence;
    std::size_t done = 0;
    while (done < tried_ && left_[done].sequence_number <= asked) ++done;
    settle(done);
    if (done == tried_) {
        report(ErrorScope::handler, "handle", error);
        return handled(0);
    }
    // It was asked to end and did: that is no fault of the event.
    if (closing_ && error.code == ErrorCode::cancelled) return handled(0);
    ++event_failures_;
    // Counted in the store, so that it survives a move.
    Mark mark = checkpoints_.latest();
    if (mark.sequence == left_[0].sequence_number - 1) {
        mark.attempts = event_failures_;
        checkpoints_.advance(mark, 0);
        checkpoints_.write_soon();
    }
    if (closing_) {
        report(ErrorScope::handler, "handle", error);
        return handled(0);
    }
    const Verdict verdict = judge(options_.retry, error, tried_, event_failures_);
    is_single_ = true;
    if (verdict == Verdict::poison) return poison(error);
    const Duration delay = verdict == Verdict::single
                               ? Duration(0)
                               : retry_delay(options_.retry, event_failures_, random_);
    turn_ = Turn::resting;
    turn_timer_ = place_.loop.run_after(delay, [this] {
        turn_timer_.reset();
        if (seek_) return apply_seek();
        handle();
    });
    report(ErrorScope::handler, "handle", error, delay);
}

void Pump::poison(const Error& error) {
    switch (options_.poison) {
        case Poison::dead_letter: return put_aside(error);
        case Poison::skip: report(ErrorScope::handler, "skip", error); return pass_poison();
        case Poison::park: turn_ = Turn::parked; return report(ErrorScope::handler, "park", error);
        case Poison::stop:
            turn_ = Turn::parked;
            report(ErrorScope::handler, "stop", error);
            return owner_.on_stop_wanted(partition_, error);
    }
}

void Pump::put_aside(const Error& error) {
    turn_ = Turn::putting_aside;
    const Event& event = left_[0];
    checkpoint::DeadLetter letter;
    letter.partition = partition_;
    letter.sequence = {event.sequence_number};
    letter.offset = std::to_string(event.offset);
    letter.enqueued_ms = event.enqueued_time_ms;
    letter.partition_key = event.partition_key;
    letter.cause = to_string(error);
    letter.attempts = event_failures_;
    letter.at_ms = place_.loop.clock().wall().milliseconds;
    letter.sections.assign(event.sections.begin(), event.sections.end());
    place_.dead_letters.put(letter, lifetime_.guard([this, error](const Result<>& put) {
        if (turn_ != Turn::putting_aside) return;
        if (put.ok()) {
            report(ErrorScope::handler, "dead letter", error);
            return pass_poison();
        }
        const Duration delay = restart_delay(++letter_failures_, random_);
        turn_timer_ = place_.loop.run_after(delay, [this, error] {
            turn_timer_.reset();
            put_aside(error);
        });
        report(ErrorScope::store, "dead letter", put.error(), delay);
    }));
}

// Go on behind it. Where the handler stores by hand and was up to date, so are we.
void Pump::pass_poison() {
    letter_failures_ = 0;
    turn_ = Turn::idle;
    const Event& event = left_[0];
    const bool is_next = checkpoints_.latest().sequence == event.sequence_number - 1;
    if (options_.checkpoints.manual && is_next) {
        checkpoints_.advance(mark_of(event), 1);
        checkpoints_.write_soon();
    }
    handled(1);
}

void Pump::on_asked() {
    if (cell_ && !cell_->is_busy()) store_asked();
}

void Pump::on_flush(Callback<void(Result<>)> done) {
    if (!cell_) return done(Error{ErrorCode::cancelled, "the handler is not open"});
    // The handler itself says so: what it asked for, up to what it was given, is done.
    const HandlerCell::Asked asked = cell_->asked();
    if (asked.sequence >= 0 && asked.sequence <= last_taken_) {
        checkpoints_.advance({asked.sequence, 0, asked.offset, asked.enqueued_ms}, 0);
    }
    checkpoints_.flush(std::move(done));
}

void Pump::on_pause(bool is_paused) {
    is_paused_ = is_paused;
    if (is_paused || closing_) return;
    if (turn_ == Turn::parked) {
        event_failures_ = 0;
        handle();
    }
    fill();
    dispatch();
}

void Pump::hold(bool is_held) {
    place_.loop.check_here();
    if (is_held == is_held_back_) return;
    is_held_back_ = is_held;
    if (is_held || closing_) return;
    if (turn_ == Turn::parked) {  // people have looked at it
        event_failures_ = 0;
        return handle();
    }
    fill();
    dispatch();
}

void Pump::on_seek(const Position& position) {
    if (closing_ || is_fenced_) return;
    seek_ = position;
    if (opening_ < Opening::attaching) return;  // attach() takes it
    if (turn_ == Turn::idle || turn_ == Turn::parked) apply_seek();
}

void Pump::apply_seek() {
    turn_ = Turn::idle;
    cancel(turn_timer_);
    left_ = {};
    batch_ = {};
    is_single_ = false;
    event_failures_ = 0;
    drop_reader();
    attach();
}

void Pump::report(ErrorScope scope, std::string_view operation, const Error& error,
                  std::optional<Duration> retried_in) {
    Failure failure{scope, partition_.value, std::string(operation), error, retried_in.has_value()};
    if (retried_in) {
        failure.retried_in = std::chrono::duration_cast<std::chrono::milliseconds>(*retried_in);
    }
    owner_.on_failure(failure);
}

void Pump::cancel(std::optional<io::TimerId>& timer) {
    if (timer) place_.loop.cancel(*timer);
    timer.reset();
}

}  // namespace evenkeel::processor
