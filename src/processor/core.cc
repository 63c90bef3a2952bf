#include "processor/core.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::processor {
namespace {

// What the next owner handles again, if this pump has left its partition as it is.
std::optional<std::int64_t> repeated_after(const PartitionStatus& last) {
    if (last.events_handled == 0) return 0;
    if (last.checkpoint_sequence < 0) return std::nullopt;  // it begins where its options say
    return std::max<std::int64_t>(0, last.handled_sequence - last.checkpoint_sequence);
}

}  // namespace

Core::Core(const CorePlace& place, ProcessorOptions options, HandlerFactory handlers,
           CoordinatorOptions coordination, Random random, std::function<void(Error)> ended)
    : store_(place.loop, place.store, coordination.timing.request_max),
      place_{place.loop,   place.workers,      store_,
             place.source, place.dead_letters, place.on_store_lost},
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      random_(random),
      ended_(std::move(ended)),
      stored_letters_(store_),
      journal_(place.loop, store_),
      are_gaps_told_(!coordination.timing.is_thrifty),
      requests_(place.loop, store_, coordination.incarnation, 2 * coordination.timing.poll,
                {[this](const Requests& requests) { on_requests(requests); },
                 [this](const Error& error, Duration in) {
                     // Its file was replaced: what it answers is not to be trusted.
                     if (error.code == ErrorCode::corrupt) return guard_.lose({error});
                     on_failure({ErrorScope::store, std::nullopt, "look for requests", error, true,
                                 std::chrono::duration_cast<std::chrono::milliseconds>(in)});
                 }},
                random_.fork()),
      parked_(place.loop, store_, random_.fork(),
              {[this] { hold_pumps(); },
               [this](PartitionId partition, const Error& error, Duration in) {
                   on_failure({ErrorScope::store, partition.value, "store that it is parked", error,
                               true, std::chrono::duration_cast<std::chrono::milliseconds>(in)});
               }}),
      reach_(coordination.timing.unread_max, place.loop.clock().now()),
      guard_({place.loop, store_, random_, store_mark_period(coordination.timing),
              options_.accept_store_loss},
             *this),
      loss_({place.loop, store_, random_, options_}, *this) {
    // At owner level 0 the newest reader wins, also one that was replaced: then the lease decides.
    coordination.exclusive_source = place.source.is_exclusive() && !coordination.may_be_mixed;
    if (coordination.may_be_mixed) coordination.on_look = [this] { requests_.look_now(); };
    coordination.on_doubt = [this] { requests_.look_now(); };
    coordination.on_failure = [this](const Failure& failure) { on_failure(failure); };
    coordination.on_ended = [this](const Error& error) {
        requests_.stop();
        end(error);
    };
    if (options_.by_load) {
        coordination.load = [this](PartitionId partition) { return load_of(partition); };
    }
    coordination.on_move = [this](OwnerMove move) { on_move(std::move(move)); };
    coordinator_ = std::make_unique<Coordinator>(place.loop, store_, *this, std::move(coordination),
                                                 random_.fork());
}

Core::~Core() {
    coordinator_.reset();
    slots_.clear();
}

void Core::start(Callback<void(Result<>)> started) {
    place_.loop.check_here();
    place_.source.properties(lifetime_.guard(
        [this, started = std::move(started)](Result<source::HubProperties> hub) mutable {
            if (!hub.ok()) return started(hub.error());
            partitions_ = hub->partitions;
            identity_ = hub->identity;
            on_heard();
            guard_.join([this, started = std::move(started)](Result<> joined) mutable {
                if (!joined.ok()) return started(std::move(joined));
                take_part(std::move(started));
            });
        }));
}

void Core::take_part(Callback<void(Result<>)> started) {
    is_started_ = true;
    coordinator_->start(
        partitions_, lifetime_.guard([this, started = std::move(started)](Result<> joined) mutable {
            if (joined.ok()) {
                look_again();
                watch_reach();
                requests_.start();
            }
            started(std::move(joined));
        }));
}

