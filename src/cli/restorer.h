// Puts events back into an event hub as they were: in order, with partition, key, sections and
// enqueued time. Sequence numbers begin at 0 in each partition.
//
// One batch at a time is under way, each stored once (exact_sender.h).
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/backup_file.h"
#include "cli/exact_sender.h"
#include "cli/interrupt.h"
#include "cli/remote/remote.h"
#include <evenkeel/producer.h>

namespace evenkeel::cli {

class Restorer {
public:
    // Creates the event hub with its groups if it does not exist. One that has events, or other
    // settings that matter, is a `conflict`; with `resume` events are skipped that it has already.
    static Result<std::unique_ptr<Restorer>> open(const Remote& remote, const std::string& name,
                                                  const BackupHub& hub, bool resume,
                                                  Interrupt& interrupt);

    ~Restorer();

    // Partitions one after the other, also those without events, each ended by end_partition();
    // events in their order.
    Result<> add(std::uint32_t partition, const BackupEvent& event);
    // `conflict` if the event hub has more events in it than were added.
    Result<> end_partition(std::uint32_t partition);

    std::uint64_t stored() const { return stored_; }
    std::uint64_t skipped() const { return skipped_; }

private:
    static constexpr std::size_t batch_events_max = 500;

    Restorer(const Remote& remote, std::string name, Interrupt& interrupt);
    Result<> prepare(const BackupHub& hub, bool resume);
    Result<> begin_partition(std::uint32_t partition);
    Result<> flush();

    const Remote& remote_;
    const std::string name_;
    const std::unique_ptr<SenderLink> link_;
    ExactSender sender_;
    std::optional<std::uint32_t> partition_;
    std::int64_t present_ = 0;     // events that were there before
    std::int64_t present_ms_ = 0;  // enqueued time of the last of them
    std::int64_t seen_ = 0;        // events of the partition that were given
    std::optional<SendBatch> batch_;
    std::uint64_t stored_ = 0;
    std::uint64_t skipped_ = 0;
};

}  // namespace evenkeel::cli
