// All event hubs of one data folder: creates, changes and removes them, finds them by name, keeps
// retention going.
//
// Changes of what there is are made one at a time: planned on the loop, made durable on the
// metadata executor, then shown on the loop. So a name that create() acknowledged is there after a
// crash, and one that remove() acknowledged is not.
// Threads: pinned to its loop, but for open(), which blocks.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/retention.h"
#include "hub/data_folder.h"
#include "hub/event_hub.h"
#include "hub/folder_clock.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/timer.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

struct NamespaceContext {
    io::FileSystem& files;
    io::Loop& loop;
    std::vector<io::Executor*> disks;  // partitions are dealt out over them
    io::Executor& metadata;            // for changes of what there is
    commitlog::LogMetrics& metrics;
    std::string boot = {};  // which boot of the machine its steady clock belongs to; may be unknown
};

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
    struct Progress {
        std::uint32_t partitions = 0;
        std::uint32_t recovered = 0;
        bool done() const { return recovered == partitions; }
    };
    Progress recovery() const;
    // Calls `done` once all partitions are recovered; cancelled if the hub is closed before.
    void when_recovered(Done done);
    // Recovers no further partitions: the hub is to be closed.
    void stop_recovery();
    // Finishes the changes that were taken, refuses others, ends all readers, flushes all logs;
    // `done` runs when nothing is under way any more.
    void close(Task done);

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

    void retain_now();
    // For Partition::traffic: about once a second.
    void sample_traffic();

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

    struct Unrecovered {
        EventHubRecord record;
        PartitionId partition;
    };

    Namespace(const NamespaceContext& context, const HubOptions& options, DataFolder folder);
    static Result<std::unique_ptr<Namespace>> open_folder(const NamespaceContext& context,
                                                          const HubOptions& options);
    void recover_next(std::size_t disk);
    void take_recovered(const Unrecovered& which, Result<std::unique_ptr<commitlog::Log>> log);
    void finish_recovery();
    std::size_t disk_of(const EventHubRecord& record, PartitionId partition) const;

    void enqueue(Change change);
    void next_change();
    void finish_change(Catalogue catalogue, Result<> result);
    void let_go(std::unique_ptr<EventHub> event_hub);
    void finish_close_if_idle();
    void begin_upkeep();
    void schedule_retention();
    void watch_lock();
    // When all partitions are open: the times of their last events are known.
    void judge_time();
    void report_future_events() const;
    void remember_time();

    commitlog::LogContext log_context(const EventHubRecord& record, PartitionId partition) const;
    commitlog::LogOptions log_options(std::uint32_t partitions) const;
    Result<std::unique_ptr<commitlog::Log>> open_log(const EventHubRecord& record,
                                                     PartitionId partition) const;
    Result<OpenedLogs> create_logs(const EventHubRecord& record, std::uint32_t from) const;

    Result<Catalogue> plan_create(const std::string& name, const EventHubOptions& options) const;
    Result<Catalogue> plan_alter(const std::string& name, const EventHubChange& change) const;
    Result<> carry_out_create(Catalogue& catalogue, OpenedLogs& logs) const;
    Result<> carry_out_alter(const Catalogue& before, Catalogue& next, const std::string& name,
                             OpenedLogs& added) const;
    Result<> save(Catalogue& catalogue) const;
    // Saves `next`; if that fails, `next` is `before` again, and so is the disk if it lets us.
    Result<> save_or(const Catalogue& before, Catalogue& next) const;
    Result<> remove_folder(Catalogue& catalogue, const commitlog::Incarnation& incarnation) const;
    static Result<std::size_t> index_of(const Catalogue& catalogue, std::string_view name);
    void change_record(const std::string& name, Callback<Result<>(EventHubRecord&)> edit, Task show,
                       Done done);

    const std::unique_ptr<FolderLock> lock_;
    OwnedFiles files_;
    const NamespaceContext context_;  // with files_
    const HubOptions options_;
    Catalogue catalogue_;
    std::map<std::string, std::unique_ptr<EventHub>> event_hubs_;  // by folded name
    std::map<EventHub*, std::unique_ptr<EventHub>> leaving_;       // removed, logs still closing
    std::deque<Change> changes_;                                   // the first one may be under way
    bool under_way_ = false;
    commitlog::RetentionClock retention_clock_;
    std::optional<ClockRecord> saved_clock_;  // as it was at the start
    WallTime last_event_{0};                  // of all partitions, as they were recovered
    std::vector<commitlog::ClockGap> clock_gaps_;
    std::vector<std::deque<Unrecovered>> unrecovered_;  // by disk; not begun
    Progress progress_;
    std::vector<Done> when_recovered_;
    io::Timer retention_timer_{context_.loop};
    io::Timer lock_timer_{context_.loop};
    io::Timer clock_timer_{context_.loop};
    bool closing_ = false;
    Task closed_;
};

}  // namespace evenkeel::hub
