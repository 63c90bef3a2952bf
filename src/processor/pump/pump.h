// What is done with one partition that is ours: read, hand to the handler, store progress.
//
//     Opening ──reader──▶ Intake ──batch──▶ Handling ──▶ HandlerCell
//        ▲ a failure        (gathers the        │ handled
//        └── after a pause   next one           └──▶ Checkpointer ──▶ Closing, after close()
//                            meanwhile)
//
// Each part has its own state and invariants and knows the others only by what its interface Pump
// asks for. The pump connects them: it says when a batch is handed out, pauses, seeks and reports.
// Ownership: owns the parts; all of PumpPlace, and the owner, outlive it.
// Threads: pinned to the loop. Failure: reported to the owner; it goes on by itself until close().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "io/timer.h"
#include "processor/pump/checkpointer.h"
#include "processor/pump/closing.h"
#include "processor/pump/handler_cell.h"
#include "processor/pump/handling.h"
#include "processor/pump/intake.h"
#include "processor/pump/opening.h"
#include "processor/pump/pump_place.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

class Pump final : private HandlerCell::Pump,
                   private Intake::Pump,
                   private Opening::Pump,
                   private Handling::Pump,
                   private Closing::Pump {
public:
    Pump(const PumpPlace& place, PumpOwner& owner, PartitionId partition, Epoch epoch,
         Random random);
    // Without close() it ends as a crash would end it; the handler gets `lost`.
    ~Pump() override;

    void start();
    // As PartitionHost::close. The pump may be destroyed in `done`.
    void close(CloseReason reason, Task done) { closing_.close(reason, std::move(done)); }
    // Paused by an operator: begins no call of the handler until it is resumed.
    void hold(bool is_held);
    PartitionStatus status() const;
    // Since when it tries in vain to get a reader; none while it has one that works, and while
    // something else is in its way.
    std::optional<Instant> unread_since() const { return opening_.unread_since(); }
    // A call of the handler is under way.
    bool is_handling() const { return handling_.is_running() || (cell_ && cell_->is_busy()); }
    // How far it was handled, as it is stored or to be stored; sequence -1: nothing.
    checkpoint::Checkpoint progress() const { return checkpoints_.checkpoint(); }

private:
    void dispatch();
    bool may_dispatch() const;
    void wait_to_dispatch(Duration delay);
    bool is_stopped() const { return is_paused_ || is_held_back_; }

    // The handler.
    void on_ended(Result<> result) override;
    void on_asked() override;
    void on_needless_checkpoint() override { owner_.on_needless_checkpoint(partition_); }
    void on_foreign_event(std::int64_t sequence) override;
    void on_pause(bool is_paused) override;
    void on_seek(const Position& position) override;
    void on_flush(Callback<void(Result<>)> done) override;

    // What is read.
    bool may_read() const override;
    void on_events() override { dispatch(); }
    void on_heard(bool is_reading) override { opening_.heard(is_reading); }
    void on_read() override { opening_.on_read(); }
    Duration on_read_failed(const Error&) override { return opening_.on_read_failed(); }
    void on_reader_failed(const Error& error) override;
    void on_mismatch(const Error& error) override { opening_.refuse(error); }
    void on_notice(std::string_view operation, const Error& error,
                   std::optional<Duration> retried_in) override;

    // The way to a reader.
    bool is_idle() const override { return handling_.is_idle(); }
    void on_checkpoint(const checkpoint::Checkpoint& stored) override;
    void on_resumed(SequenceNumber handled) override { handling_.set_handled(handled.value); }
    bool has_handler() const override { return cell_ != nullptr; }
    void open_handler() override;
    void on_reader() override;
    void on_reader_dropped() override { timer_.cancel(); }
    void on_fenced() override { closing_.on_fenced(); }

    // The batch in hand.
    HandlerCell* cell() const override { return cell_.get(); }
    bool may_handle() const override;
    bool must_wait() const override { return is_held_back_ && !is_closing(); }
    bool is_closing() const override { return closing_.is_closing(); }
    bool is_void() const override { return closing_.is_void(); }
    std::int64_t hub_created_ms() const override { return opening_.hub_created_ms(); }
    bool apply_seek() override;
    void on_idle() override;
    void on_drained() override { closing_.on_drained(); }
    void on_not_stored(const Error& error) override;
    void on_not_committed(const Error& error) override;
    void on_stop_wanted(const Error& error) override { owner_.on_stop_wanted(partition_, error); }
    void on_parked(bool is_storm, const std::string& reason) override {
        owner_.on_parked(partition_, is_storm, reason);
    }

    // The end.
    void drop_reader() override { opening_.drop_reader(); }
    bool has_reader() const override { return intake_.has_reader(); }
    void stop_handling(bool is_lost) override { handling_.stop(is_lost); }
    bool is_busy() const override { return !handling_.is_idle() || (cell_ && cell_->is_busy()); }
    void tell_handler(Closed reason) override;
    bool is_handler_open() const override;
    bool close_handler(Closed reason) override;
    void abandon_handler(Closed reason) override;
    void store_asked() override { handling_.store_asked(); }

    void report(ErrorScope scope, std::string_view operation, const Error& error,
                std::optional<Duration> retried_in) override;

    const PumpPlace place_;
    PumpOwner& owner_;
    const PartitionId partition_;
    const Epoch epoch_;
    Random random_;
    Checkpointer checkpoints_;
    std::shared_ptr<HandlerCell> cell_;  // outlives us while its handler does not end
    bool is_paused_ = false;             // by the handler
    bool is_held_back_ = false;          // by an operator
    io::Timer timer_{place_.loop};       // of the next dispatch
    Intake intake_;
    Opening opening_;
    Handling handling_;
    Closing closing_;
};

}  // namespace evenkeel::processor
