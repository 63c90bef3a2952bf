#include "processor/pump/handling.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
#include "base/time_point.h"
#include "processor/pump/checkpointer.h"
#include "processor/pump/handler_cell.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

Handling::Handling(const Place& place, Pump& pump)
    : place_(place.place),
      options_(place.place.options),
      partition_(place.partition),
      epoch_(place.epoch),
      random_(place.random),
      checkpoints_(place.checkpoints),
      pump_(pump) {}

void Handling::set_checkpoint(const checkpoint::Checkpoint& stored) {
    event_failures_ = stored.attempts;
    handled_sequence_ = stored.sequence.value;
}

void Handling::begin(EventBatch batch) {
    EK_CHECK(state_ == State::idle, "one batch at a time");
    batch_ = std::move(batch);
    left_ = batch_.events();
    share_ = left_.empty() ? Share::tick : event_failures_ > 0 ? Share::single : Share::whole;
    if (options_.delivery == Delivery::at_most_once && share_ != Share::tick) return commit_first();
    handle();
}

// PUMP-15: durable before the handler begins. It is handled then even if we are to hand over.
void Handling::commit_first() {
    set_state(State::committing);
    const Event& last = left_.back();
    checkpoints_.advance(mark_of(last), left_.size());
    checkpoints_.flush(lifetime_.guard([this](const Result<>& stored) {
        if (state_ != State::committing) return;
        set_state(State::idle);
        if (stored.ok() && !pump_.is_void() && pump_.may_handle()) return handle();
        // If it was stored after all, it is skipped.
        left_ = {};
        if (pump_.is_closing()) return drained();
        if (pump_.is_void()) return;
        pump_.on_not_stored(stored.ok() ? Error{ErrorCode::timed_out, "the lease ended meanwhile"}
                                        : stored.error());
    }));
}

void Handling::handle() {
    if (pump_.must_wait() || !pump_.may_handle()) {  // PUMP-3
        set_state(State::resting);
        timer_.run_after(permit_poll, [this] { handle(); });
        return;
    }
    EK_CHECK(!pump_.is_void(), "begins a call for what another owner has (PUMP-6)");
    set_state(State::running);
    if (EK_CANARY(checkpoint_before_handling) && !left_.empty()) {
        checkpoints_.advance(mark_of(left_.back()), left_.size());
    }
    tried_ = share_ == Share::single ? std::min<std::size_t>(1, left_.size()) : left_.size();
    running_since_ = place_.loop.clock().now();
    HandlerCell& cell = *pump_.cell();
    cell.set_ending(pump_.is_closing());
    if (options_.delivery == Delivery::exactly_once && share_ != Share::tick) {
        run_in_transaction(cell);
    } else {
        cell.run(std::move(batch_), left_.first(tried_), event_failures_,
                 place_.permit.term(partition_));
    }
    watch_handler();
}

// PUMP-15: what the handler writes, the position and the fence commit as one.
void Handling::run_in_transaction(HandlerCell& cell) {
    const Event& last = left_[tried_ - 1];
    checkpoint::Checkpoint done;
    done.partition = partition_;
    done.sequence = {last.sequence_number};
    done.offset = std::to_string(last.offset);
    done.epoch = epoch_;
    done.hub_created_ms = pump_.hub_created_ms();
    done.enqueued_ms = wall_time(last.enqueued_time).milliseconds;
    EK_CHECK(place_.store.transactions() != nullptr, "exactly once needs transactions");
    cell.run_in(*place_.store.transactions(), done, std::move(batch_), left_.first(tried_),
                event_failures_, place_.permit.term(partition_));
}

void Handling::watch_handler() {
    if (options_.handler_slow.count() == 0 || slow_timer_.is_pending()) return;
    slow_timer_.run_at(running_since_ + options_.handler_slow, [this] {
        if (state_ != State::running) return;
        const Duration runs = place_.loop.clock().now() - running_since_;
        if (runs < Duration(options_.handler_slow)) return watch_handler();
        pump_.cell()->set_ending(true);
        pump_.report(ErrorScope::handler, "handle",
                     {ErrorCode::timed_out,
                      fmt::format("the handler has run for {} s; it is told to end soon",
                                  std::chrono::duration_cast<std::chrono::seconds>(runs).count())},
                     std::nullopt);
    });
}

void Handling::on_ended(const Result<>& result) {
    EK_CHECK(state_ == State::running, "a call ended that did not run");
    HandlerCell& cell = *pump_.cell();
    set_state(State::idle);
    batch_ = cell.take_batch();
    if (pump_.is_void()) {  // PUMP-6
        left_ = {};
        return pump_.is_closing() ? drained() : void();
    }
    if (cell.was_late()) return not_begun();
    if (const auto error = cell.take_store_error()) return not_committed(*error);
    if (!result.ok()) return failed(result.error());
    if (options_.delivery == Delivery::exactly_once && share_ != Share::tick) {
        checkpoints_.note_stored(mark_of(left_[tried_ - 1]));
    }
    handled(tried_);
}