// The event hub may have grown.
void Core::look_again() {
    if (is_stopping_) return;
    timer_.run_after(refresh, [this] {
        place_.source.properties(lifetime_.guard([this](const Result<source::HubProperties>& hub) {
            if (is_stopping_) return;
            if (!hub.ok()) {
                const auto in = std::chrono::duration_cast<std::chrono::milliseconds>(refresh);
                on_failure(
                    {ErrorScope::source, std::nullopt, "look at the hub", hub.error(), true, in});
            } else if (on_hub(*hub) && hub->partitions > partitions_) {
                partitions_ = hub->partitions;
                coordinator_->set_partitions(partitions_);
            }
            look_again();
        }));
    });
}

// Goes on while it stops: what cannot be read is handed over all the same.
void Core::watch_reach() {
    reach_timer_.run_after(reach_.period(), [this] {
        look_at_reach();
        watch_reach();
    });
}

void Core::look_at_reach() {
    const Instant now = place_.loop.clock().now();
    std::optional<Instant> in_vain_since;
    for (const auto& [partition, slot] : slots_) {
        if (!slot.pump) continue;
        const std::optional<Instant> since = slot.pump->unread_since();
        if (!since) {
            in_vain_since.reset();
            break;
        }
        in_vain_since = std::max(in_vain_since.value_or(*since), *since);
    }
    reach_.set_pumps(in_vain_since);
    if (reach_.is_question_due(now)) {
        place_.source.properties(lifetime_.guard([this](const Result<source::HubProperties>& hub) {
            if (!hub.ok()) return;
            on_heard();
            look_at_reach();
        }));
    }
    const std::optional<Instant> unread = reach_.unread_since(now);
    if (unread.has_value() != is_unread_) {
        is_unread_ = unread.has_value();
        if (is_unread_) {
            on_failure({ErrorScope::source, std::nullopt, "read",
                        Error{ErrorCode::timed_out,
                              "nothing can be read from the hub; if that lasts, the partitions go "
                              "to instances that can read them"},
                        true});
        }
    }
    coordinator_->set_unread(unread);
}

double Core::load_of(PartitionId partition) {
    const auto found = slots_.find(partition);
    const bool is_open = found != slots_.end() && found->second.pump;
    const std::uint64_t handled = is_open ? found->second.pump->status().events_handled : 0;
    return loads_.load(partition, handled, place_.loop.clock().now());
}

void Core::open(PartitionId partition, Epoch epoch) {
    Slot& slot = slots_[partition];
    EK_CHECK(!slot.pump && !slot.waits_with, "a partition is opened once");
    if (slot.is_undrained) {
        slot.waits_with = epoch;
        return on_failure({ErrorScope::handler, partition.value, "open handler",
                           Error{ErrorCode::timed_out,
                                 "its handler of the time before still runs; waiting for it"},
                           true});
    }
    slot.pump_number = ++pumps_;
    slot.repeated = 0;
    DeadLetters& letters = place_.dead_letters ? *place_.dead_letters : stored_letters_;
    slot.pump =
        std::make_unique<Pump>(PumpPlace{place_.loop, place_.workers, place_.store, place_.source,
                                         *coordinator_, letters, options_, handlers_},
                               static_cast<PumpOwner&>(*this), partition, epoch, random_.fork());
    slot.pump->hold(is_held(partition));
    slot.pump->start();
    guard_.settle();
}

void Core::on_move(OwnerMove move) {
    Slot& slot = slots_[move.partition];
    // It was drained. Not by us, if we take it up again after a restart.
    const bool is_given_away = move.from == options_.id && move.to != options_.id;
    if (is_given_away && !slot.is_undrained) move.repeated = slot.repeated;
    // Nobody read it before: there is no gap.
    if (move.to == options_.id && move.from.empty()) slot.told_epoch = move.epoch;
    journal_.add(std::move(move));
}

void Core::on_reading(PartitionId partition, Epoch epoch) {
    Slot& slot = slots_[partition];
    if (!are_gaps_told_ || slot.told_epoch == epoch) return;
    slot.told_epoch = epoch;
    journal_.note_read(partition, epoch);
}

bool Core::is_held(PartitionId partition) const {
    return !guard_.is_trusted() || !paused_ || paused_->contains(partition) ||
           parked_.contains(partition);
}

