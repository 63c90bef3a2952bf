// How a pump gets to its reader, and back to it after a failure.
#include <fmt/core.h>

#include "base/canary.h"
#include "processor/pump/pump.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Checkpoint;

void Pump::seal() {
    opening_ = Opening::sealing;
    place_.store.seal(partition_, epoch_, while_current([this](Result<Checkpoint> sealed) {
                          if (EK_CANARY(failed_seal_is_none) && !sealed.ok()) {
                              sealed = Checkpoint{.partition = partition_, .epoch = epoch_};
                          }
                          if (!sealed.ok()) {
                              return restart(ErrorScope::store, "seal", sealed.error());
                          }
                          resumed_ = std::move(*sealed);
                          checkpoints_.begin(resumed_);
                          event_failures_ = resumed_.attempts;
                          handled_sequence_ = resumed_.sequence.value;
                          confirm();
                      }));
}

// What `is_reading` says, the reader has shown: it was opened, or it brought something.
void Pump::heard(bool is_reading) {
    if (is_reading) unread_since_.reset();
    owner_.on_heard();
}

void Pump::unheard() {
    if (!unread_since_) unread_since_ = place_.loop.clock().now();
}

// PUMP-8: an emptied store seals anything, and has no checkpoints.
void Pump::confirm() {
    if (EK_CANARY(believes_any_store)) return look();
    owner_.confirm_store(while_current([this](const Result<>& confirmed) {
        if (!confirmed.ok())
            return restart(ErrorScope::store, "look at the store", confirmed.error());
        look();
    }));
}

void Pump::look() {
    opening_ = Opening::looking;
    unheard();
    place_.source.properties(while_current([this](Result<source::HubProperties> hub) {
        if (!hub.ok()) return restart(ErrorScope::source, "look at the hub", hub.error());
        if (!owner_.on_hub(*hub)) return;
        const std::int64_t created_ms = hub->created_ms;
        place_.source.properties(
            partition_,
            while_current([this, created_ms](Result<source::PartitionProperties> partition) {
                if (partition.ok()) heard(false);
                if (!partition.ok()) {
                    return restart(ErrorScope::source, "look at the partition", partition.error());
                }
                decide(created_ms, *partition);
            }));
    }));
}

const Position& Pump::start_position() const {
    const auto own = options_.start_of.find(partition_.value);
    return own == options_.start_of.end() ? options_.start : own->second;
}

void Pump::decide(std::int64_t created_ms, const source::PartitionProperties& partition) {
    intake_.set_last_enqueued(partition.last.value);
    const auto resumed = resume(resumed_, partition, created_ms, start_position());
    if (!resumed.ok()) return refuse(resumed.error());
    if (resumed->must_reset && turn_ != Turn::idle) {
        // The handler still has events of the old hub.
        return restart(ErrorScope::checkpoint, "resume", *resumed->notice);
    }
    if (resumed->notice) report(ErrorScope::checkpoint, "resume", *resumed->notice);
    hub_created_ms_ = created_ms;
    if (resumed->must_reset) return reset_checkpoint(created_ms);
    if (resumed->handled.value >= 0 || resumed->must_pin) resumed_.hub_created_ms = created_ms;
    checkpoints_.set_hub(created_ms, resumed->must_pin);
    if (!resumed->must_pin) return go_on(*resumed);
    // Stored before the first event is read, so that the next owner begins here too.
    Mark pin{resumed->handled.value, 0, -1};
    if (pin.sequence >= 0) {
        pin.offset = partition.last_offset.value;
        pin.enqueued_ms = partition.last_enqueued_ms;
    }
    checkpoints_.advance(pin, 0);
    checkpoints_.flush(while_current([this, pinned = *resumed](const Result<>& stored) {
        if (!stored.ok()) return restart(ErrorScope::checkpoint, "pin", stored.error());
        go_on(pinned);
    }));
}

void Pump::reset_checkpoint(std::int64_t created_ms) {
    Checkpoint fresh;
    fresh.partition = partition_;
    fresh.epoch = epoch_;
    fresh.hub_created_ms = created_ms;
    place_.store.reset_checkpoint(fresh, while_current([this, fresh](const Result<>& reset) {
                                      if (!reset.ok()) {
                                          return restart(ErrorScope::store, "reset", reset.error());
                                      }
                                      resumed_ = fresh;
                                      checkpoints_.begin(fresh);
                                      event_failures_ = 0;
                                      handled_sequence_ = last_taken_ = -1;
                                      Resume beginning;
                                      beginning.position = Position::earliest();
                                      go_on(beginning);
                                  }));
}

