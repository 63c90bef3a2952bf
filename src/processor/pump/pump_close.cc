// How a pump ends.
// tidy: no test: pump_test.cc tests pumps as a whole
#include <fmt/core.h>

#include "base/canary.h"
#include "processor/pump/pump.h"

namespace evenkeel::processor {
namespace {

Closed closed_as(CloseReason reason) {
    switch (reason) {
        case CloseReason::shutdown: return Closed::shutdown;
        case CloseReason::hand_over: return Closed::handed_over;
        case CloseReason::lost: return Closed::lost;
    }
    return Closed::lost;
}

}  // namespace

void Pump::close(CloseReason reason, Task done) {
    place_.loop.check_here();
    closed_.push_back(std::move(done));
    const bool is_first = !is_closing();
    const bool loses = reason == CloseReason::lost;
    if (!is_first && !loses) return;
    if (!is_first && !is_lost() && checkpoints_.latest() > checkpoints_.stored()) {
        report(ErrorScope::checkpoint, "last checkpoint",
               {ErrorCode::cancelled,
                "the partition was lost before it was stored; events will repeat"});
    }
    reason_ = reason;
    if (is_first) ending_ = Ending::draining;
    if (cell_) cell_->set_closing(closed_as(reason));
    if (is_first) {
        drop_reader();
        drain_timer_ = place_.loop.run_after(options_.drain_max, [this] {
            drain_timer_.reset();
            drain_over();
        });
    }
    // A batch that is being stored as handled will be handled.
    if (turn_ != Turn::handling && (turn_ != Turn::committing || loses)) {
        set_turn(Turn::idle);
        cancel(turn_timer_);
        left_ = {};
    }
    const Lifetime::Watch self = lifetime_.watch();
    if (loses) checkpoints_.stop();  // PUMP-6; may end a flush, and with it the close
    if (self.over() || turn_ != Turn::idle || (cell_ && cell_->is_busy())) return;
    drained();
}

// No handler runs, and none will begin.
void Pump::drained() {
    if (ending_ == Ending::finishing) return;
    ending_ = Ending::finishing;
    set_turn(Turn::idle);
    left_ = {};
    if (cell_ && cell_->is_open()) return cell_->close(closed_as(reason_));
    closed();
}

// on_closed() has been called, and may have asked for a last checkpoint.
void Pump::closed() {
    auto finish = lifetime_.guard([this](const Result<>& stored) {
        cancel(drain_timer_);
        if (!stored.ok() && !is_lost()) {
            report(ErrorScope::checkpoint, "last checkpoint", stored.error());
        }
        auto told = std::move(closed_);
        closed_.clear();
        for (Task& done : told) done();  // the first one may be our end
    });
    if (is_lost() || is_fenced_) return finish(Result<>());
    if (EK_CANARY(close_without_flush)) return finish(Result<>());
    store_asked();
    checkpoints_.flush(std::move(finish));
}

// The time is over: whatever runs on does so without us.
void Pump::drain_over() {
    if (cell_ && (cell_->is_busy() || cell_->is_open())) {
        report(ErrorScope::handler, "close",
               {ErrorCode::timed_out,
                fmt::format("the handler did not end within {} ms; its partition is given up "
                            "without it",
                            options_.drain_max.count())});
        owner_.on_undrained(partition_, true);
        cell_->abandon(closed_as(reason_),
                       [&owner = owner_, watch = owner_.lifetime(), partition = partition_] {
                           if (!watch.over()) owner.on_undrained(partition, false);
                       });
        cell_.reset();
    }
    if (!is_lost() && checkpoints_.latest() > checkpoints_.stored()) {
        report(ErrorScope::checkpoint, "last checkpoint",
               {ErrorCode::timed_out, "the store did not take it in time; events will repeat"});
    }
    reason_ = CloseReason::lost;
    ending_ = Ending::finishing;
    const Lifetime::Watch self = lifetime_.watch();
    checkpoints_.stop();  // ends a flush, and with it the close, if that was waited for
    if (!self.over()) closed();
}

void Pump::fenced() {
    if (is_fenced_) return;
    is_fenced_ = true;
    const Lifetime::Watch self = lifetime_.watch();
    checkpoints_.stop();
    if (self.over()) return;
    drop_reader();
    cancel(turn_timer_);
    if (turn_ != Turn::handling) {
        set_turn(Turn::idle);
        left_ = {};
    }
    if (cell_) cell_->set_closing(Closed::lost);
    if (!is_closing())
        place_.permit.on_fenced(partition_);  // answers with close(lost), perhaps at once
}

PartitionStatus Pump::status() const {
    PartitionStatus status;
    status.partition = partition_.value;
    status.epoch = epoch_.value;
    status.handled_sequence = handled_sequence_;
    status.checkpoint_sequence = checkpoints_.stored().sequence;
    status.last_enqueued_sequence = intake_.last_enqueued();
    status.events_handled = events_handled_;
    status.failures = handler_failures_;
    status.state = is_closing()                    ? "closing"
                   : turn_ == Turn::parked         ? "parked"
                   : is_paused_ || is_held_back_   ? "paused"
                   : opening_ < Opening::open      ? "opening"
                   : turn_ == Turn::resting        ? "retrying"
                   : turn_ == Turn::dead_lettering ? "retrying"
                   : turn_ == Turn::idle           ? "reading"
                                                   : "handling";
    return status;
}

}  // namespace evenkeel::processor
