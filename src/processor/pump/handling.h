// What happens to the batch that a pump has in hand: handled, tried again, dead-lettered, parked.
//
//     idle ──begin()──▶ (committing ──▶) running ──ended──▶ idle
//                                          ▲ │ failed: again, one by one; after an outage as before
//                                          │ ├──▶ resting
//                                          │ └──▶ dead_lettering ──▶ behind it, or parked
//                                          └─────────┘
// Invariants
//   PUMP-2  The handler gets the events of the partition in order, one call at a time.
//   PUMP-3  No call begins, and no checkpoint is written, without the permit (OWN-5).
//   PUMP-4  Only events whose handler has ended, that were dead-lettered, or that their handler has
//           called done, are stored as handled; with manual checkpoints nothing beyond the last
//           one that checkpoint() was called for. PUMP-15 says when.
//   PUMP-15  at_most_once stores the position before the handler begins, at_least_once after it
//            has ended, exactly_once in the transaction of what the handler writes.
//   PUMP-19  An outage (is_outage() in retry.h) uses no attempt and makes no dead letter.
// Ownership: all of Place and the pump outlive it. Threads: part of Pump. Failure: a handler
// that fails is called again by RetryPolicy; then the event is poison. After so many poison events
// in a row (a storm) it is parked instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "base/random.h"
#include "io/timer.h"
#include "processor/pump/pump_place.h"
#include <evenkeel/hub.h>

namespace evenkeel::processor {

class Checkpointer;
class HandlerCell;

class Handling {
public:
    // What it asks and tells its pump.
    class Pump {
    public:
        virtual ~Pump() = default;
        // There is one while a batch is in hand.
        virtual HandlerCell* cell() const = 0;
        // PUMP-3: the partition is ours now.
        virtual bool may_handle() const = 0;
        // An operator has paused it: the batch in hand waits too.
        virtual bool must_wait() const = 0;
        virtual bool is_closing() const = 0;
        // The partition is another's, or may be: no result counts (PUMP-6).
        virtual bool is_void() const = 0;
        virtual std::int64_t hub_created_ms() const = 0;
        // If a seek was asked for: drop() is called, and events from elsewhere come. False if not.
        virtual bool apply_seek() = 0;
        // The batch is done with.
        virtual void on_idle() = 0;
        // The same while the pump closes: no call runs, and none will begin.
        virtual void on_drained() = 0;
        // at_most_once: it is not known to be stored, so it is not handled.
        virtual void on_not_stored(const Error& error) = 0;
        // exactly_once: only the store knows whether it was handled.
        virtual void on_not_committed(const Error& error) = 0;
        // A poison event is to end the processor.
        virtual void on_stop_wanted(const Error& error) = 0;
        // It stays so until unpark().
        virtual void on_parked(bool is_storm, const std::string& reason) = 0;
        virtual void report(ErrorScope scope, std::string_view operation, const Error& error,
                            std::optional<Duration> retried_in) = 0;
    };
    struct Place {
        PumpPlace place;
        PartitionId partition;
        Epoch epoch;
        Random& random;
        Checkpointer& checkpoints;
    };
    // abandoned: the handler runs on, but without us.
    enum class State : std::uint8_t {
        idle,
        committing,
        running,
        resting,
        dead_lettering,
        parked,
        abandoned
    };

    // Between two looks for the permit.
    static constexpr Duration permit_poll = std::chrono::milliseconds(20);

    Handling(const Place& place, Pump& pump);

    // Without events: a tick. Only when idle.
    void begin(EventBatch batch);
    // The call that was running has ended.
    void on_ended(const Result<>& result);
    void on_abandoned();
    // False if it was not parked.
    bool unpark();
    // Drops the batch unless a call runs with it, or it is being stored as handled and not lost.
    void stop(bool is_lost);
    // Drops the batch, and what is known of its failures.
    void drop();

    // Stores what the handler asked for, as far as its calls have ended.
    void store_asked();
    // Stores what the handler asked for, up to what it was given: it says itself that it is done.
    void flush(std::int64_t last_taken, Callback<void(Result<>)> done);

    // As the store has it: progress and failures count from there.
    void set_checkpoint(const checkpoint::Checkpoint& stored);
    void set_handled(std::int64_t sequence) { handled_sequence_ = sequence; }

    State state() const { return state_; }
    bool is_idle() const { return state_ == State::idle; }
    bool is_running() const { return state_ == State::running || state_ == State::abandoned; }
    std::int64_t handled_sequence() const { return handled_sequence_; }
    std::uint64_t events_handled() const { return events_handled_; }
    std::uint64_t failures() const { return handler_failures_; }
    std::uint64_t dead_letters() const { return dead_letters_; }
    // It rests because the surroundings of the handler failed.
    bool is_outage_pause() const { return state_ == State::resting && outages_ > 0; }
    // Why it rests, dead-letters in vain or is parked; else empty.
    const std::string& reason() const { return reason_; }

private:
    // What of the batch the handler gets. single: one by one to the end of the batch; tick: nothing
    // came for max_wait.
    enum class Share : std::uint8_t { whole, single, tick };

    void commit_first();
    void handle();
    void run_in_transaction(HandlerCell& cell);
    void not_committed(const Error& error);
    void not_begun();
    void watch_handler();
    void handled(std::size_t count);
    void settle(std::size_t count);
    void failed(const Error& error);
    bool settle_asked();
    void wait_out(const Error& error);
    void count_failure();
    void rest(Duration delay);
    void poison(const Error& error);
    bool is_storm() const;
    void park_storm(const Error& error);
    void park(std::string reason);
    void dead_letter(const Error& error);
    void pass_poison();
    void drained();
    void set_state(State state);
    void check_state() const;

    const PumpPlace place_;
    const ProcessorOptions& options_;
    const PartitionId partition_;
    const Epoch epoch_;
    Random& random_;
    Checkpointer& checkpoints_;
    Pump& pump_;
    State state_ = State::idle;
    Share share_ = Share::whole;
    EventBatch batch_;  // not while a call runs with it
    Events left_;       // of the batch: not handled yet
    std::size_t tried_ = 0;
    std::uint32_t event_failures_ = 0;  // of the first one left
    std::uint32_t letter_failures_ = 0;
    std::uint32_t outages_ = 0;        // in a row
    std::uint32_t poison_in_row_ = 0;  // events that were dead-lettered or skipped
    std::string reason_;
    Instant running_since_;
    io::Timer timer_{place_.loop};  // resting, or before the dead letter is sent again
    io::Timer slow_timer_{place_.loop};
    std::uint64_t events_handled_ = 0;
    std::uint64_t handler_failures_ = 0;
    std::uint64_t dead_letters_ = 0;
    std::int64_t handled_sequence_ = -1;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
