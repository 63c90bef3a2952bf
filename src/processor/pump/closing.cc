#include "processor/pump/closing.h"

#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
#include "processor/pump/checkpointer.h"

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

void Closing::close(CloseReason reason, Task done) {
    place_.loop.check_here();
    closed_.push_back(std::move(done));
    const bool is_first = !is_closing();
    const bool loses = reason == CloseReason::lost;
    if (!is_first && !loses) return;
    if (!is_first && !is_lost()) {
        report_unstored({ErrorCode::cancelled,
                         "the partition was lost before it was stored; events will repeat"});
    }
    reason_ = reason;
    pump_.tell_handler(closed_as(reason));
    if (is_first) {
        pump_.drop_reader();
        set_state(State::draining);
        timer_.run_after(place_.drain_max, [this] { drain_over(); });
    }
    pump_.stop_handling(loses);
    const Lifetime::Watch self = lifetime_.watch();
    if (loses) place_.checkpoints.stop();  // PUMP-6; may end a flush, and with it the close
    if (self.over() || pump_.is_busy()) return;
    on_drained();
}

void Closing::on_drained() {
    if (state_ == State::finishing) return;
    EK_CHECK(!pump_.is_busy(), "closes the handler while it runs");
    set_state(State::finishing);
    if (pump_.close_handler(closed_as(reason_))) return;
    on_handler_closed();
}

void Closing::on_handler_closed() {
    auto finish = lifetime_.guard([this](const Result<>& stored) {
        timer_.cancel();
        if (!stored.ok() && !is_lost()) {
            pump_.report(ErrorScope::checkpoint, "last checkpoint", stored.error(), std::nullopt);
        }
        auto told = std::move(closed_);
        closed_.clear();
        for (Task& done : told) done();  // the first one may be our end
    });
    if (is_void()) return finish(Result<>());
    if (EK_CANARY(close_without_flush)) return finish(Result<>());
    pump_.store_asked();
    place_.checkpoints.flush(std::move(finish));
}

void Closing::drain_over() {
    if (pump_.is_handler_open()) {
        pump_.report(ErrorScope::handler, "close",
                     {ErrorCode::timed_out,
                      fmt::format("the handler did not end within {} ms; its partition is given up "
                                  "without it",
                                  place_.drain_max.count())},
                     std::nullopt);
        pump_.abandon_handler(closed_as(reason_));
    }
    if (!is_lost()) {
        report_unstored(
            {ErrorCode::timed_out, "the store did not take it in time; events will repeat"});
    }
    reason_ = CloseReason::lost;
    set_state(State::finishing);
    const Lifetime::Watch self = lifetime_.watch();
    place_.checkpoints.stop();  // ends a flush, and with it the close, if that was waited for
    if (!self.over()) on_handler_closed();
}

void Closing::on_fenced() {
    if (is_fenced_) return;
    is_fenced_ = true;
    const Lifetime::Watch self = lifetime_.watch();
    place_.checkpoints.stop();
    if (self.over()) return;
    pump_.drop_reader();
    pump_.stop_handling(true);
    pump_.tell_handler(Closed::lost);
    if (is_closing()) return;
    place_.permit.on_fenced(place_.partition);  // answers with close(lost), perhaps at once
}

void Closing::report_unstored(const Error& error) {
    if (place_.checkpoints.latest() <= place_.checkpoints.stored()) return;
    pump_.report(ErrorScope::checkpoint, "last checkpoint", error, std::nullopt);
}

void Closing::set_state(State state) {
    state_ = state;
    check_state();
}

void Closing::check_state() const {
    EK_CHECK(state_ == State::open || !pump_.has_reader(), "reads after close()");
    EK_CHECK(state_ == State::open || !closed_.empty(), "closes although nobody asked for it");
    EK_CHECK(state_ != State::open || !timer_.is_pending(), "drains before close()");
}

}  // namespace evenkeel::processor
