// All event hubs of one data folder: creates, changes and removes them, finds them by name.
//
// Changes of what there is are made one at a time: planned on the loop, made durable on the
// metadata executor (HubFolders), then shown on the loop. So a name that create() acknowledged is
// there after a crash, and one that remove() acknowledged is not. A NamespaceRecovery opens the
// partitions after a start, then an Upkeep keeps retention going.
// Ownership: owns the lock of the folder, the event hubs and these parts. Closed before it goes.
// Threads: pinned to its loop, but for open(), which blocks.
// Failure: each change says how it ended; what is shown is what is durable.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "hub/data_folder.h"
#include "hub/event_hub.h"
#include "hub/hub_folders.h"
#include "hub/journals.h"
#include "hub/namespace_context.h"
#include "hub/namespace_recovery.h"
#include "hub/upkeep.h"
#include "io/file.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

class Namespace {
public:
    using Done = Callback<void(Result<>)>;

    // Opens the folder and all partitions in it. A partition that cannot be opened does not keep
    // the others from their work: its use fails, and says why.
    static Result<std::unique_ptr<Namespace>> open(const NamespaceContext& context,
                                                   const HubOptions& options);
    // The same without waiting for the partitions: start() begins to recover them, on the disk
    // executors. Until then the use of a partition, and every change, fails with `unavailable`.
    static Result<std::unique_ptr<Namespace>> open_in_background(const NamespaceContext& context,
                                                                 const HubOptions& options);
    // Recovers what is not yet, then begins with retention.
    void start();
    // How far that is.
    using Progress = NamespaceRecovery::Progress;
    Progress recovery() const;
    // Calls `done` once all partitions are recovered; cancelled if the hub is closed before.
    void when_recovered(Done done);
    // Recovers no further partitions: the hub is to be closed.
    void stop_recovery();
    // Finishes the changes that were taken, refuses others, ends all readers, flushes all logs;
    // `done` runs when nothing is under way any more.
    void close(Task done);
    // Another process may have the folder from now on. After close(), when no executor runs.
    void release_folder() { lock_->release(); }

    // not_found, naming it; cancelled once the hub is closed.
    Result<EventHub*> find(std::string_view name);
    std::vector<const EventHubRecord*> list() const;
    // Of the data folder: 32 hex digits.
    std::string identity() const { return to_text(catalogue_.identity); }

    // Each calls `done` once, when it is durable or refused.
    void create(std::string_view name, const EventHubOptions& options, Done done);
    void alter(std::string_view name, const EventHubChange& change, Done done);
    void remove(std::string_view name, Done done);
    void create_group(std::string_view name, std::string_view group, Done done);
    void remove_group(std::string_view name, std::string_view group, Done done);

    // For others that keep files in the data folder: fails once the folder is not ours.
    io::FileSystem& files() { return files_; }

    void retain_now() { upkeep_.retain_now(); }
    // For Partition::traffic: about once a second.
    void sample_traffic() { upkeep_.sample_traffic(); }

private:
    // One change: plan() looks at what there is now and gives the next catalogue; carry_out() makes
    // it durable where blocking is allowed, and leaves in it what holds afterwards, also when it
    // fails; show() brings a success to the loop.
    struct Change {
        Callback<Result<Catalogue>()> plan;
        Callback<Result<>(const Catalogue& before, Catalogue& next)> carry_out;
        Task show;
        Done done;
    };

    Namespace(const NamespaceContext& context, const HubOptions& options, DataFolder folder,
              std::optional<ClockRecord> saved_clock, OpenedJournals journals);
    static Result<std::unique_ptr<Namespace>> open_folder(const NamespaceContext& context,
                                                          const HubOptions& options);
    void take_recovered(const EventHubRecord& record, PartitionId partition,
                        NamespaceRecovery::OpenedLog log);
    void finish_recovery();

    void enqueue(Change change);
    void next_change();
    void finish_change(Catalogue catalogue, Result<> result);
    void let_go(std::unique_ptr<EventHub> event_hub);
    void finish_close_if_idle();
    void finish_close();
    void check_state() const;

    Result<Catalogue> plan_create(const std::string& name, const EventHubOptions& options) const;
    Result<Catalogue> plan_alter(const std::string& name, const EventHubChange& change) const;
    void change_record(const std::string& name, Callback<Result<>(EventHubRecord&)> edit, Task show,
                       Done done);

    const std::unique_ptr<FolderLock> lock_;
    OwnedFiles files_;
    Journals journals_;
    const NamespaceContext context_;  // with files_
    const HubOptions options_;
    const HubFolders folders_;
    Catalogue catalogue_;
    EventHubs event_hubs_;
    std::map<EventHub*, std::unique_ptr<EventHub>> leaving_;  // removed, logs still closing
    std::deque<Change> changes_;                              // the first one may be under way
    bool under_way_ = false;
    NamespaceRecovery recovery_;
    Upkeep upkeep_;
    bool closing_ = false;
    bool closing_journals_ = false;
    Task closed_;
};

}  // namespace evenkeel::hub
