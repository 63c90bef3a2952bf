// What is done with one partition that is ours: read, hand to the handler, store progress.
//
//     seal ─▶ look ─▶ open handler ─▶ attach reader ─▶ running ──close()──▶ drained ─▶ stored ─▶
//     done
//      ▲        ▲____________________________│ a failure: again, after a pause
//
//     running:  Intake (gathers the next batch while the handler is busy) ─▶ HandlerCell ─▶
//               Checkpointer
//                                                          │ failed: again, one by one,
//                                                          └─▶ dead-letter, skip, park, stop
//
// Invariants
//   PUMP-1  No event is read before the checkpoint was sealed with our epoch (STORE-3, STORE-6).
//   PUMP-2  The handler gets the events of the partition in order, one call at a time.
//   PUMP-3  No call begins, and no checkpoint is written, without the permit (OWN-5).
//   PUMP-4  Only events whose handler has ended, that were dead-lettered, or that their handler has
//           checkpointed, are stored as handled. PUMP-15 says when.
//   PUMP-5  Until close() it reads, or waits for the time of its next attempt, or is paused.
//   PUMP-6  Once the partition is lost nothing is written any more, and no result counts.
//   PUMP-7  No event is handled before the last one that was, if the hub still has it, was seen to
//           be the same: a hub that was restored and written on stops the partition.
//   PUMP-8  What was sealed counts once the store was seen to be the one that we began with.
//   PUMP-15  at_most_once stores the position before the handler begins, at_least_once after it
//            has ended, exactly_once in the transaction of what the handler writes.
//
// States: Opening (how far it is on the way to a reader), Turn (what happens to the batch), Share
// (what of the batch the handler gets) and Ending (how far close() is). check_state() says which go
// together; it runs at each change of Turn, not at one of Ending alone.
// Ownership: all of PumpPlace, and the owner, outlive it.
// Threads: pinned to the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/host.h"
#include "processor/pump/checkpointer.h"
#include "processor/pump/dead_letters.h"
#include "processor/pump/handler_cell.h"
#include "processor/pump/intake.h"
#include "processor/pump/resume.h"
#include "source/source.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

// All of it outlives the pump.
struct PumpPlace {
    io::Loop& loop;
    io::Executor& workers;  // may run several tasks at once
    checkpoint::Store& store;
    source::Source& source;
    Permit& permit;
    DeadLetters& dead_letters;
    const ProcessorOptions& options;
    const HandlerFactory& handlers;
};

// Who has a pump.
class PumpOwner {
public:
    virtual ~PumpOwner() = default;
    virtual void on_failure(const Failure& failure) = 0;
    // A poisonous event is to end the processor.
    virtual void on_stop_wanted(PartitionId partition, const Error& error) = 0;
    // As the hub describes itself now. False if it is another one, whose events are not to be read:
    // the processor is stopped.
    virtual bool on_hub(const source::HubProperties&) { return true; }
    // After a seal: is the store still the one that this processor began with? No answer if not:
    // the processor is stopped.
    virtual void confirm_store(Callback<void(Result<>)> answer) { answer({}); }
    // A handler goes on although its partition was given up; `is_running` false once it has ended.
    virtual void on_undrained(PartitionId partition, bool is_running) = 0;
    // The source answered.
    virtual void on_heard() {}
    // Expires with the owner, whom such a handler may outlive.
    virtual Lifetime::Watch lifetime() const = 0;
};

class Pump final : private HandlerCell::Pump, private Intake::Pump {
public:
    Pump(const PumpPlace& place, PumpOwner& owner, PartitionId partition, Epoch epoch,
         Random random);
    // Without close() it ends as a crash would end it; the handler is told `lost`.
    ~Pump() override;

    void start();
    // As PartitionHost::close. The pump may be destroyed in `done`.
    void close(CloseReason reason, Task done);
    // Paused by an operator: begins no call of the handler until it is resumed.
    void hold(bool is_held);
    PartitionStatus status() const;
    // Since when it tries in vain to get a reader; none while it has one that works, and while
    // something else is in its way.
    std::optional<Instant> unread_since() const { return unread_since_; }
    // A call of the handler is under way.
    bool is_handling() const { return turn_ == Turn::handling || (cell_ && cell_->is_busy()); }
    // How far it was handled, as it is stored or to be stored; sequence -1: nothing.
    checkpoint::Checkpoint progress() const { return checkpoints_.checkpoint(); }

private:
    static constexpr Duration permit_poll = std::chrono::milliseconds(20);

