#include "processor/pump/pump.h"

#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"

namespace evenkeel::processor {

Pump::Pump(const PumpPlace& place, PumpOwner& owner, PartitionId partition, Epoch epoch,
           Random random)
    : place_(place),
      owner_(owner),
      partition_(partition),
      epoch_(epoch),
      random_(random),
      checkpoints_({place.loop, place.store, place.permit, partition, epoch},
                   place.options.checkpoints,
                   {[this] { closing_.on_fenced(); },
                    [this](const Error& error, std::optional<Duration> retried_in) {
                        report(ErrorScope::checkpoint, "checkpoint", error, retried_in);
                    }},
                   random_.fork()),
      intake_({place.loop, place.source, place.options, partition}, *this),
      opening_({place, owner, partition, epoch, random_, checkpoints_, intake_}, *this),
      handling_({place, partition, epoch, random_, checkpoints_}, *this),
      closing_({place.loop, place.permit, checkpoints_, partition, place.options.drain_max},
               *this) {}

Pump::~Pump() {
    timer_.cancel();
    if (cell_) cell_->abandon(Closed::lost, nullptr);
}

void Pump::start() {
    place_.loop.check_here();
    opening_.start();
}

// PUMP-3
bool Pump::may_handle() const {
    if (!place_.permit.may_act(partition_)) return false;
    if (EK_CANARY(acts_without_reader)) return true;
    return !place_.permit.hangs_on_reader(partition_) || intake_.is_attached();
}

bool Pump::may_read() const {
    return !is_stopped() && !is_closing() && !closing_.is_fenced();
}

bool Pump::may_dispatch() const {
    return may_read() && handling_.is_idle() && cell_ && !cell_->is_busy() &&
           opening_.is_attaching();
}

void Pump::dispatch() {
    if (!may_dispatch()) return;
    const Instant now = place_.loop.clock().now();
    const Duration max_wait = place_.options.max_wait;
    if (intake_.size() < place_.options.batch_events_min) {
        if (max_wait.count() == 0 && intake_.empty()) return;
        const Duration waited = now - intake_.since();
        if (waited < max_wait) return wait_to_dispatch(max_wait - waited);
    }
    if (!may_handle()) return wait_to_dispatch(Handling::permit_poll);
    timer_.cancel();
    intake_.wait_from(now);
    EventBatch batch = intake_.take();
    if (!batch.empty()) opening_.note_taken(batch.back());
    intake_.fill();
    handling_.begin(std::move(batch));
}

void Pump::wait_to_dispatch(Duration delay) {
    if (timer_.is_pending()) return;
    timer_.run_after(delay, [this] { dispatch(); });
}

void Pump::on_ended(Result<> result) {
    if (opening_.is_opening_handler() && !is_closing()) {
        if (!result.ok()) {
            cell_->abandon(Closed::lost, nullptr);
            cell_.reset();
        }
        return opening_.on_handler_opened(result);
    }
    if (is_closing() && !cell_->is_open()) {
        if (!result.ok()) report(ErrorScope::handler, "close", result.error(), std::nullopt);
        return closing_.on_handler_closed();
    }
    if (handling_.is_running()) return handling_.on_ended(result);
    if (is_closing()) closing_.on_drained();
}

void Pump::on_asked() {
    if (cell_ && !cell_->is_busy()) handling_.store_asked();
}

void Pump::on_flush(Callback<void(Result<>)> done) {
    handling_.flush(opening_.last_taken(), std::move(done));
}

void Pump::on_foreign_event(std::int64_t sequence) {
    report(ErrorScope::checkpoint, "checkpoint",
           {ErrorCode::invalid_argument,
            fmt::format("checkpoint() or done() was called for event {}, which this handler was "
                        "not given; it does not count. Is it an event of another partition?",
                        sequence)},
           std::nullopt);
}

void Pump::on_pause(bool is_paused) {
    is_paused_ = is_paused;
    if (is_paused || is_closing()) return;
    if (handling_.unpark()) owner_.on_unparked(partition_);
    intake_.fill();
    dispatch();
}

void Pump::hold(bool is_held) {
    place_.loop.check_here();
    if (is_held == is_held_back_) return;
    is_held_back_ = is_held;
    if (is_held || is_closing()) return;
    if (handling_.unpark()) return;  // an operator has looked at it
    intake_.fill();
    dispatch();
}

void Pump::on_seek(const Position& position) {
    if (is_closing() || closing_.is_fenced()) return;
    opening_.seek(position);
    if (!opening_.is_attaching()) return;  // it is applied before the reader is opened
    if (handling_.is_idle() || handling_.state() == Handling::State::parked) apply_seek();
}

bool Pump::apply_seek() {
    if (!opening_.is_seek_wanted()) return false;
    handling_.drop();
    opening_.seek_now();
    return true;
}

void Pump::on_reader_failed(const Error& error) {
    opening_.restart(ErrorScope::source, "read", error);
}

void Pump::on_notice(std::string_view operation, const Error& error,
                     std::optional<Duration> retried_in) {
    report(ErrorScope::source, operation, error, retried_in);
}

void Pump::on_checkpoint(const checkpoint::Checkpoint& stored) {
    checkpoints_.begin(stored);
    if (cell_ && stored.sequence.value < 0) cell_->forget_asked();
    handling_.set_checkpoint(stored);
}

void Pump::open_handler() {
    cell_ = std::make_shared<HandlerCell>(place_.loop, place_.workers, partition_, epoch_,
                                          place_.options.checkpoints.manual);
    cell_->open(*this, place_.handlers);
}

void Pump::on_reader() {
    EK_CHECK(!is_closing() && !closing_.is_fenced(), "a reader for what was given up");
    owner_.on_reading(partition_, epoch_);
    intake_.fill();
    dispatch();
}

void Pump::on_idle() {
    dispatch();
    intake_.fill();
}

void Pump::on_not_stored(const Error& error) {
    opening_.restart(ErrorScope::checkpoint, "checkpoint", error);
}

void Pump::on_not_committed(const Error& error) {
    opening_.forget_taken();
    if (!is_closing()) return opening_.restart_from_store("commit", error);
    report(ErrorScope::store, "commit", error, std::nullopt);
    closing_.on_drained();
}

void Pump::tell_handler(Closed reason) {
    if (cell_) cell_->set_closing(reason);
}

bool Pump::is_handler_open() const {
    return cell_ && (cell_->is_busy() || cell_->is_open());
}

bool Pump::close_handler(Closed reason) {
    if (!cell_ || !cell_->is_open()) return false;
    cell_->close(reason);
    return true;
}

void Pump::abandon_handler(Closed reason) {
    owner_.on_undrained(partition_, true);
    cell_->abandon(reason, [&owner = owner_, watch = owner_.lifetime(), partition = partition_] {
        if (!watch.over()) owner.on_undrained(partition, false);
    });
    handling_.on_abandoned();
    cell_.reset();
}

PartitionStatus Pump::status() const {
    using State = Handling::State;
    const State batch = handling_.state();
    PartitionStatus status;
    status.partition = partition_.value;
    status.epoch = epoch_.value;
    status.handled_sequence = handling_.handled_sequence();
    status.checkpoint_sequence = checkpoints_.stored().sequence;
    status.last_enqueued_sequence = intake_.last_enqueued();
    status.events_handled = handling_.events_handled();
    status.failures = handling_.failures();
    status.dead_letters = handling_.dead_letters();
    status.reason = handling_.reason();
    status.state = is_closing()                     ? "closing"
                   : batch == State::parked         ? "parked"
                   : is_stopped()                   ? "paused"
                   : !opening_.is_open()            ? "opening"
                   : handling_.is_outage_pause()    ? "waiting"
                   : batch == State::resting        ? "retrying"
                   : batch == State::dead_lettering ? "retrying"
                   : batch == State::idle           ? "reading"
                                                    : "handling";
    return status;
}

void Pump::report(ErrorScope scope, std::string_view operation, const Error& error,
                  std::optional<Duration> retried_in) {
    Failure failure{scope, partition_.value, std::string(operation), error, retried_in.has_value()};
    if (retried_in) {
        failure.retried_in = std::chrono::duration_cast<std::chrono::milliseconds>(*retried_in);
    }
    owner_.on_failure(failure);
}

}  // namespace evenkeel::processor
