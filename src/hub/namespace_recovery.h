// Opens the partitions of a hub after a start: all of them before anybody is served, or one after
// the other on the disk executors, while those that are open work already.
//
//   add (each event hub) ──▶ open_all, or start ──▶ take (each log) ──▶ finished
//
// Ownership: a log that was opened goes to `take`. Namespace and folders outlive it.
// Threads: pinned to the hub's loop, but for open_all(), which blocks and comes before.
// Failure: a partition that cannot be opened does not stop the others; `take` gets its error.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/log.h"
#include "hub/catalogue.h"
#include "hub/hub_folders.h"
#include "hub/namespace_context.h"

namespace evenkeel::hub {

class NamespaceRecovery {
public:
    using Done = Callback<void(Result<>)>;
    using OpenedLog = Result<std::unique_ptr<commitlog::Log>>;
    using Take = Callback<void(const EventHubRecord& record, PartitionId partition, OpenedLog log)>;

    NamespaceRecovery(const NamespaceContext& context, const HubFolders& folders, Take take);

    struct Progress {
        std::uint32_t partitions = 0;
        std::uint32_t recovered = 0;
        bool done() const { return recovered == partitions; }
    };
    const Progress& progress() const { return progress_; }
    // The latest event of all partitions, as they were recovered.
    WallTime last_event() const { return last_event_; }

    // An event hub whose partitions are to be opened.
    void add(const EventHubRecord& record);
    // Opens all of them now; blocks.
    void open_all();
    // Opens them on the disk executors; `finished` runs on the loop after the last one.
    void start(Task finished);
    // Opens no further partitions; those that wait for the end get `cancelled`.
    void stop();

    // Calls `done` at once if all are open, and otherwise by tell_waiting() or stop().
    void when_done(Done done);
    void tell_waiting();

private:
    struct Unrecovered {
        EventHubRecord record;
        PartitionId partition;
    };

    void recover_next(std::size_t disk);
    void take_recovered(const Unrecovered& which, OpenedLog log);
    void check_state() const;

    const NamespaceContext& context_;
    const HubFolders& folders_;
    Take take_;
    Task finished_;
    std::vector<std::deque<Unrecovered>> unrecovered_;  // by disk; not begun
    Progress progress_;
    WallTime last_event_{0};
    std::vector<Done> waiting_;
};

}  // namespace evenkeel::hub