void Core::hold_pumps() {
    for (auto& [partition, slot] : slots_) {
        if (!slot.pump) continue;
        slot.pump->hold(is_held(partition));
        tell_parked(partition, slot);
    }
}

// Once for each owner: it was parked before.
void Core::tell_parked(PartitionId partition, Slot& slot) {
    const auto parked = parked_.find(partition);
    if (parked && !slot.is_parked_told) {
        on_failure(
            {ErrorScope::handler, partition.value, "parked",
             Error{ErrorCode::handler_failed,
                   fmt::format("{}; it waits for 'evenkeel processor resume'", parked->reason)},
             false});
    }
    slot.is_parked_told = parked.has_value();
}

void Core::on_requests(const Requests& requests) {
    if (is_stopping_ || !guard_.is_same(requests.store)) return;
    parked_.seen(requests.parked);
    if (paused_ != requests.paused) {
        paused_ = requests.paused;
        hold_pumps();
    }
    if (!requests.drain) return;
    checkpoint::Record done = *requests.drain;
    done.value.clear();
    place_.store.write_record(done, [](const Result<std::string>&) {});
    stop([this](const StopReport&) {
        end({ErrorCode::cancelled, "it was asked to drain: all is handed over"});
    });
}

void Core::close(PartitionId partition, CloseReason reason, Task done) {
    Slot& slot = slots_[partition];
    if (!slot.pump) {
        slot.waits_with.reset();
        return place_.loop.post(std::move(done));
    }
    slot.pump->close(
        reason, [this, partition, number = slot.pump_number, done = std::move(done)]() mutable {
            retire(partition, number);
            done();
        });
}

void Core::retire(PartitionId partition, std::uint64_t pump_number) {
    Slot& slot = slots_[partition];
    if (!slot.pump || slot.pump_number != pump_number) return;
    const PartitionStatus last = slot.pump->status();
    events_handled_ += last.events_handled;
    dead_letters_ += last.dead_letters;
    slot.repeated = repeated_after(last);
    loss_.remember(slot.pump->progress());
    slot.pump.reset();
    loads_.forget(partition);
}

void Core::on_failure(const Failure& failure) {
    if (!options_.on_error) return;
    Callback<Result<>()> call = [&]() -> Result<> {
        options_.on_error(failure);
        return {};
    };
    (void)call_user(call);  // there is nobody left to tell
}

void Core::on_needless_checkpoint(PartitionId partition) {
    if (std::exchange(is_needless_checkpoint_reported_, true)) return;
    on_failure(
        {ErrorScope::checkpoint, partition.value, "checkpoint",
         Error{ErrorCode::unsupported,
               "checkpoint() was called, but checkpoints are automatic: all that the handler "
               "has finished is stored without it. A handler that keeps events after it has "
               "returned needs checkpoints.manual; others need no call"},
         false});
}

void Core::on_undrained(PartitionId partition, bool is_running) {
    Slot& slot = slots_[partition];
    slot.is_undrained = is_running;
    if (is_running) return not_drained_.push_back(partition);
    std::erase(not_drained_, partition);
    if (!slot.waits_with) return;
    const Epoch epoch = *slot.waits_with;
    slot.waits_with.reset();
    open(partition, epoch);
}

void Core::on_stop_wanted(PartitionId partition, const Error& error) {
    // Cancelled is who was asked to drain.
    const ErrorCode code =
        error.code == ErrorCode::cancelled ? ErrorCode::handler_failed : error.code;
    const Error why{code, fmt::format("a poisonous event of partition {} ended the "
                                      "processor: {}",
                                      partition.value, error.detail)};
    stop_because(why);
}

void Core::on_parked(PartitionId partition, bool is_storm, const std::string& reason) {
    parked_.park(partition,
                 {place_.loop.clock().wall().milliseconds, is_storm, options_.id, reason});
    slots_[partition].is_parked_told = true;  // by the pump
    place_.loop.post(lifetime_.guard([this] { hold_pumps(); }));
}

void Core::on_unparked(PartitionId partition) {
    parked_.unpark(partition);
    place_.loop.post(lifetime_.guard([this] { hold_pumps(); }));
}

