#include "hub/upkeep.h"

#include "base/log.h"

namespace evenkeel::hub {
namespace {

constexpr auto lock_interval = std::chrono::seconds(1);
constexpr auto clock_interval = std::chrono::minutes(5);
constexpr auto worth_a_warning = std::chrono::hours(24);

}  // namespace

Upkeep::Upkeep(const NamespaceContext& context, const HubOptions& options,
               const EventHubs& event_hubs, FolderLock& lock, std::optional<ClockRecord> saved)
    : context_(context),
      options_(options),
      event_hubs_(event_hubs),
      lock_(lock),
      clock_(context.loop.clock()),
      saved_(std::move(saved)) {}

void Upkeep::begin() {
    schedule_retention();
    watch_lock();
    remember_time();
}

void Upkeep::stop() {
    retention_timer_.cancel();
    lock_timer_.cancel();
    clock_timer_.cancel();
}

// An idle hub notices as well that its folder is not its own any more, and says so.
void Upkeep::watch_lock() {
    lock_timer_.run_after(lock_interval, [this] {
        context_.metadata.post([lock = &lock_] { (void)lock->check(); });
        tend_journals();
        watch_lock();
    });
}

// What an idle hub's journals could not carry out is tried again, too.
void Upkeep::tend_journals() const {
    for (std::size_t i = 0; i < context_.journals.size(); ++i) {
        context_.disks[i]->post(
            [journal = context_.journals[i]->shared_from_this()] { journal->tend(); });
    }
}

void Upkeep::schedule_retention() {
    retention_timer_.run_after(options_.retention_interval, [this] {
        retain_now();
        schedule_retention();
    });
}

void Upkeep::retain_now() const {
    context_.loop.check_here();
    const WallTime now = clock_.now();
    for (const auto& [name, event_hub] : event_hubs_) event_hub->retain(now, gaps_);
}

void Upkeep::sample_traffic() const {
    context_.loop.check_here();
    const Instant now = context_.loop.clock().now();
    for (const auto& [name, event_hub] : event_hubs_) event_hub->sample_traffic(now);
}

void Upkeep::judge_time(WallTime last_event) {
    ClockWitnesses witnesses;
    witnesses.saved = std::move(saved_);
    witnesses.last_event = last_event;
    witnesses.wall = clock_.now();
    witnesses.steady = context_.loop.clock().now();
    witnesses.boot = context_.boot;
    report_future_events();
    if (options_.trust_clock) return;
    auto judged = judge_clock(witnesses);
    gaps_ = std::move(judged.gaps);
    if (judged.ahead.count() > 0) {
        trace(judged.ahead > worth_a_warning ? TraceLevel::warning : TraceLevel::info,
              "the clock is ahead of what the data folder knows; events that were stored before "
              "are kept as if that time had not passed",
              {{"clock", to_string(witnesses.wall)},
               {"ahead_seconds", std::to_string(judged.ahead.count() / 1000)},
               {"try", "start with --trust-clock if the clock is right and old events may go"}});
    }
}

// Times never fall within a partition, so an event from a wrong clock sets the time of all behind
// it until the clock is there.
void Upkeep::report_future_events() const {
    const WallTime wall = clock_.now();
    for (const auto& [name, event_hub] : event_hubs_) {
        const WallTime last = event_hub->last_enqueued();
        if (last - wall <= clock_step_believed) continue;
        trace(
            TraceLevel::warning, "the last events were stored with a time in the future",
            {{"event_hub", event_hub->record().name},
             {"last_event", to_string(last)},
             {"clock", to_string(wall)},
             {"try", "set the clock right; events get that time until the clock has reached it"}});
    }
}

void Upkeep::remember_time() {
    ClockRecord record{clock_.expected(), context_.boot, context_.loop.clock().now(), gaps_};
    context_.metadata.post([this, record = std::move(record)] {
        const auto saved = save_clock(context_.files, options_.directory, record);
        if (!saved.ok()) {
            trace(TraceLevel::warning, "the time could not be noted in the data folder",
                  {{"cause", saved.error().detail}});
        }
    });
    clock_timer_.run_after(clock_interval, [this] { remember_time(); });
}

}  // namespace evenkeel::hub
