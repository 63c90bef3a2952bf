// How a pump gets to its reader, and back to it after a failure.
//
//     sealing ─▶ confirming ─▶ looking ─▶ pinning ─▶ opening_handler ─▶ attaching ─▶ open
//        ▲                        ▲            │           a failure: again          │
//        │                        └────────────┼─────────────────────────────────────┘
//        └─────────────────────────────────────┘ only the store knows how far it was handled
//
// Invariants
//   PUMP-1  No event is read before the checkpoint was sealed with our epoch (STORE-3, STORE-6).
//   PUMP-5  Until close() it reads, or waits for the time of its next attempt, or is paused.
//   PUMP-7  No event is handled before the last one that was, if the hub still has it, was seen to
//           be the same: a hub that was restored and written on stops the partition.
//   PUMP-8  What was sealed counts once the store was seen to be the one that we began with.
// Ownership: all of Place and the pump outlive it. Threads: part of Pump. Failure: each step
// is tried again with a growing pause; `fenced` is the pump's to decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/lifetime.h"
#include "base/random.h"
#include "io/timer.h"
#include "processor/pump/pump_place.h"
#include "processor/pump/read_position.h"

namespace evenkeel::processor {

class Checkpointer;
class Intake;

class Opening {
public:
    // What it asks and tells its pump.
    class Pump {
    public:
        virtual ~Pump() = default;
        // No batch is in hand.
        virtual bool is_idle() const = 0;
        // Progress counts from this checkpoint, as the store has it.
        virtual void on_checkpoint(const checkpoint::Checkpoint& stored) = 0;
        // So far it was handled before us, as the hub and the checkpoint agree.
        virtual void on_resumed(SequenceNumber handled) = 0;
        virtual bool has_handler() const = 0;
        // on_handler_opened() is called once it is, or could not be.
        virtual void open_handler() = 0;
        virtual void on_reader() = 0;
        // What was read but not handed out is gone.
        virtual void on_reader_dropped() = 0;
        virtual void on_fenced() = 0;
        virtual void report(ErrorScope scope, std::string_view operation, const Error& error,
                            std::optional<Duration> retried_in) = 0;
    };
    struct Place {
        PumpPlace place;
        PumpOwner& owner;
        PartitionId partition;
        Epoch epoch;
        Random& random;
        Checkpointer& checkpoints;
        Intake& intake;
    };

    Opening(const Place& place, Pump& pump);

    void start() { seal(); }
    void on_handler_opened(const Result<>& opened);
    // Looks again, and opens another reader, after a pause.
    void restart(ErrorScope scope, std::string_view operation, const Error& error);
    // The same, but from what the store says: it alone knows how far it was handled.
    void restart_from_store(std::string_view operation, const Error& error);
    // The hub and the checkpoint contradict each other: nothing is handled until an operator
    // decides.
    void refuse(const Error& error);
    // No reader, and none is sought.
    void drop_reader();

    // The source answered; `is_reading`: the reader was opened, or it brought something.
    void heard(bool is_reading);
    void on_read() { failures_ = 0; }
    // The pause before the same reader is asked again.
    Duration on_read_failed();

    // The last event of a batch for the handler.
    void note_taken(const Event& last) { position_.note_taken(last); }
    void forget_taken() { position_.forget_taken(); }
    std::int64_t last_taken() const { return position_.last_taken(); }
    std::int64_t hub_created_ms() const { return position_.hub_created_ms(); }
    // Before the next reader is opened; seek_now() opens it.
    void seek(const Position& position) { position_.seek(position); }
    bool is_seek_wanted() const { return position_.is_seek_wanted(); }
    void seek_now();

    bool is_opening_handler() const { return state_ == State::opening_handler; }
    // It has a reader, or has asked for one.
    bool is_attaching() const { return state_ >= State::attaching; }
    bool is_open() const { return state_ == State::open; }
    // Since when it tries in vain to get a reader; none while it has one that works, and while
    // something else is in its way.
    std::optional<Instant> unread_since() const { return unread_since_; }

private:
    enum class State : std::uint8_t {
        // A failure goes back to the store: what it has is not known, or not any more.
        sealing,
        confirming,
        pinning,
        // A failure looks again.
        looking,
        opening_handler,
        attaching,
        open
    };

    void seal();
    void confirm();
    void look();
    void decide(std::int64_t created_ms, const source::PartitionProperties& partition);
    void pin(const Resume& resume, const source::PartitionProperties& partition);
    void write_pin(const Resume& resume, const source::PartitionProperties& partition);
    void reset_checkpoint(std::int64_t created_ms);
    void go_on(const Resume& resume);
    void open_handler();
    void attach();
    void wait_to_restart(ErrorScope scope, std::string_view operation, const Error& error);
    void unheard();
    const Position& start_position() const;
    void set_state(State state);
    void check_state() const;
    // Wraps an answer: it does not reach an opening that is gone, or has begun anew.
    template <typename Function>
    auto while_current(Function function) {
        return lifetime_.guard(
            [this, round = round_, function = std::move(function)](auto&&... arguments) mutable {
                if (round == round_) function(std::forward<decltype(arguments)>(arguments)...);
            });
    }

    const PumpPlace place_;
    PumpOwner& owner_;
    const PartitionId partition_;
    const Epoch epoch_;
    Random& random_;
    Checkpointer& checkpoints_;
    Intake& intake_;
    Pump& pump_;
    State state_ = State::sealing;
    std::uint64_t round_ = 0;  // answers to earlier ones are void
    std::uint32_t failures_ = 0;
    ReadPosition position_;
    std::optional<Instant> unread_since_;
    io::Timer timer_{place_.loop};  // of the next attempt
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