// Not from within the pump: it is to be closed.
void Core::stop_because(const Error& why) {
    place_.loop.post(lifetime_.guard([this, why] {
        if (is_stopping_) return;
        stop([this, why](const StopReport&) { end(why); });
    }));
}

bool Core::on_hub(const source::HubProperties& hub) {
    if (identity_.empty()) identity_ = hub.identity;  // it was updated to a version that has one
    if (hub.identity == identity_) return true;
    stop_because(
        {ErrorCode::invalid_argument,
         fmt::format("another hub answers at this address now ({}; it was {}); the "
                     "group's entries are not its own. Start the processor again once "
                     "the right one is there",
                     hub.identity.empty() ? "one without identity" : hub.identity, identity_)});
    return false;
}

void Core::confirm_store(Callback<void(Result<>)> answer) {
    guard_.confirm(std::move(answer));
}

// No call of the handler begins any more.
void Core::on_store_lost(const StoreVerdict& verdict) {
    is_stopping_ = true;
    timer_.cancel();
    hold_pumps();
    stopped_.push_back([this, why = verdict.error](const StopReport&) { end(why); });
    on_failure(
        {ErrorScope::store, std::nullopt, "look at the store",
         Error{ErrorCode::corrupt, "it is not the store that this processor began with: it stops"},
         false});
    // Not within a call of what is stopped here.
    place_.loop.post(lifetime_.guard([this, is_accepted = verdict.is_accepted] {
        requests_.stop();
        if (!is_accepted && place_.on_store_lost) place_.on_store_lost();
        loss_.begin(guard_.incarnation(), is_accepted);
    }));
}

std::vector<checkpoint::Checkpoint> Core::progress() const {
    std::vector<checkpoint::Checkpoint> all;
    for (const auto& [partition, slot] : slots_) {
        if (slot.pump) all.push_back(slot.pump->progress());
    }
    return all;
}

bool Core::has_pumps() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const auto& each) { return each.second.pump != nullptr; });
}

bool Core::is_handling() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const auto& each) {
        return each.second.pump && each.second.pump->is_handling();
    });
}

void Core::end(const Error& error) {
    auto ended = std::move(ended_);
    ended_ = nullptr;
    if (ended) ended(error);
}

void Core::stop(Callback<void(const StopReport&)> stopped) {
    place_.loop.check_here();
    if (report_) return stopped(*report_);
    stopped_.push_back(std::move(stopped));
    if (is_stopping_) return;
    is_stopping_ = true;
    timer_.cancel();
    requests_.stop();
    if (!is_started_) return left();
    coordinator_->leave(lifetime_.guard([this] { left(); }));
}

void Core::left() {
    journal_.flush(last_words, lifetime_.guard([this] { finish(); }));
}

void Core::finish() {
    StopReport report;
    report.is_clean = true;
    for (auto& [partition, slot] : slots_) {
        // Given up by the coordinator before it was closed.
        if (slot.pump) not_drained_.push_back(partition);
    }
    for (const PartitionId partition : not_drained_) {
        report.is_clean = false;
        report.not_drained.push_back(partition.value);
    }
    report_ = report;
    auto told = std::move(stopped_);
    stopped_.clear();
    for (auto& each : told) each(report);
}

ProcessorStatus Core::status() const {
    const CoordinatorStatus known = coordinator_->status();
    ProcessorStatus status;
    status.id = options_.id;
    status.members = known.members;
    status.is_balanced = known.is_balanced;
    status.claims = known.claims;
    status.handed_over = known.handed_over;
    status.received = known.received;
    status.lost = known.lost;
    status.events_handled = events_handled_;
    status.dead_letters = dead_letters_;
    for (const auto& [partition, slot] : slots_) {
        if (!slot.pump) continue;
        status.partitions.push_back(slot.pump->status());
        PartitionStatus& last = status.partitions.back();
        status.events_handled += last.events_handled;
        status.dead_letters += last.dead_letters;
        const auto parked = parked_.find(partition);
        if (!parked || last.state != "paused") continue;
        last.state = "parked";
        last.reason = parked->reason;
    }
    return status;
}

}  // namespace evenkeel::processor
