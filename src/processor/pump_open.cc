// How a pump gets to its reader, and back to it after a failure.
// tidy: no test: pump_test.cc tests pumps as a whole
#include <fmt/core.h>

#include "processor/canary.h"
#include "processor/pump.h"
#include "processor/retry.h"

namespace evenkeel::processor {

using checkpoint::Checkpoint;

void Pump::seal() {
    opening_ = Opening::sealing;
    place_.store.seal(partition_, epoch_, while_current([this](Result<Checkpoint> sealed) {
                          if (canary_failed_seal_is_none && !sealed.ok()) {
                              sealed = Checkpoint{.partition = partition_, .epoch = epoch_};
                          }
                          if (!sealed.ok()) {
                              return restart(ErrorScope::store, "seal", sealed.error());
                          }
                          resumed_ = std::move(*sealed);
                          checkpoints_.begin(resumed_);
                          event_failures_ = resumed_.attempts;
                          handled_sequence_ = resumed_.sequence.value;
                          look();
                      }));
}

void Pump::look() {
    opening_ = Opening::looking;
    place_.source.properties(while_current([this](Result<source::HubProperties> hub) {
        if (!hub.ok()) return restart(ErrorScope::source, "look at the hub", hub.error());
        const std::int64_t created_ms = hub->created_ms;
        place_.source.properties(
            partition_,
            while_current([this, created_ms](Result<source::PartitionProperties> partition) {
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
    last_enqueued_ = partition.last.value;
    const auto resumed = resume(resumed_, partition, created_ms, start_position());
    if (!resumed.ok()) return restart(ErrorScope::checkpoint, "resume", resumed.error());
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
    checkpoints_.advance({resumed->handled.value, 0, -1}, 0);
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
    resumed_.sequence = resume.handled;
    if (last_taken_ < 0) handled_sequence_ = resume.handled.value;
    last_read_ = resume.handled.value;
    may_skip_ = resume.notice.has_value();
    open_handler();
}

void Pump::open_handler() {
    if (cell_) return attach();
    opening_ = Opening::opening_handler;
    cell_ = std::make_shared<HandlerCell>(place_.loop, place_.workers, partition_, epoch_);
    cell_->open(*this, place_.handlers);
}

void Pump::attach() {
    opening_ = Opening::attaching;
    next_since_ = place_.loop.clock().now();
    if (seek_) {
        position_ = *seek_;
        seek_.reset();
        is_position_ours_ = true;
        last_read_ = last_taken_ = -1;
    }
    source::ReadOptions options;
    if (place_.source.is_exclusive()) {
        options.epoch = place_.permit.is_shared(partition_) ? Epoch{0} : epoch_;
    }
    options.name = options_.id;
    options.prefetch_events = options_.prefetch_events;
    options.prefetch_bytes = options_.prefetch_bytes;
    options.track_end = options_.track_end;
    place_.source.open(partition_, position_, options,
                       while_current([this](Result<std::unique_ptr<source::Reader>> reader) {
                           if (!reader.ok()) {
                               return restart(ErrorScope::source, "open", reader.error());
                           }
                           reader_ = std::move(*reader);
                           opening_ = Opening::open;
                           fill();
                           dispatch();
                       }));
}

// P5: from here it goes on by itself.
void Pump::restart(ErrorScope scope, std::string_view operation, const Error& error) {
    if (error.code == ErrorCode::fenced) return fenced();
    drop_reader();
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
    reader_.reset();
    is_reading_ = false;
    next_ = {};
    cancel(restart_timer_);
    cancel(read_timer_);
    if (opening_ > Opening::looking) opening_ = Opening::looking;
    if (turn_ == Turn::idle) cancel(turn_timer_);
    if (last_taken_ < 0) return;  // nothing was handed out: from where we began
    last_read_ = last_taken_;
    resumed_.sequence = {last_taken_};
    resumed_.hub_created_ms = hub_created_ms_;
    position_ = Position::after_sequence(last_taken_);
}

}  // namespace evenkeel::processor
