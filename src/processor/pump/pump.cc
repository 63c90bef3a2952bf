#include "processor/pump/pump.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
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
                   random_.fork()),
      intake_({place.loop, place.source, place.options, partition}, *this) {}

Pump::~Pump() {
    for (auto* timer : {&restart_timer_, &turn_timer_, &slow_timer_, &drain_timer_}) {
        cancel(*timer);
    }
    if (cell_) cell_->abandon(Closed::lost, nullptr);
}

void Pump::start() {
    place_.loop.check_here();
    seal();
}

bool Pump::may_read() const {
    return !is_paused_ && !is_held_back_ && !is_closing() && !is_fenced_;
}

Duration Pump::on_read_failed(const Error&) {
    unheard();
    return restart_delay(++failures_, random_);
}

void Pump::on_reader_failed(const Error& error) {
    restart(ErrorScope::source, "read", error);
}

void Pump::on_notice(std::string_view operation, const Error& error,
                     std::optional<Duration> retried_in) {
    report(ErrorScope::source, operation, error, retried_in);
}

bool Pump::is_held() const {
    return turn_ != Turn::idle || is_closing() || is_fenced_ || is_paused_ || is_held_back_ ||
           !cell_ || cell_->is_busy() || opening_ < Opening::attaching;
}

bool Pump::may_handle() const {
    if (!place_.permit.may_act(partition_)) return false;
    if (EK_CANARY(acts_without_reader)) return true;
    return !place_.permit.hangs_on_reader(partition_) || intake_.is_attached();
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
    if (intake_.size() < options_.batch_events_min) {
        if (max_wait.count() == 0 && intake_.empty()) return;
        const Duration waited = now - intake_.since();
        if (waited < max_wait) return wait_to_dispatch(max_wait - waited);
    }
    if (!may_handle()) return wait_to_dispatch(permit_poll);  // PUMP-3
    cancel(turn_timer_);
    intake_.wait_from(now);
    batch_ = intake_.take();
    left_ = batch_.events();
    share_ = left_.empty() ? Share::tick : event_failures_ > 0 ? Share::single : Share::whole;
    if (!left_.empty()) {
        const Event& last = left_.back();
        last_taken_ = last.sequence_number;
        taken_ = {last.sequence_number, last.offset, last.enqueued_time_ms};
    }
    intake_.fill();
    if (options_.delivery == Delivery::at_most_once && share_ != Share::tick) return commit_first();
    handle();
}

// PUMP-15: durable before the handler begins. It is handled then even if we are to hand over.
void Pump::commit_first() {
    set_turn(Turn::committing);
    const Event& last = left_.back();
    checkpoints_.advance(mark_of(last), left_.size());
    checkpoints_.flush(lifetime_.guard([this](const Result<>& stored) {
        if (turn_ != Turn::committing) return;
        set_turn(Turn::idle);
        if (stored.ok() && !is_fenced_ && may_handle()) return handle();
        // Not known to be stored, so not handled: if it was stored after all, it is skipped.
        left_ = {};
        if (is_closing()) return drained();
        if (!is_fenced_) {
            restart(ErrorScope::checkpoint, "checkpoint",
                    stored.ok() ? Error{ErrorCode::timed_out, "the lease ended meanwhile"}
                                : stored.error());
        }
    }));
}