// The lease ended while the call waited for its turn. Asks for the permit again.
void Handling::not_begun() {
    if (pump_.is_closing()) return drained();
    if (pump_.apply_seek()) return;
    handle();
}

// It may have been stored all the same.
void Handling::not_committed(const Error& error) {
    left_ = {};
    batch_ = {};
    share_ = Share::whole;
    pump_.on_not_committed(error);
}

// The first `count` of those left are done with; goes on with the others.
void Handling::handled(std::size_t count) {
    settle(count);
    store_asked();
    if (pump_.is_closing()) return drained();
    if (pump_.apply_seek()) return;
    if (!left_.empty()) return handle();
    set_state(State::idle);
    share_ = Share::whole;
    batch_ = {};
    pump_.on_idle();
}

// PUMP-4
void Handling::settle(std::size_t count) {
    if (count == 0) return;
    const Event& last = left_[count - 1];
    left_ = left_.subspan(count);
    event_failures_ = 0;
    outages_ = 0;
    poison_in_row_ = 0;
    reason_.clear();
    events_handled_ += count;
    handled_sequence_ = last.sequence_number;
    if (!options_.checkpoints.manual) checkpoints_.advance(mark_of(last), count);
}

void Handling::store_asked() {
    if (!options_.checkpoints.manual || pump_.is_void()) return;
    const HandlerCell* const cell = pump_.cell();
    if (!cell) return;  // closed before its handler was opened
    const HandlerCell::Asked asked = cell->asked();
    if (asked.sequence < 0 || asked.sequence > handled_sequence_) return;
    checkpoints_.advance({asked.sequence, 0, asked.offset, asked.enqueued_ms}, 0);
    checkpoints_.write_soon();
}

void Handling::flush(std::int64_t last_taken, Callback<void(Result<>)> done) {
    const HandlerCell* const cell = pump_.cell();
    if (!cell) return done(Error{ErrorCode::cancelled, "the handler is not open"});
    const bool is_manual = options_.checkpoints.manual;
    const HandlerCell::Asked asked = is_manual ? cell->asked() : cell->done_up_to();
    // Of exactly_once only the transaction says what is done.
    const bool counts = options_.delivery != Delivery::exactly_once;
    if (counts && asked.sequence >= 0 && asked.sequence <= last_taken) {
        checkpoints_.advance({asked.sequence, 0, asked.offset, asked.enqueued_ms}, 0);
    }
    checkpoints_.flush(std::move(done));
}

// What it said is done before it failed is done, unless that was undone with its transaction. True:
// that is all it was given.
bool Handling::settle_asked() {
    const bool is_undone = options_.delivery == Delivery::exactly_once;
    const std::int64_t said = is_undone ? -1 : pump_.cell()->done_up_to().sequence;
    std::size_t done = 0;
    while (done < tried_ && left_[done].sequence_number <= said) ++done;
    settle(done);
    return done == tried_;
}

// PUMP-19: it is called again with the same events, however long that takes.
void Handling::wait_out(const Error& error) {
    if (settle_asked() || pump_.is_closing()) {
        pump_.report(ErrorScope::handler, "handle", error, std::nullopt);
        return handled(0);
    }
    const Duration delay = restart_delay(++outages_, random_);
    reason_ = to_string(error);
    rest(delay);
    pump_.report(ErrorScope::handler, "handle", error, delay);
}

void Handling::failed(const Error& error) {
    ++handler_failures_;
    if (is_outage(error) && share_ != Share::tick) return wait_out(error);
    outages_ = 0;
    if (share_ == Share::tick || options_.delivery == Delivery::at_most_once) {
        pump_.report(ErrorScope::handler, "handle", error, std::nullopt);
        return handled(tried_);
    }
    if (settle_asked()) {
        pump_.report(ErrorScope::handler, "handle", error, std::nullopt);
        return handled(0);
    }
    // It was asked to end and did: that is no fault of the event.
    if (pump_.is_closing() && error.code == ErrorCode::cancelled) return handled(0);
    count_failure();
    if (pump_.is_closing()) {
        pump_.report(ErrorScope::handler, "handle", error, std::nullopt);
        return handled(0);
    }
    const Verdict verdict = judge(options_.retry, error, tried_, event_failures_);
    share_ = Share::single;
    if (verdict == Verdict::poison) return poison(error);
    const Duration delay = verdict == Verdict::single
                               ? Duration(0)
                               : retry_delay(options_.retry, event_failures_, random_);
    rest(delay);
    pump_.report(ErrorScope::handler, "handle", error, delay);
}

// In the store, so that it survives a move.
void Handling::count_failure() {
    ++event_failures_;
    Mark mark = checkpoints_.latest();
    if (mark.sequence != left_[0].sequence_number - 1) return;
    mark.attempts = event_failures_;
    checkpoints_.advance(mark, 0);
    checkpoints_.write_soon();
}

void Handling::rest(Duration delay) {
    set_state(State::resting);
    timer_.run_after(delay, [this] {
        if (pump_.apply_seek()) return;
        handle();
    });
}

