#include "processor/pump/opening.h"

#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
#include "processor/pump/checkpointer.h"
#include "processor/pump/intake.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Checkpoint;

Opening::Opening(const Place& place, Pump& pump)
    : place_(place.place),
      owner_(place.owner),
      partition_(place.partition),
      epoch_(place.epoch),
      random_(place.random),
      checkpoints_(place.checkpoints),
      intake_(place.intake),
      pump_(pump) {}

void Opening::seal() {
    set_state(State::sealing);
    place_.store.seal(partition_, epoch_, while_current([this](Result<Checkpoint> sealed) {
                          if (EK_CANARY(failed_seal_is_none) && !sealed.ok()) {
                              sealed = Checkpoint{.partition = partition_, .epoch = epoch_};
                          }
                          if (!sealed.ok()) {
                              return restart(ErrorScope::store, "seal", sealed.error());
                          }
                          position_.set_checkpoint(*sealed);
                          pump_.on_checkpoint(*sealed);
                          confirm();
                      }));
}

// PUMP-8: an emptied store seals anything, and has no checkpoints.
void Opening::confirm() {
    set_state(State::confirming);
    if (EK_CANARY(believes_any_store)) return look();
    owner_.confirm_store(while_current([this](const Result<>& confirmed) {
        if (!confirmed.ok())
            return restart(ErrorScope::store, "look at the store", confirmed.error());
        look();
    }));
}

