#include "processor/ownership/round_schedule.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::processor {

namespace {

// A store that notifies does so for every heartbeat as well: so many rounds may follow at once, and
// one a second on average.
constexpr double push_credit_max = 5;
constexpr double push_credit_per_second = 1;

}  // namespace

RoundSchedule::RoundSchedule(io::Loop& loop, StepGuard& steps, const Timing& timing, Random random,
                             std::function<void()> round)
    : loop_(loop), steps_(steps), timing_(timing), random_(random), round_(std::move(round)) {}

void RoundSchedule::look_at(Instant when) {
    EK_CHECK(!is_running(), "scheduled during a round");
    set_state(State::scheduled);
    round_at_ = when;
    timer_.run_at(when, steps_.wrap([this] { begin(); }));
}

void RoundSchedule::begin() {
    // Asked for again in the same moment, by what the end of a lease set off.
    if (is_running()) {
        set_state(State::running_again);
        return;
    }
    set_state(State::running);
    round_();
}

void RoundSchedule::look_now() {
    if (is_running()) {
        set_state(State::running_again);
        return;
    }
    if (backoff_ > Duration(0) && state_ == State::scheduled) return;
    look_at(loop_.clock().now());
}

void RoundSchedule::on_pushed(bool is_fast) {
    const Instant now = loop_.clock().now();
    if (is_fast) {
        const Instant earliest = std::max(now, round_ended_ + timing_.poll_fast / 10);
        if (is_running()) {
            set_state(State::running_again);
        } else if (state_ == State::idle || earliest < round_at_) {
            look_at(earliest);
        }
        return;
    }
    const double waited = std::chrono::duration<double>(now - push_credit_at_).count();
    push_credit_ = std::min(push_credit_max, push_credit_ + waited * push_credit_per_second);
    push_credit_at_ = now;
    if (push_credit_ < 1) return;
    push_credit_ -= 1;
    check_state();
    look_now();
}

bool RoundSchedule::end(Instant now) {
    EK_CHECK(is_running(), "ended a round that does not run");
    const bool must_look = state_ == State::running_again;
    set_state(State::idle);
    round_ended_ = now;
    if (must_look) look_at(now + (has_push_ ? timing_.poll_fast / 10 : Duration(0)));
    return must_look;
}

Duration RoundSchedule::fail(Instant now) {
    EK_CHECK(is_running(), "failed a round that does not run");
    backoff_ = std::clamp(2 * backoff_, timing_.poll_fast, timing_.heartbeat);
    set_state(State::idle);
    look_at(now + backoff_);
    return backoff_;
}

Instant RoundSchedule::next(Instant now, bool is_fast, Duration slow_period) {
    if (is_fast && !was_fast_) fast_since_ = now;
    was_fast_ = is_fast;
    const bool is_too_long = is_fast && now - fast_since_ > timing_.poll_fast_max;
    return now + drawn(is_fast && !is_too_long ? timing_.poll_fast : slow_period);
}

Duration RoundSchedule::drawn(Duration period) {
    return Duration(random_.between(period.count() * 9 / 10, period.count()));
}

void RoundSchedule::stop() {
    timer_.cancel();
    set_state(State::idle);
}

void RoundSchedule::set_state(State state) {
    state_ = state;
    check_state();
}

// A timer may be pending while a round runs: the end of a lease may ask for a round in the same
// step that begins one.
void RoundSchedule::check_state() const {
    EK_CHECK(backoff_ >= Duration(0) && backoff_ <= timing_.heartbeat,
             "waits for a store longer than a heartbeat");
    EK_CHECK(push_credit_ >= 0 && push_credit_ <= push_credit_max,
             "more rounds at once than notifications may cause");
}

}  // namespace evenkeel::processor