void Handling::poison(const Error& error) {
    switch (options_.poison) {
        case Poison::dead_letter: return is_storm() ? park_storm(error) : dead_letter(error);
        case Poison::skip:
            if (is_storm()) return park_storm(error);
            pump_.report(ErrorScope::handler, "skip", error, std::nullopt);
            return pass_poison();
        case Poison::park:
            park(fmt::format("event {} failed {} times: {}", left_[0].sequence_number,
                             event_failures_, to_string(error)));
            pump_.report(ErrorScope::handler, "park", error, std::nullopt);
            return pump_.on_parked(false, reason_);
        case Poison::stop:
            park(to_string(error));
            pump_.report(ErrorScope::handler, "stop", error, std::nullopt);
            return pump_.on_stop_wanted(error);
    }
}

bool Handling::is_storm() const {
    return options_.poison_in_row_max > 0 && poison_in_row_ >= options_.poison_in_row_max;
}

// So many in a row: rather the handler is broken than all of them.
void Handling::park_storm(const Error& error) {
    park(fmt::format("{} events in a row were {}, and event {} fails too: {}", poison_in_row_,
                     options_.poison == Poison::skip ? "skipped" : "dead-lettered",
                     left_[0].sequence_number, to_string(error)));
    pump_.report(ErrorScope::handler, "pause", {error.code, reason_}, std::nullopt);
    pump_.on_parked(true, reason_);
}

void Handling::park(std::string reason) {
    reason_ = std::move(reason);
    set_state(State::parked);
}

void Handling::dead_letter(const Error& error) {
    set_state(State::dead_lettering);
    const Event& event = left_[0];
    checkpoint::DeadLetter letter;
    letter.partition = partition_;
    letter.sequence = {event.sequence_number};
    letter.offset = std::to_string(event.offset);
    letter.enqueued_ms = wall_time(event.enqueued_time).milliseconds;
    letter.partition_key = event.partition_key;
    letter.cause = to_string(error);
    letter.attempts = event_failures_;
    letter.at_ms = place_.loop.clock().wall().milliseconds;
    letter.sections.assign(event.sections.begin(), event.sections.end());
    place_.dead_letters.put(letter, lifetime_.guard([this, error](const Result<>& put) {
        if (state_ != State::dead_lettering) return;
        if (put.ok()) {
            ++dead_letters_;
            pump_.report(
                ErrorScope::handler, "dead letter",
                {error.code,
                 fmt::format("event {} failed {} {}: {}", left_[0].sequence_number, event_failures_,
                             event_failures_ == 1 ? "time" : "times", error.detail)},
                std::nullopt);
            return pass_poison();
        }
        const Duration delay = restart_delay(++letter_failures_, random_);
        reason_ = "the dead letter cannot be stored: " + to_string(put.error());
        timer_.run_after(delay, [this, error] { dead_letter(error); });
        pump_.report(ErrorScope::store, "dead letter", put.error(), delay);
    }));
}

// Go on behind it. Where the handler stores by hand and was up to date, so are we.
void Handling::pass_poison() {
    letter_failures_ = 0;
    set_state(State::idle);
    const Event& event = left_[0];
    const std::uint32_t in_row = poison_in_row_ + 1;
    const bool is_next = checkpoints_.latest().sequence == event.sequence_number - 1;
    if (options_.checkpoints.manual && is_next) {
        checkpoints_.advance(mark_of(event), 1);
        checkpoints_.write_soon();
    }
    settle(1);
    poison_in_row_ = in_row;
    handled(0);
}

bool Handling::unpark() {
    if (state_ != State::parked) return false;
    event_failures_ = 0;
    poison_in_row_ = 0;
    reason_.clear();
    handle();
    return true;
}

void Handling::on_abandoned() {
    if (state_ == State::running) set_state(State::abandoned);
}

void Handling::stop(bool is_lost) {
    if (is_running() || (state_ == State::committing && !is_lost)) return;
    timer_.cancel();
    set_state(State::idle);
    left_ = {};
}

void Handling::drop() {
    timer_.cancel();
    set_state(State::idle);
    left_ = {};
    batch_ = {};
    share_ = Share::whole;
    event_failures_ = 0;
    outages_ = 0;
    reason_.clear();
}

void Handling::drained() {
    set_state(State::idle);
    left_ = {};
    pump_.on_drained();
}

void Handling::set_state(State state) {
    state_ = state;
    check_state();
}

void Handling::check_state() const {
    const bool has_event =
        state_ == State::committing || state_ == State::dead_lettering || state_ == State::parked;
    EK_CHECK(!has_event || !left_.empty(), "a state without the event that it is about");
    EK_CHECK(state_ != State::running || pump_.cell() != nullptr, "handles without a handler");
    const bool may_wait = state_ == State::resting || state_ == State::dead_lettering;
    EK_CHECK(may_wait || !timer_.is_pending(), "an attempt is due for a batch that is gone");
}

}  // namespace evenkeel::processor