void Opening::look() {
    set_state(State::looking);
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

const Position& Opening::start_position() const {
    const ProcessorOptions& options = place_.options;
    const auto own = options.start_of.find(partition_.value);
    return own == options.start_of.end() ? options.start : own->second;
}

void Opening::decide(std::int64_t created_ms, const source::PartitionProperties& partition) {
    intake_.set_last_enqueued(partition.last.value);
    const auto resumed = resume(position_.checkpoint(), partition, created_ms, start_position());
    if (!resumed.ok()) return refuse(resumed.error());
    if (resumed->must_reset && !pump_.is_idle()) {
        // The handler still has events of the old hub.
        return restart(ErrorScope::checkpoint, "resume", *resumed->notice);
    }
    if (resumed->notice) {
        pump_.report(ErrorScope::checkpoint, "resume", *resumed->notice, std::nullopt);
    }
    position_.set_hub(created_ms);
    if (resumed->must_reset) return reset_checkpoint(created_ms);
    if (resumed->handled.value >= 0 || resumed->must_pin) position_.tie_to_hub();
    checkpoints_.set_hub(created_ms, resumed->must_pin);
    if (resumed->must_pin) return pin(*resumed, partition);
    go_on(*resumed);
}

// Stored before the first event is read, so that the next owner begins here too. An operator may
// have set a position meanwhile, also a lower one, which this write would replace. So the store is
// asked once more right before it, and the write is not repeated: a failure begins with the store.
void Opening::pin(const Resume& resume, const source::PartitionProperties& partition) {
    set_state(State::pinning);
    if (!place_.permit.may_act(partition_)) {  // PUMP-11
        timer_.run_after(Checkpointer::permit_poll,
                         [this, resume, partition] { pin(resume, partition); });
        return;
    }
    place_.store.seal(
        partition_, epoch_,
        while_current([this, resume, partition](const Result<Checkpoint>& sealed) {
            if (!sealed.ok()) return restart(ErrorScope::checkpoint, "pin", sealed.error());
            const Checkpoint& known = position_.checkpoint();
            if (sealed->sequence == known.sequence && sealed->offset == known.offset) {
                return write_pin(resume, partition);
            }
            position_.set_checkpoint(*sealed);
            pump_.on_checkpoint(*sealed);
            look();
        }));
}

void Opening::write_pin(const Resume& resume, const source::PartitionProperties& partition) {
    Mark mark{resume.handled.value, 0, -1};
    Checkpoint pinned = checkpoints_.checkpoint();
    pinned.sequence = resume.handled;
    if (mark.sequence >= 0) {
        mark.offset = partition.last_offset.value;
        mark.enqueued_ms = partition.last_enqueued_ms;
        pinned.offset = std::to_string(mark.offset);
        pinned.enqueued_ms = mark.enqueued_ms;
    }
    place_.store.write_checkpoint(
        pinned, while_current([this, resume, mark](const Result<>& stored) {
            if (!stored.ok()) return restart(ErrorScope::checkpoint, "pin", stored.error());
            checkpoints_.note_stored(mark);
            go_on(resume);
        }));
}

void Opening::reset_checkpoint(std::int64_t created_ms) {
    Checkpoint fresh;
    fresh.partition = partition_;
    fresh.epoch = epoch_;
    fresh.hub_created_ms = created_ms;
    place_.store.reset_checkpoint(fresh, while_current([this, fresh](const Result<>& reset) {
                                      if (!reset.ok()) {
                                          return restart(ErrorScope::store, "reset", reset.error());
                                      }
                                      position_.set_checkpoint(fresh);
                                      position_.forget_taken();
                                      pump_.on_checkpoint(fresh);
                                      Resume beginning;
                                      beginning.position = Position::earliest();
                                      go_on(beginning);
                                  }));
}

void Opening::go_on(const Resume& resume) {
    position_.begin(resume);
    if (last_taken() < 0) pump_.on_resumed(resume.handled);
    intake_.set_last_read(resume.handled.value);
    intake_.set_may_skip(resume.notice.has_value());
    open_handler();
}

void Opening::open_handler() {
    if (pump_.has_handler()) return attach();
    unread_since_.reset();  // it may take its time
    set_state(State::opening_handler);
    pump_.open_handler();
}

void Opening::on_handler_opened(const Result<>& opened) {
    EK_CHECK(state_ == State::opening_handler, "a handler that was not asked for");
    if (opened.ok()) return attach();
    restart(ErrorScope::handler, "open handler", opened.error());
}

void Opening::attach() {
    set_state(State::attaching);
    unheard();
    intake_.wait_from(place_.loop.clock().now());
    if (position_.apply_seek()) intake_.set_last_read(-1);
    const ProcessorOptions& given = place_.options;
    source::ReadOptions options;
    if (place_.source.is_exclusive()) {
        options.epoch = place_.permit.is_shared(partition_) ? Epoch{0} : epoch_;
    }
    options.name = given.id;
    options.prefetch_events = given.prefetch_events;
    options.prefetch_bytes = given.prefetch_bytes;
    options.track_end = given.track_end;
    intake_.await(position_.landmark());
    place_.source.open(partition_, position_.next(), options,
                       while_current([this](Result<std::unique_ptr<source::Reader>> reader) {
                           if (!reader.ok()) {
                               return restart(ErrorScope::source, "open", reader.error());
                           }
                           intake_.attach(std::move(*reader));
                           set_state(State::open);
                           heard(true);
                           pump_.on_reader();
                       }));
}

void Opening::seek_now() {
    drop_reader();
    attach();
}

void Opening::refuse(const Error& error) {
    const Error refused{
        error.code,
        fmt::format("{}. Partition {} stands still until its position is set: evenkeel "
                    "checkpoint set {} --group '{}' --partition {} --to POSITION --force",
                    error.detail, partition_.value, place_.source.name().event_hub,
                    place_.options.group, partition_.value)};
    drop_reader();
    // Look at what is stored again, unless we are further than that.
    if (last_taken() < 0) set_state(State::sealing);
    wait_to_restart(ErrorScope::checkpoint, "resume", refused);
}

void Opening::restart(ErrorScope scope, std::string_view operation, const Error& error) {
    if (error.code == ErrorCode::fenced) return pump_.on_fenced();
    drop_reader();
    wait_to_restart(scope, operation, error);
}

void Opening::restart_from_store(std::string_view operation, const Error& error) {
    if (error.code == ErrorCode::fenced) return pump_.on_fenced();
    drop_reader();
    set_state(State::sealing);
    wait_to_restart(ErrorScope::store, operation, error);
}

// PUMP-5: from here it goes on by itself.
void Opening::wait_to_restart(ErrorScope scope, std::string_view operation, const Error& error) {
    if (scope == ErrorScope::source) {
        unheard();
    } else {
        unread_since_.reset();
    }
    const Duration delay = restart_delay(++failures_, random_);
    timer_.run_after(delay, [this] {
        if (state_ < State::looking) return seal();
        if (position_.is_chosen()) return open_handler();
        look();
    });
    check_state();
    pump_.report(scope, operation, error, delay);
}

void Opening::drop_reader() {
    ++round_;
    intake_.detach();
    timer_.cancel();
    if (state_ > State::looking) set_state(State::looking);
    pump_.on_reader_dropped();
    // If nothing was handed out: from where we began.
    if (position_.rewind()) intake_.set_last_read(last_taken());
}

void Opening::heard(bool is_reading) {
    if (is_reading) unread_since_.reset();
    owner_.on_heard();
}

void Opening::unheard() {
    if (!unread_since_) unread_since_ = place_.loop.clock().now();
}

Duration Opening::on_read_failed() {
    unheard();
    return restart_delay(++failures_, random_);
}

void Opening::set_state(State state) {
    state_ = state;
    check_state();
}

void Opening::check_state() const {
    EK_CHECK((state_ == State::open) == intake_.has_reader(), "a state without its reader");
    EK_CHECK(state_ < State::attaching || pump_.has_handler(), "reads without a handler");
    EK_CHECK(!timer_.is_pending() || state_ <= State::looking,
             "waits and is on its way at the same time");
}

}  // namespace evenkeel::processor
