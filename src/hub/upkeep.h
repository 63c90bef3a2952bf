// What a hub does by itself while it runs: retention, a look at its lock and its journals, a note
// of the time. At the start it judges the wall clock by what the data folder knows
// (hub/folder_clock.h).
//
// Ownership: has its timers; event hubs, lock and files belong to the namespace and outlive it.
// Threads: pinned to the hub's loop. The lock and the note are left to the metadata executor.
// Failure: what fails is logged and tried again at the next turn.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commitlog/retention.h"
#include "hub/event_hub.h"
#include "hub/folder_clock.h"
#include "hub/folder_lock.h"
#include "hub/namespace_context.h"
#include "io/timer.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

using EventHubs = std::map<std::string, std::unique_ptr<EventHub>>;  // by folded name

class Upkeep {
public:
    // `saved` is the clock as the data folder had it at the start.
    Upkeep(const NamespaceContext& context, const HubOptions& options, const EventHubs& event_hubs,
           FolderLock& lock, std::optional<ClockRecord> saved);

    // When all partitions are open; `last_event` is the latest time in them.
    void judge_time(WallTime last_event);
    void begin();
    void stop();

    void retain_now() const;
    void sample_traffic() const;

private:
    void schedule_retention();
    void watch_lock();
    void tend_journals() const;
    void remember_time();
    void report_future_events() const;

    const NamespaceContext& context_;
    const HubOptions& options_;
    const EventHubs& event_hubs_;
    FolderLock& lock_;
    const commitlog::RetentionClock clock_;
    std::optional<ClockRecord> saved_;
    std::vector<commitlog::ClockGap> gaps_;
    io::Timer retention_timer_{context_.loop};
    io::Timer lock_timer_{context_.loop};
    io::Timer clock_timer_{context_.loop};
};

}  // namespace evenkeel::hub