void Pump::handle() {
    const bool must_wait = is_held_back_ && !is_closing();
    if (must_wait || !may_handle()) {  // PUMP-3
        set_turn(Turn::resting);
        turn_timer_ = place_.loop.run_after(permit_poll, [this] {
            turn_timer_.reset();
            handle();
        });
        return;
    }
    set_turn(Turn::handling);
    if (EK_CANARY(checkpoint_before_handling) && !left_.empty()) {
        checkpoints_.advance(mark_of(left_.back()), left_.size());
    }
    tried_ = share_ == Share::single ? std::min<std::size_t>(1, left_.size()) : left_.size();
    handling_since_ = place_.loop.clock().now();
    cell_->set_ending(is_closing());
    if (options_.delivery == Delivery::exactly_once && share_ != Share::tick) {
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
    share_ = Share::whole;
    last_taken_ = -1;
    if (is_closing()) {
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
    if (opening_ == Opening::opening_handler && turn_ == Turn::idle && !is_closing()) {
        if (result.ok()) return attach();
        cell_->abandon(Closed::lost, nullptr);
        cell_.reset();
        return restart(ErrorScope::handler, "open handler", result.error());
    }
    if (is_closing() && !cell_->is_open()) return closed();
    if (turn_ != Turn::handling) return is_closing() ? drained() : void();
    set_turn(Turn::idle);
    batch_ = cell_->take_batch();
    if (is_fenced_ || is_lost()) {  // PUMP-6
        left_ = {};
        return is_closing() ? drained() : void();
    }
    if (cell_->was_late()) return not_begun();
    if (const auto error = cell_->take_store_error()) return not_committed(*error);
    if (!result.ok()) return failed(result.error());
    if (options_.delivery == Delivery::exactly_once && share_ != Share::tick) {
        const Event& last = left_[tried_ - 1];
        checkpoints_.note_stored(mark_of(last));
    }
    handled(tried_);
}

// The lease ended while the call waited for its turn. Asks for the permit again.
void Pump::not_begun() {
    if (is_closing()) return drained();
    if (seek_) return apply_seek();
    handle();
}

// The first `count` of those left are done with; goes on with the others.
void Pump::handled(std::size_t count) {
    settle(count);
    store_asked();
    if (is_closing()) return drained();
    if (seek_) return apply_seek();
    if (!left_.empty()) return handle();
    set_turn(Turn::idle);
    share_ = Share::whole;
    batch_ = {};
    dispatch();
    intake_.fill();
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
    if (!options_.checkpoints.manual || is_fenced_ || is_lost()) return;
    if (!cell_) return;  // closed before its handler was opened
    const HandlerCell::Asked asked = cell_->asked();
    if (asked.sequence < 0 || asked.sequence > handled_sequence_) return;
    checkpoints_.advance({asked.sequence, 0, asked.offset, asked.enqueued_ms}, 0);
    checkpoints_.write_soon();
}

void Pump::failed(const Error& error) {
    ++handler_failures_;
    if (share_ == Share::tick || options_.delivery == Delivery::at_most_once) {
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
    if (is_closing() && error.code == ErrorCode::cancelled) return handled(0);
    ++event_failures_;
    // Counted in the store, so that it survives a move.
    Mark mark = checkpoints_.latest();
    if (mark.sequence == left_[0].sequence_number - 1) {
        mark.attempts = event_failures_;
        checkpoints_.advance(mark, 0);
        checkpoints_.write_soon();
    }
    if (is_closing()) {
        report(ErrorScope::handler, "handle", error);
        return handled(0);
    }
    const Verdict verdict = judge(options_.retry, error, tried_, event_failures_);
    share_ = Share::single;
    if (verdict == Verdict::poison) return poison(error);
    const Duration delay = verdict == Verdict::single
                               ? Duration(0)
                               : retry_delay(options_.retry, event_failures_, random_);
    set_turn(Turn::resting);
    turn_timer_ = place_.loop.run_after(delay, [this] {
        turn_timer_.reset();
        if (seek_) return apply_seek();
        handle();
    });
    report(ErrorScope::handler, "handle", error, delay);
}

void Pump::poison(const Error& error) {
    switch (options_.poison) {
        case Poison::dead_letter: return dead_letter(error);
        case Poison::skip: report(ErrorScope::handler, "skip", error); return pass_poison();
        case Poison::park:
            set_turn(Turn::parked);
            return report(ErrorScope::handler, "park", error);
        case Poison::stop:
            set_turn(Turn::parked);
            report(ErrorScope::handler, "stop", error);
            return owner_.on_stop_wanted(partition_, error);
    }
}

void Pump::dead_letter(const Error& error) {
    set_turn(Turn::dead_lettering);
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
        if (turn_ != Turn::dead_lettering) return;
        if (put.ok()) {
            report(ErrorScope::handler, "dead letter", error);
            return pass_poison();
        }
        const Duration delay = restart_delay(++letter_failures_, random_);
        turn_timer_ = place_.loop.run_after(delay, [this, error] {
            turn_timer_.reset();
            dead_letter(error);
        });
        report(ErrorScope::store, "dead letter", put.error(), delay);
    }));
}

// Go on behind it. Where the handler stores by hand and was up to date, so are we.
void Pump::pass_poison() {
    letter_failures_ = 0;
    set_turn(Turn::idle);
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
    if (is_paused || is_closing()) return;
    if (turn_ == Turn::parked) {
        event_failures_ = 0;
        handle();
    }
    intake_.fill();
    dispatch();
}

void Pump::hold(bool is_held) {
    place_.loop.check_here();
    if (is_held == is_held_back_) return;
    is_held_back_ = is_held;
    if (is_held || is_closing()) return;
    if (turn_ == Turn::parked) {  // an operator has looked at it
        event_failures_ = 0;
        return handle();
    }
    intake_.fill();
    dispatch();
}

void Pump::on_seek(const Position& position) {
    if (is_closing() || is_fenced_) return;
    seek_ = position;
    if (opening_ < Opening::attaching) return;  // attach() takes it
    if (turn_ == Turn::idle || turn_ == Turn::parked) apply_seek();
}

void Pump::apply_seek() {
    set_turn(Turn::idle);
    cancel(turn_timer_);
    left_ = {};
    batch_ = {};
    share_ = Share::whole;
    event_failures_ = 0;
    drop_reader();
    attach();
}

void Pump::set_turn(Turn turn) {
    turn_ = turn;
    check_state();
}

void Pump::check_state() const {
    const bool has_event =
        turn_ == Turn::committing || turn_ == Turn::dead_lettering || turn_ == Turn::parked;
    EK_CHECK(!has_event || !left_.empty(), "a turn without the event that it is about");
    EK_CHECK(turn_ != Turn::handling || cell_ != nullptr, "handles without a handler");
    EK_CHECK(!is_closing() || !intake_.has_reader(), "reads after close()");
    EK_CHECK(!is_fenced_ || turn_ != Turn::handling || cell_->is_busy(),
             "begins a call for what another owner has (PUMP-6)");
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