    enum class Turn : std::uint8_t { idle, committing, handling, resting, dead_lettering, parked };
    enum class Opening : std::uint8_t { sealing, looking, opening_handler, attaching, open };
    // single: one by one to the end of the batch; tick: max_wait has passed without events.
    enum class Share : std::uint8_t { whole, single, tick };
    // draining: the handler may still run; finishing: its partition is closed, progress is stored.
    enum class Ending : std::uint8_t { open, draining, finishing };

    // pump_open.cc: up to the reader, and back to it.
    void seal();
    void confirm();
    void look();
    void decide(std::int64_t created_ms, const source::PartitionProperties& partition);
    void reset_checkpoint(std::int64_t created_ms);
    void go_on(const Resume& resume);
    void open_handler();
    void attach();
    void restart(ErrorScope scope, std::string_view operation, const Error& error);
    void drop_reader();
    void heard(bool is_reading);
    void unheard();
    const Position& start_position() const;
    void refuse(const Error& error);

    // pump.cc: reading and handling.
    bool may_read() const override;
    void on_events() override { dispatch(); }
    void on_heard(bool is_reading) override { heard(is_reading); }
    void on_read() override { failures_ = 0; }
    Duration on_read_failed(const Error& error) override;
    void on_reader_failed(const Error& error) override;
    void on_mismatch(const Error& error) override { refuse(error); }
    void on_notice(std::string_view operation, const Error& error,
                   std::optional<Duration> retried_in) override;
    void dispatch();
    void wait_to_dispatch(Duration delay);
    void commit_first();
    void handle();
    void run_in_transaction();
    void not_committed(const Error& error);
    void not_begun();
    void watch_handler();
    void handled(std::size_t count);
    void failed(const Error& error);
    void poison(const Error& error);
    void dead_letter(const Error& error);
    void pass_poison();
    void settle(std::size_t count);
    void store_asked();
    void apply_seek();
    bool is_held() const;
    bool may_handle() const;

    void on_ended(Result<> result) override;
    void on_asked() override;
    void on_pause(bool is_paused) override;
    void on_seek(const Position& position) override;
    void on_flush(Callback<void(Result<>)> done) override;

    // pump_close.cc
    void drained();
    void closed();
    void drain_over();
    void fenced();
    bool is_closing() const { return ending_ != Ending::open; }
    bool is_lost() const { return is_closing() && reason_ == CloseReason::lost; }

    void set_turn(Turn turn);
    void check_state() const;
    void report(ErrorScope scope, std::string_view operation, const Error& error,
                std::optional<Duration> retried_in = std::nullopt);
    void cancel(std::optional<io::TimerId>& timer);
    // Wraps an answer: it does not reach a pump that is gone, nor one that has begun anew or
    // closes.
    template <typename Function>
    auto while_current(Function function) {
        return lifetime_.guard(
            [this, round = round_, function = std::move(function)](auto&&... arguments) mutable {
                if (round == round_) function(std::forward<decltype(arguments)>(arguments)...);
            });
    }

    const PumpPlace place_;
    const ProcessorOptions& options_;
    PumpOwner& owner_;
    const PartitionId partition_;
    const Epoch epoch_;
    Random random_;
    Checkpointer checkpoints_;
    std::shared_ptr<HandlerCell> cell_;

    // Where we are.
    Opening opening_ = Opening::sealing;
    std::uint64_t round_ = 0;  // answers to earlier ones are void
    std::uint32_t failures_ = 0;
    std::int64_t hub_created_ms_ = 0;
    checkpoint::Checkpoint resumed_;    // the store's, then what was handled since
    Position position_;                 // where to attach next
    bool is_position_ours_ = false;     // by seek(): not to be held against the checkpoint
    std::optional<Landmark> landmark_;  // the event before that position, if it is known

    Intake intake_;
    std::optional<Instant> unread_since_;
    std::int64_t last_taken_ = -1;  // into a batch for the handler
    Landmark taken_;                // that event

    Turn turn_ = Turn::idle;
    EventBatch batch_;  // not while the cell is busy with it
    Events left_;       // of the batch: not handled yet
    std::size_t tried_ = 0;
    Share share_ = Share::whole;
    std::uint32_t event_failures_ = 0;  // of the first one left
    std::uint32_t letter_failures_ = 0;
    Instant handling_since_;
    bool is_paused_ = false;     // by the handler
    bool is_held_back_ = false;  // by an operator
    std::optional<Position> seek_;
    Ending ending_ = Ending::open;
    CloseReason reason_ = CloseReason::lost;  // of close(), if it was called
    bool is_fenced_ = false;
    std::vector<Task> closed_;

    std::optional<io::TimerId> restart_timer_, turn_timer_, slow_timer_, drain_timer_;
    std::uint64_t events_handled_ = 0;
    std::uint64_t handler_failures_ = 0;
    std::int64_t handled_sequence_ = -1;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
