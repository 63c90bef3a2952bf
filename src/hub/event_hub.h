// An event hub: partitions, consumer groups, and which partition an event goes to.
// Threads: pinned to the hub's loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "hub/catalogue.h"
#include "hub/partition.h"

namespace evenkeel::hub {

using OpenedLogs = std::vector<Result<std::unique_ptr<commitlog::Log>>>;

struct AppendLimits {
    std::size_t event_bytes_max = 0;
};

class EventHub {
public:
    EventHub(EventHubRecord record, OpenedLogs logs, const AppendLimits& limits);

    const EventHubRecord& record() const { return record_; }
    std::uint32_t partition_count() const { return static_cast<std::uint32_t>(partitions_.size()); }
    // not_found, naming how many there are.
    Result<Partition*> partition(PartitionId id);

    // The given partition, the key's, or the next in turn.
    Result<PartitionId> route(std::optional<PartitionId> partition, std::string_view key);
    // One batch to one partition; `done` as in Log::append. invalid_argument for an event that is
    // too large: nothing of the batch is stored then.
    void append(PartitionId partition, std::span<const commitlog::NewEvent> events,
                Callback<void(Result<commitlog::Appended>)> done);
    // not_found for a group or partition that does not exist.
    Result<std::unique_ptr<PartitionReader>> attach(std::string_view group, PartitionId partition,
                                                    const Position& position,
                                                    const ReaderRequest& request,
                                                    Callback<void(const Error&)> ended);

    // The latest time that an event of any partition has; 0 if there is none.
    WallTime last_enqueued() const;
    void retain(WallTime now, std::span<const commitlog::ClockGap> gaps);
    void sample_traffic(Instant now);
    // Takes a changed record over; `added` are the logs of new partitions.
    void change(EventHubRecord record, OpenedLogs added);
    void end_readers(const std::optional<std::string>& group, const Error& reason);
    // Closes all logs; `done` runs when nothing is under way.
    void close(Task done);

private:
    void add_partitions(OpenedLogs logs);

    EventHubRecord record_;
    const AppendLimits limits_;
    std::deque<Partition> partitions_;
    std::uint32_t next_in_turn_ = 0;
};

}  // namespace evenkeel::hub
