// A partition of an event hub: its log, and the readers that are attached to it, group by group.
// Threads: pinned to the hub's loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/task.h"
#include "commitlog/log.h"
#include "hub/log_cursor.h"
#include "hub/rate.h"
#include "hub/readers.h"
#include <evenkeel/event.h>

namespace evenkeel::hub {

class Partition;

// A reader of a partition. Detaches when destroyed. It may outlive its partition: it has ended
// then.
class PartitionReader final : public LogCursor {
public:
    ~PartitionReader() override;
    PartitionReader(const PartitionReader&) = delete;
    PartitionReader& operator=(const PartitionReader&) = delete;

    Result<commitlog::ReadStep> read(std::size_t bytes_max) override;
    void advance(const commitlog::ReadOutcome& outcome) override;
    void missed(Offset from) override { missed_ = from; }
    bool rewind(SequenceNumber sequence) override;
    void wait(Task task) override;
    void cancel_wait() override;
    Offset next() const override { return cursor_.next; }
    void count_sent(std::int64_t events) override;

private:
    friend class Partition;
    PartitionReader(Partition& partition, ReaderId id, std::optional<std::string> group,
                    ReaderRequest request, commitlog::Cursor cursor,
                    Callback<void(const Error&)> ended)
        : partition_(&partition),
          id_(id),
          group_(std::move(group)),
          request_(std::move(request)),
          cursor_(std::move(cursor)),
          ended_(std::move(ended)) {}

    Partition* partition_;  // none once the reader has ended
    const ReaderId id_;
    const std::optional<std::string> group_;  // none: peek()
    const ReaderRequest request_;
    commitlog::Cursor cursor_;
    Callback<void(const Error&)> ended_;
    std::optional<commitlog::Log::WaitId> wait_;
    std::optional<Offset> missed_;  // where a file was not found
    std::optional<Error> reason_;
};

class Partition {
public:
    // `log` is an error if its folder could not be opened; then every use says so.
    Partition(PartitionId id, Result<std::unique_ptr<commitlog::Log>> log);
    ~Partition();
    Partition(const Partition&) = delete;
    Partition& operator=(const Partition&) = delete;

    PartitionId id() const { return id_; }
    Result<commitlog::Log*> log();
    // Once, in the place of the error it was made with: the log has been recovered, or cannot be.
    void set_log(Result<std::unique_ptr<commitlog::Log>> log);
    WallTime last_enqueued() const;

    // `ended` runs at most once, when the reader is displaced or its event hub or group goes; the
    // reader gets nothing after that. Displaced readers have ended when this returns.
    Result<std::unique_ptr<PartitionReader>> attach(const std::string& group,
                                                    const Position& position,
                                                    const ReaderRequest& request,
                                                    Callback<void(const Error&)> ended);
    // A reader of the hub itself: in no group, displaces nobody, not counted.
    Result<std::unique_ptr<PartitionReader>> peek(const Position& position,
                                                  Callback<void(const Error&)> ended);
    // Ends the readers of a group, or all of them.
    void end_readers(const std::optional<std::string>& group, const Error& reason);
    std::size_t reader_count() const;
    // A reader of a group, for operators.
    struct ReaderInfo {
        std::string group;
        std::string name;
        std::optional<Epoch> epoch;
        SequenceNumber next;  // what it was given is before this
    };
    std::vector<ReaderInfo> readers() const;
    // The last reader of the group that had an epoch, also if it has gone; none since the start.
    std::optional<ReaderInfo> last_epoch_reader(const std::string& group) const;

    // Events a second that were stored, and that were sent to readers; see Rate. Sampled by whoever
    // shows them.
    struct Traffic {
        double in = 0;
        double out = 0;
    };
    Traffic traffic(Instant now) const;
    void sample_traffic(Instant now);

private:
    friend class PartitionReader;
    void end(ReaderId reader, const Error& reason);
    void detach(PartitionReader& reader);
    std::int64_t stored_ever() const;

    const PartitionId id_;
    Result<std::unique_ptr<commitlog::Log>> log_;
    std::map<std::string, ReaderSet> groups_;
    std::map<std::string, ReaderInfo> gone_;  // of each group: its last reader that had an epoch
    std::map<ReaderId, PartitionReader*> readers_;
    std::uint64_t last_reader_ = 0;
    std::int64_t sent_ = 0;  // events, to readers, since it was opened
    Rate rate_in_;
    Rate rate_out_;
};

}  // namespace evenkeel::hub