void Pump::go_on(const Resume& resume) {
    position_ = resume.position;
    landmark_ = resume.landmark;
    resumed_.sequence = resume.handled;
    if (last_taken_ < 0) handled_sequence_ = resume.handled.value;
    intake_.set_last_read(resume.handled.value);
    intake_.set_may_skip(resume.notice.has_value());
    open_handler();
}

void Pump::open_handler() {
    if (cell_) return attach();
    unread_since_.reset();  // it may take its time
    opening_ = Opening::opening_handler;
    cell_ = std::make_shared<HandlerCell>(place_.loop, place_.workers, partition_, epoch_);
    cell_->open(*this, place_.handlers);
}

void Pump::attach() {
    opening_ = Opening::attaching;
    unheard();
    intake_.wait_from(place_.loop.clock().now());
    if (seek_) {
        position_ = *seek_;
        seek_.reset();
        is_position_ours_ = true;
        landmark_.reset();
        last_taken_ = -1;
        intake_.set_last_read(-1);
    }
    source::ReadOptions options;
    if (place_.source.is_exclusive()) {
        options.epoch = place_.permit.is_shared(partition_) ? Epoch{0} : epoch_;
    }
    options.name = options_.id;
    options.prefetch_events = options_.prefetch_events;
    options.prefetch_bytes = options_.prefetch_bytes;
    options.track_end = options_.track_end;
    intake_.await(landmark_);
    const Position from = landmark_ ? Position::at_sequence(landmark_->sequence) : position_;
    place_.source.open(partition_, from, options,
                       while_current([this](Result<std::unique_ptr<source::Reader>> reader) {
                           if (!reader.ok()) {
                               return restart(ErrorScope::source, "open", reader.error());
                           }
                           intake_.attach(std::move(*reader));
                           opening_ = Opening::open;
                           heard(true);
                           intake_.fill();
                           dispatch();
                       }));
}

// The hub and the checkpoint contradict each other: nothing is handled until an operator decides.
void Pump::refuse(const Error& error) {
    // Look at what is stored again, unless we are further than that.
    if (last_taken_ < 0) opening_ = Opening::sealing;
    restart(ErrorScope::checkpoint, "resume",
            {error.code,
             fmt::format("{}. Partition {} stands still until its position is set: evenkeel "
                         "checkpoint set {} --group '{}' --partition {} --to POSITION --force",
                         error.detail, partition_.value, place_.source.name().event_hub,
                         options_.group, partition_.value)});
}

// PUMP-5: from here it goes on by itself.
void Pump::restart(ErrorScope scope, std::string_view operation, const Error& error) {
    if (error.code == ErrorCode::fenced) return fenced();
    drop_reader();
    if (scope == ErrorScope::source) {
        unheard();
    } else {
        unread_since_.reset();
    }
    const Duration delay = restart_delay(++failures_, random_);
    restart_timer_ = place_.loop.run_after(delay, [this] {
        restart_timer_.reset();
        if (opening_ == Opening::sealing) return seal();
        if (is_position_ours_ || seek_) return open_handler();
        look();
    });
    report(scope, operation, error, delay);
}

// What was read but not handed out is read again.
void Pump::drop_reader() {
    ++round_;
    intake_.detach();
    cancel(restart_timer_);
    if (opening_ > Opening::looking) opening_ = Opening::looking;
    if (turn_ == Turn::idle) cancel(turn_timer_);
    if (last_taken_ < 0) return;  // nothing was handed out: from where we began
    intake_.set_last_read(last_taken_);
    landmark_ = taken_;
    resumed_.sequence = {last_taken_};
    resumed_.offset = taken_.offset < 0 ? "" : std::to_string(taken_.offset);
    resumed_.enqueued_ms = taken_.enqueued_ms;
    resumed_.hub_created_ms = hub_created_ms_;
    position_ = Position::after_sequence(last_taken_);
}

}  // namespace evenkeel::processor
