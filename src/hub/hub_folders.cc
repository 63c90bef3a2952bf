#include "hub/hub_folders.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "eventhubs/names.h"
#include "hub/data_folder.h"

namespace evenkeel::hub {
namespace {

// Memory that the ends of all partitions of an event hub may take together.
constexpr std::size_t tail_bytes_of_event_hub = std::size_t{64} << 20;
constexpr std::size_t tail_bytes_min = std::size_t{64} << 10;

}  // namespace

Result<std::size_t> index_of(const Catalogue& catalogue, std::string_view name) {
    const std::string key = eventhubs::folded(name);
    for (std::size_t i = 0; i < catalogue.event_hubs.size(); ++i) {
        if (eventhubs::folded(catalogue.event_hubs[i].name) == key) return i;
    }
    return Error{ErrorCode::not_found,
                 fmt::format("event hub '{}' does not exist; create it first", shown(name))};
}

std::size_t HubFolders::disk_of(const EventHubRecord& record, PartitionId partition) const {
    const std::size_t turn = std::to_integer<std::size_t>(record.incarnation[0]) + partition.value;
    return turn % context_.disks.size();
}

commitlog::LogContext HubFolders::log_context(const EventHubRecord& record,
                                              PartitionId partition) const {
    const std::size_t disk = disk_of(record, partition);
    return {context_.files, context_.loop, *context_.disks[disk], context_.metrics,
            context_.journals.empty() ? nullptr : context_.journals[disk]};
}

Result<std::unique_ptr<commitlog::Log>> HubFolders::open_log(const EventHubRecord& record,
                                                             PartitionId partition) const {
    for (const auto& refused : context_.unreplayed) {
        const bool is_it = refused.identity.incarnation == record.incarnation &&
                           refused.identity.partition == partition;
        if (is_it) return refused.error;  // JOURNAL-4
    }
    return commitlog::Log::open(log_context(record, partition),
                                partition_path(options_.directory, record.incarnation, partition),
                                {record.incarnation, partition}, log_options(record.partitions));
}

commitlog::LogOptions HubFolders::log_options(std::uint32_t partitions) const {
    commitlog::LogOptions options;
    options.segment_bytes_max = options_.segment_bytes_max;
    options.tail_bytes_max =
        std::clamp(tail_bytes_of_event_hub / partitions, tail_bytes_min, options.tail_bytes_max);
    options.durability =
        options_.sync_to_disk ? commitlog::Durability::disk : commitlog::Durability::os;
    return options;
}

Result<OpenedLogs> HubFolders::create_logs(const EventHubRecord& record, std::uint32_t from) const {
    OpenedLogs logs;
    for (std::uint32_t i = from; i < record.partitions; ++i) {
        const std::string path = partition_path(options_.directory, record.incarnation, {i});
        // Left over from a change that did not become durable: nothing was ever acknowledged there.
        const auto removed = io::remove_tree(context_.files, path);
        if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed.error();
        logs.push_back(commitlog::Log::create(log_context(record, {i}), path,
                                              {record.incarnation, {i}},
                                              log_options(record.partitions)));
        if (!logs.back().ok()) return logs.back().error();
    }
    return logs;
}

Result<> HubFolders::create(Catalogue& catalogue, OpenedLogs& logs) const {
    const EventHubRecord record = catalogue.event_hubs.back();
    bool perhaps_there = false;  // a failed save may have reached the disk
    const auto make = [&]() -> Result<> {
        EK_TRY(save(catalogue));
        const std::string path = event_hub_path(options_.directory, record.incarnation);
        EK_TRY(context_.files.make_directory(path));
        EK_TRY_ASSIGN(logs, create_logs(record, 0));
        EK_TRY(context_.files.sync_directory(path));
        EK_TRY(context_.files.sync_directory(options_.directory + "/hubs"));
        catalogue.event_hubs.back().creating = false;
        perhaps_there = true;
        return save(catalogue);
    };
    auto made = make();
    if (!made.ok()) {
        // Take it back: by name first if it may be there already, so that no name is left without
        // its folder. What cannot be removed now stays named, and goes when the hub opens next.
        logs.clear();
        catalogue.event_hubs.pop_back();
        catalogue.removing.push_back(record.incarnation);
        if (!perhaps_there || save(catalogue).ok()) (void)remove(catalogue, record.incarnation);
    }
    return made;
}

Result<> HubFolders::alter(const Catalogue& before, Catalogue& next, const std::string& name,
                           OpenedLogs& added) const {
    const auto make = [&]() -> Result<> {
        EK_TRY_ASSIGN(const std::size_t index, index_of(before, name));
        const EventHubRecord& record = next.event_hubs[index];
        if (record.partitions == before.event_hubs[index].partitions) return {};
        EK_TRY_ASSIGN(added, create_logs(record, before.event_hubs[index].partitions));
        return context_.files.sync_directory(
            event_hub_path(options_.directory, record.incarnation));
    };
    auto made = make();
    if (made.ok()) {
        made = save_or(before, next);
    } else {
        next = before;
    }
    if (!made.ok()) added.clear();
    return made;
}

Result<> HubFolders::save(Catalogue& catalogue) const {
    catalogue.generation += 1;
    return save_catalogue(context_.files, options_.directory, catalogue);
}

Result<> HubFolders::save_or(const Catalogue& before, Catalogue& next) const {
    auto saved = save(next);
    if (!saved.ok()) {
        // What reached the disk of it is not known; a newer generation wins over it.
        const std::uint64_t generation = next.generation;
        next = before;
        next.generation = generation;
        (void)save(next);
    }
    return saved;
}

Result<> HubFolders::remove(Catalogue& catalogue, const commitlog::Incarnation& incarnation) const {
    const auto removed =
        io::remove_tree(context_.files, event_hub_path(options_.directory, incarnation));
    if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed.error();
    EK_TRY(context_.files.sync_directory(options_.directory + "/hubs"));
    // A name that stays behind on disk does no harm: there is nothing left to remove.
    std::erase(catalogue.removing, incarnation);
    return save(catalogue);
}

}  // namespace evenkeel::hub
