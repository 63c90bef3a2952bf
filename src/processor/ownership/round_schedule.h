// When a coordinator looks at the group: one round at a time, soon after something has happened,
// seldom while nothing does, and less often while the store fails.
//
//     idle ──look_at(), look_now()──▶ scheduled ──its time──▶ running ──end(), fail()──▶ idle
//                                                               │  ▲
//                                                  look_now() ──▼  │
//                                                          running_again: look_at() follows end()
//
// The loop and the guard outlive it. Threads: part of Coordinator, on its loop.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/random.h"
#include "io/loop.h"
#include "io/timer.h"
#include "processor/ownership/step_guard.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class RoundSchedule {
public:
    // `round` begins a round, which ends with end() or fail().
    RoundSchedule(io::Loop& loop, StepGuard& steps, const Timing& timing, Random random,
                  std::function<void()> round);

    void set_push(bool has_push) { has_push_ = has_push; }
    bool has_push() const { return has_push_; }
    // Replaces what was scheduled. Not while a round runs.
    void look_at(Instant when);
    // At once, or after the round that runs; but not while the store fails.
    void look_now();
    // The store notified of a change, perhaps of a mere heartbeat. `is_fast`: something is
    // expected.
    void on_pushed(bool is_fast);
    // The store answered: nothing keeps the next round from coming soon.
    void reset_backoff() { backoff_ = Duration(0); }

    bool is_running() const { return state_ == State::running || state_ == State::running_again; }
    // The round has ended. True if another one was asked for meanwhile, and is scheduled.
    bool end(Instant now);
    // The round has failed: the next one is scheduled after the returned time.
    Duration fail(Instant now);
    // When the next round should come if nothing else happens: often while something is expected,
    // but not for longer than Timing::poll_fast_max.
    Instant next(Instant now, bool is_fast, Duration slow_period);
    // A random time of 0.9 to 1 of the period, so that members do not move in step.
    Duration drawn(Duration period);
    void stop();

private:
    enum class State : std::uint8_t { idle, scheduled, running, running_again };

    void begin();
    void set_state(State state);
    void check_state() const;

    io::Loop& loop_;
    StepGuard& steps_;
    const Timing& timing_;
    Random random_;
    const std::function<void()> round_;
    State state_ = State::idle;
    io::Timer timer_{loop_};
    Instant round_at_;     // if scheduled
    Instant round_ended_;  // the last one
    Duration backoff_{0};
    Instant fast_since_;
    bool was_fast_ = false;
    bool has_push_ = false;
    double push_credit_ = 0;  // rounds that notifications may still cause at once
    Instant push_credit_at_;
};

}  // namespace evenkeel::processor
