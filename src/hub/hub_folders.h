// The folders of event hubs, and the catalogue that names them, on disk: makes, extends and removes
// them, and opens the logs of their partitions. Each change leaves in the catalogue what holds
// afterwards, also when it fails; so memory and disk tell the same.
//
// Invariants: those of hub/catalogue.h. A folder is named before it is made and until it is gone.
// Ownership: has no state; context and options are those of the namespace.
// Threads: any; calls block. Changes of the catalogue come one at a time.
// Failure: what a failed change has made is taken back as far as the disk lets us, and otherwise
// stays named, and goes when the hub opens next.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "commitlog/log.h"
#include "hub/catalogue.h"
#include "hub/event_hub.h"
#include "hub/namespace_context.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

// Where the catalogue has the event hub; not_found, naming it.
Result<std::size_t> index_of(const Catalogue& catalogue, std::string_view name);

class HubFolders {
public:
    HubFolders(const NamespaceContext& context, const HubOptions& options)
        : context_(context), options_(options) {}

    // Which disk executor a partition belongs to.
    std::size_t disk_of(const EventHubRecord& record, PartitionId partition) const;
    Result<std::unique_ptr<commitlog::Log>> open_log(const EventHubRecord& record,
                                                     PartitionId partition) const;

    // Makes the last event hub of the catalogue, with its logs.
    Result<> create(Catalogue& catalogue, OpenedLogs& logs) const;
    // Makes the partitions that `next` has more than `before`, then saves `next`.
    Result<> alter(const Catalogue& before, Catalogue& next, const std::string& name,
                   OpenedLogs& added) const;
    // Saves `next`; if that fails, `next` is `before` again, and so is the disk if it lets us.
    Result<> save_or(const Catalogue& before, Catalogue& next) const;
    // Removes the folder of an event hub that is not in use any more, and its name.
    Result<> remove(Catalogue& catalogue, const commitlog::Incarnation& incarnation) const;

private:
    Result<OpenedLogs> create_logs(const EventHubRecord& record, std::uint32_t from) const;
    commitlog::LogContext log_context(const EventHubRecord& record, PartitionId partition) const;
    commitlog::LogOptions log_options(std::uint32_t partitions) const;
    Result<> save(Catalogue& catalogue) const;

    const NamespaceContext& context_;
    const HubOptions& options_;
};

}  // namespace evenkeel::hub
