#include "processor/pump/handler_cell.h"

#include <algorithm>
#include <exception>

#include <fmt/core.h>

#include "base/awaited.h"
#include "base/time_point.h"

namespace evenkeel::processor {

Result<> call_user(Callback<Result<>()>& function) {
    try {
        return function();
    } catch (const std::exception& exception) {
        return Error{ErrorCode::handler_failed, fmt::format("it threw: {}", exception.what())};
    } catch (...) {
        return Error{ErrorCode::handler_failed, "it threw something that is no exception"};
    }
}

HandlerCell::HandlerCell(io::Loop& loop, io::Executor& workers, PartitionId partition, Epoch epoch,
                         bool is_manual)
    : loop_(loop), workers_(workers), partition_(partition), epoch_(epoch), is_manual_(is_manual) {}

void HandlerCell::open(Pump& pump, const HandlerFactory& factory) {
    pump_ = &pump;
    post([this, factory] {
        handler_ = factory(partition_.value);
        if (!handler_) return Result<>(Error{ErrorCode::handler_failed, "there is no handler"});
        // One that was not opened is not closed, whether it returned an error or threw.
        Callback<Result<>()> call = [this] { return handler_->on_opened(*this); };
        Result<> opened = call_user(call);
        if (!opened.ok()) handler_.reset();
        return opened;
    });
    is_open_ = true;
}

void HandlerCell::begin(EventBatch batch, Events events, std::uint32_t attempt, LeaseTerm term) {
    batch_ = std::move(batch);
    attempt_ = attempt;
    term_ = std::move(term);
    const std::int64_t last = events.empty() ? -1 : events.back().sequence_number;
    latest_.with([last](Latest& latest) {
        latest.done = {};
        latest.given = std::max(latest.given, last);
    });
}

void HandlerCell::run(EventBatch batch, Events events, std::uint32_t attempt, LeaseTerm term) {
    begin(std::move(batch), events, attempt, std::move(term));
    post([this, events]() -> Result<> {
        if (is_late()) return {};
        return handler_->on_events(*this, events);
    });
}

// The worker may have waited for its turn, and the process may have stood still.
bool HandlerCell::is_late() {
    was_late_ = term_.is_over(loop_.clock().now());
    return was_late_;
}

void HandlerCell::run_in(checkpoint::Transactions& transactions, const checkpoint::Checkpoint& done,
                         EventBatch batch, Events events, std::uint32_t attempt, LeaseTerm term) {
    begin(std::move(batch), events, attempt, std::move(term));
    post([this, &transactions, done, events]() -> Result<> {
        if (is_late()) return {};
        auto transaction = transactions.begin(partition_);
        if (!transaction.ok()) {
            store_error_ = transaction.error();
            return transaction.error();
        }
        const checkpoint::Native native = (*transaction)->native();
        sqlite_ = native.sqlite;
        postgres_ = native.postgres;
        Callback<Result<>()> call = [&] { return handler_->on_events(*this, events); };
        Result<> result = call_user(call);
        sqlite_ = nullptr;
        postgres_ = nullptr;
        if (!result.ok()) return result;
        result = (*transaction)->commit(done);
        if (!result.ok()) store_error_ = result.error();
        return result;
    });
}

void HandlerCell::close(Closed reason) {
    is_open_ = false;
    post([this, reason] {
        if (handler_) handler_->on_closed(*this, reason);
        handler_.reset();
        return Result<>();
    });
}

void HandlerCell::post(Callback<Result<>()> call) {
    loop_.check_here();
    EK_CHECK(!is_busy_, "PUMP-13: one call at a time");
    is_busy_ = true;
    call_ = std::move(call);
    workers_.post([self = shared_from_this()]() mutable {
        Result<> result = call_user(self->call_);
        io::Loop& loop = self->loop_;
        loop.post([self = std::move(self), result = std::move(result)]() mutable {
            self->ended(std::move(result));
        });
    });
}

void HandlerCell::ended(Result<> result) {
    is_busy_ = false;
    if (abandoned_) return close_abandoned();
    if (pump_) pump_->on_ended(std::move(result));
}

void HandlerCell::abandon(Closed reason, Task gone) {
    loop_.check_here();
    set_closing(Closed::lost);
    pump_ = nullptr;
    abandoned_ = reason;
    gone_ = std::move(gone);
    if (!is_busy_) close_abandoned();
}

void HandlerCell::close_abandoned() {
    if (is_open_) return close(*abandoned_);
    Task gone = std::move(gone_);
    if (gone) gone();
}

HandlerCell::Asked HandlerCell::asked() const {
    return latest_.with([](const Latest& latest) { return latest.asked; });
}

void HandlerCell::forget_asked() {
    latest_.with([](Latest& latest) { latest.asked = latest.done = {}; });
}

HandlerCell::Asked HandlerCell::done_up_to() const {
    return latest_.with([](const Latest& latest) { return latest.done; });
}

namespace {

HandlerCell::Asked place_of(const Event& event) {
    return {event.sequence_number, event.offset, wall_time(event.enqueued_time).milliseconds};
}

}  // namespace

// An event of another partition would count for all events here up to its number, also for those
// that are still to come.
bool HandlerCell::was_given(const Event& event) {
    const std::int64_t sequence = event.sequence_number;
    bool is_told = false;
    const bool is_given = latest_.with([&](Latest& latest) {
        if (sequence <= latest.given) return true;
        is_told = std::exchange(latest.is_foreign, true);
        return false;
    });
    if (!is_given && !is_told) tell([sequence](Pump& pump) { pump.on_foreign_event(sequence); });
    return is_given;
}

void HandlerCell::done(const Event& event) {
    if (!was_given(event)) return;
    latest_.with([&](Latest& latest) {
        if (event.sequence_number > latest.done.sequence) latest.done = place_of(event);
    });
}

void HandlerCell::checkpoint(const Event& event) {
    if (!was_given(event)) return;
    done(event);
    if (!is_manual_) {
        const bool was_known =
            latest_.with([](Latest& latest) { return std::exchange(latest.is_needless, true); });
        if (!was_known) tell([](Pump& pump) { pump.on_needless_checkpoint(); });
        return;
    }
    const bool was_told = latest_.with([&](Latest& latest) {
        if (event.sequence_number <= latest.asked.sequence) return true;
        latest.asked = place_of(event);
        return std::exchange(latest.is_told, true);
    });
    if (was_told) return;
    loop_.post([self = shared_from_this()] {
        self->latest_.with([](Latest& latest) { latest.is_told = false; });
        if (self->pump_) self->pump_->on_asked();
    });
}

namespace {

// Answers a waiting thread, also if the loop ends before it could.
struct Flushed {
    std::shared_ptr<Awaited<>> awaited = std::make_shared<Awaited<>>();

    Flushed() = default;
    Flushed(Flushed&&) = default;
    Flushed& operator=(Flushed&&) = default;
    ~Flushed() {
        if (awaited) awaited->set(Error{ErrorCode::cancelled, "the processor ends"});
    }
    void operator()(Result<> result) { awaited->set(std::move(result)); }
};

}  // namespace

Result<> HandlerCell::flush(const CallOptions& call) {
    EK_TRY(go_ahead(call.stop));
    Flushed answer;
    const auto awaited = answer.awaited;
    tell([answer = std::move(answer)](Pump& pump) mutable { pump.on_flush(std::move(answer)); });
    return awaited->take(call.timeout, call.stop);
}

void HandlerCell::pause() {
    tell([](Pump& pump) { pump.on_pause(true); });
}

void HandlerCell::resume() {
    tell([](Pump& pump) { pump.on_pause(false); });
}

void HandlerCell::seek(const Position& position) {
    tell([position](Pump& pump) { pump.on_seek(position); });
}

void HandlerCell::tell(Callback<void(Pump&)> what) {
    loop_.post([self = shared_from_this(), what = std::move(what)]() mutable {
        if (self->pump_) what(*self->pump_);
    });
}

}  // namespace evenkeel::processor
