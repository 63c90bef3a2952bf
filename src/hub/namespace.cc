#include "hub/namespace.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::hub {
namespace {

// Memory that the ends of all partitions of an event hub may take together.
constexpr std::size_t tail_bytes_of_event_hub = std::size_t{128} << 20;
constexpr std::size_t tail_bytes_min = std::size_t{64} << 10;

Result<> check_options(std::uint32_t partitions, std::chrono::milliseconds retention,
                       const HubOptions& limits) {
    if (partitions == 0 || partitions > limits.partitions_max) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{} partitions were asked for; an event hub has 1 to {}",
                                 partitions, limits.partitions_max)};
    }
    if (retention.count() < 0) {
        return Error{ErrorCode::invalid_argument,
                     "the retention time is negative; use 0 to keep events for ever"};
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Namespace>> Namespace::open_folder(const NamespaceContext& context,
                                                          const HubOptions& options) {
    EK_CHECK(!context.disks.empty(), "a hub has a disk executor");
    if (options.retention_interval.count() <= 0) {
        return Error{ErrorCode::invalid_argument,
                     "the retention interval is not positive; use a millisecond or more"};
    }
    EK_TRY_ASSIGN(auto folder, open_data_folder(context.files, options.directory));
    std::unique_ptr<Namespace> opened(new Namespace(context, options, std::move(folder)));
    EK_TRY_ASSIGN(opened->saved_clock_, load_clock(opened->files_, options.directory));
    return opened;
}

Namespace::Namespace(const NamespaceContext& context, const HubOptions& options, DataFolder folder)
    : lock_(std::move(folder.lock)),
      files_(context.files, *lock_),
      context_{files_,           context.loop,    context.disks,
               context.metadata, context.metrics, context.boot},
      options_(options),
      catalogue_(std::move(folder.catalogue)),
      retention_clock_(context.loop.clock()) {}

void Namespace::close(Task done) {
    context_.loop.check_here();
    EK_CHECK(!closing_, "a hub is closed once");
    closing_ = true;
    closed_ = std::move(done);
    stop_recovery();
    retention_timer_.cancel();
    lock_timer_.cancel();
    clock_timer_.cancel();
    finish_close_if_idle();
}

// Changes that were taken are finished first; then all logs are closed.
void Namespace::finish_close_if_idle() {
    if (!closing_ || !closed_ || under_way_ || !changes_.empty() || !progress_.done()) return;
    while (!event_hubs_.empty()) {
        auto event_hub = std::move(event_hubs_.begin()->second);
        event_hubs_.erase(event_hubs_.begin());
        event_hub->end_readers(std::nullopt, {ErrorCode::cancelled, "the hub was closed"});
        let_go(std::move(event_hub));
    }
    if (!leaving_.empty()) return;
    Task done = std::move(closed_);
    done();
}

// Closes the logs of an event hub that is not found any more, then destroys it.
void Namespace::let_go(std::unique_ptr<EventHub> event_hub) {
    EventHub* const key = event_hub.get();
    leaving_[key] = std::move(event_hub);
    key->close([this, key] {
        // Not from within the log's own call.
        context_.loop.post([this, key] {
            const auto incarnation = key->record().incarnation;
            leaving_.erase(key);
            const bool removed = std::find(catalogue_.removing.begin(), catalogue_.removing.end(),
                                           incarnation) != catalogue_.removing.end();
            if (removed && !closing_) {
                enqueue({[this]() -> Result<Catalogue> { return catalogue_; },
                         [this, incarnation](const Catalogue&, Catalogue& next) {
                             return remove_folder(next, incarnation);
                         },
                         [] {}, [](const Result<>&) {}});
            }
            finish_close_if_idle();
        });
    });
}

Result<std::size_t> Namespace::index_of(const Catalogue& catalogue, std::string_view name) {
    const std::string key = eventhubs::folded(name);
    for (std::size_t i = 0; i < catalogue.event_hubs.size(); ++i) {
        if (eventhubs::folded(catalogue.event_hubs[i].name) == key) return i;
    }
    return Error{ErrorCode::not_found,
                 fmt::format("event hub '{}' does not exist; create it first", shown(name))};
}

Result<EventHub*> Namespace::find(std::string_view name) {
    context_.loop.check_here();
    const auto found = event_hubs_.find(eventhubs::folded(name));
    if (found == event_hubs_.end()) {
        if (closing_) return Error{ErrorCode::cancelled, "the hub was closed"};
        return Error{ErrorCode::not_found,
                     fmt::format("event hub '{}' does not exist; create it first", shown(name))};
    }
    return found->second.get();
}

std::vector<const EventHubRecord*> Namespace::list() const {
    context_.loop.check_here();
    std::vector<const EventHubRecord*> records;
    for (const auto& [name, event_hub] : event_hubs_) records.push_back(&event_hub->record());
    return records;
}

void Namespace::enqueue(Change change) {
    context_.loop.check_here();
    if (closing_) return change.done(Error{ErrorCode::cancelled, "the hub is closing"});
    if (!progress_.done()) {
        return change.done(Error{ErrorCode::unavailable,
                                 "the hub is being recovered after a start; try again soon"});
    }
    changes_.push_back(std::move(change));
    next_change();
}

void Namespace::next_change() {
    while (!under_way_ && !changes_.empty()) {
        auto planned = changes_.front().plan();
        if (planned.ok()) {
            // The change itself stays on the loop; what is carried out goes along as a value.
            under_way_ = true;
            context_.metadata.post([this, next = std::move(*planned), before = catalogue_,
                                    carry_out = std::move(changes_.front().carry_out)]() mutable {
                auto result = carry_out(before, next);
                context_.loop.post(
                    [this, next = std::move(next), result = std::move(result)]() mutable {
                        finish_change(std::move(next), std::move(result));
                    });
            });
            return;
        }
        Change refused = std::move(changes_.front());
        changes_.pop_front();
        refused.done(planned.error());
    }
    finish_close_if_idle();
}

void Namespace::finish_change(Catalogue catalogue, Result<> result) {
    catalogue_ = std::move(catalogue);
    Change change = std::move(changes_.front());
    changes_.pop_front();
    if (result.ok()) change.show();
    under_way_ = false;
    change.done(std::move(result));  // may ask for the next change itself
    next_change();
}

void Namespace::create(std::string_view name, const EventHubOptions& options, Done done) {
    auto logs = std::make_shared<OpenedLogs>();
    enqueue(
        {[this, name = std::string(name), options] { return plan_create(name, options); },
         [this, logs](const Catalogue&, Catalogue& next) { return carry_out_create(next, *logs); },
         [this, logs] {
             const EventHubRecord& record = catalogue_.event_hubs.back();
             event_hubs_[eventhubs::folded(record.name)] = std::make_unique<EventHub>(
                 record, std::move(*logs), AppendLimits{options_.event_bytes_max});
         },
         std::move(done)});
}

Result<Catalogue> Namespace::plan_create(const std::string& name,
                                         const EventHubOptions& options) const {
    EK_TRY(eventhubs::check_event_hub_name(name));
    EK_TRY(check_options(options.partitions, options.retention, options_));
    if (index_of(catalogue_, name).ok()) {
        return Error{
            ErrorCode::already_exists,
            fmt::format("event hub '{}' exists already; choose another name, or alter it", name)};
    }
    if (catalogue_.event_hubs.size() >= options_.event_hubs_max) {
        return Error{ErrorCode::overloaded,
                     fmt::format("there are {} event hubs already, which is the limit; remove one "
                                 "or raise event_hubs_max",
                                 catalogue_.event_hubs.size())};
    }
    Catalogue next = catalogue_;
    EventHubRecord record;
    record.name = name;
    secure_bytes(record.incarnation);
    record.partitions = options.partitions;
    record.retention = options.retention;
    record.partition_bytes_max = options.partition_bytes_max;
    record.created = context_.loop.clock().wall();
    record.creating = true;
    next.event_hubs.push_back(std::move(record));
    return next;
}

Result<> Namespace::carry_out_create(Catalogue& catalogue, OpenedLogs& logs) const {
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
        if (!perhaps_there || save(catalogue).ok()) {
            (void)remove_folder(catalogue, record.incarnation);
        }
    }
    return made;
}

Result<> Namespace::save(Catalogue& catalogue) const {
    catalogue.generation += 1;
    return save_catalogue(context_.files, options_.directory, catalogue);
}

Result<> Namespace::save_or(const Catalogue& before, Catalogue& next) const {
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

Result<> Namespace::remove_folder(Catalogue& catalogue,
                                  const commitlog::Incarnation& incarnation) const {
    const auto removed =
        io::remove_tree(context_.files, event_hub_path(options_.directory, incarnation));
    if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed.error();
    EK_TRY(context_.files.sync_directory(options_.directory + "/hubs"));
    // A name that stays behind on disk does no harm: there is nothing left to remove.
    std::erase(catalogue.removing, incarnation);
    return save(catalogue);
}

void Namespace::alter(std::string_view name, const EventHubChange& change, Done done) {
    auto added = std::make_shared<OpenedLogs>();
    const std::string text(name);
    enqueue({[this, text, change] { return plan_alter(text, change); },
             [this, text, added](const Catalogue& before, Catalogue& next) {
                 return carry_out_alter(before, next, text, *added);
             },
             [this, text, added] {
                 const auto index = index_of(catalogue_, text);
                 event_hubs_.at(eventhubs::folded(text))
                     ->change(catalogue_.event_hubs[*index], std::move(*added));
             },
             std::move(done)});
}

Result<Catalogue> Namespace::plan_alter(const std::string& name,
                                        const EventHubChange& change) const {
    EK_TRY_ASSIGN(const std::size_t index, index_of(catalogue_, name));
    Catalogue next = catalogue_;
    EventHubRecord& record = next.event_hubs[index];
    if (change.partitions && *change.partitions < record.partitions) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("event hub '{}' has {} partitions; they can only become more",
                                 record.name, record.partitions)};
    }
    record.partitions = change.partitions.value_or(record.partitions);
    record.retention = change.retention.value_or(record.retention);
    record.partition_bytes_max = change.partition_bytes_max.value_or(record.partition_bytes_max);
    EK_TRY(check_options(record.partitions, record.retention, options_));
    return next;
}

Result<> Namespace::carry_out_alter(const Catalogue& before, Catalogue& next,
                                    const std::string& name, OpenedLogs& added) const {
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

void Namespace::remove(std::string_view name, Done done) {
    const std::string text(name);
    enqueue(
        {[this, text]() -> Result<Catalogue> {
             EK_TRY_ASSIGN(const std::size_t index, index_of(catalogue_, text));
             Catalogue next = catalogue_;
             next.removing.push_back(next.event_hubs[index].incarnation);
             next.event_hubs.erase(next.event_hubs.begin() + static_cast<std::ptrdiff_t>(index));
             return next;
         },
         [this](const Catalogue& before, Catalogue& next) { return save_or(before, next); },
         [this, text] {
             auto node = event_hubs_.extract(eventhubs::folded(text));
             node.mapped()->end_readers(
                 std::nullopt,
                 {ErrorCode::not_found, fmt::format("event hub '{}' was removed", shown(text))});
             let_go(std::move(node.mapped()));
         },
         std::move(done)});
}

// A change of one record and nothing else.
void Namespace::change_record(const std::string& name, Callback<Result<>(EventHubRecord&)> edit,
                              Task show, Done done) {
    enqueue({[this, name, edit = std::move(edit)]() mutable -> Result<Catalogue> {
                 EK_TRY_ASSIGN(const std::size_t index, index_of(catalogue_, name));
                 Catalogue next = catalogue_;
                 EK_TRY(edit(next.event_hubs[index]));
                 return next;
             },
             [this](const Catalogue& before, Catalogue& next) { return save_or(before, next); },
             [this, name, show = std::move(show)]() mutable {
                 event_hubs_.at(eventhubs::folded(name))
                     ->change(catalogue_.event_hubs[*index_of(catalogue_, name)], {});
                 show();
             },
             std::move(done)});
}

void Namespace::create_group(std::string_view name, std::string_view group, Done done) {
    change_record(
        std::string(name),
        [this, group = std::string(group)](EventHubRecord& record) -> Result<> {
            EK_TRY(eventhubs::check_group_name(group));
            const std::string key = eventhubs::folded(group);
            const bool exists = key == eventhubs::folded(eventhubs::default_group) ||
                                std::any_of(record.groups.begin(), record.groups.end(),
                                            [&](const std::string& other) {
                                                return eventhubs::folded(other) == key;
                                            });
            if (exists) {
                return Error{ErrorCode::already_exists,
                             fmt::format("event hub '{}' has a consumer group '{}' already",
                                         record.name, group)};
            }
            if (record.groups.size() + 1 >= options_.groups_max) {
                return Error{ErrorCode::overloaded,
                             fmt::format("event hub '{}' has {} consumer groups, which is the "
                                         "limit; remove one or raise groups_max",
                                         record.name, record.groups.size() + 1)};
            }
            record.groups.push_back(group);
            std::sort(record.groups.begin(), record.groups.end());
            return {};
        },
        [] {}, std::move(done));
}

void Namespace::remove_group(std::string_view name, std::string_view group, Done done) {
    const std::string key = eventhubs::folded(group);
    change_record(
        std::string(name),
        [key, group = std::string(group)](EventHubRecord& record) -> Result<> {
            if (key == eventhubs::folded(eventhubs::default_group)) {
                return Error{ErrorCode::invalid_argument,
                             "the consumer group '$Default' is always there"};
            }
            const auto erased = std::erase_if(record.groups, [&](const std::string& other) {
                return eventhubs::folded(other) == key;
            });
            if (erased == 0) {
                return Error{ErrorCode::not_found,
                             fmt::format("event hub '{}' has no consumer group '{}'", record.name,
                                         shown(group))};
            }
            return {};
        },
        [this, hub = eventhubs::folded(name), key] {
            event_hubs_.at(hub)->end_readers(
                key, {ErrorCode::not_found, "the consumer group was removed"});
        },
        std::move(done));
}

std::size_t Namespace::disk_of(const EventHubRecord& record, PartitionId partition) const {
    const std::size_t turn = std::to_integer<std::size_t>(record.incarnation[0]) + partition.value;
    return turn % context_.disks.size();
}

commitlog::LogContext Namespace::log_context(const EventHubRecord& record,
                                             PartitionId partition) const {
    return {context_.files, context_.loop, *context_.disks[disk_of(record, partition)],
            context_.metrics};
}

commitlog::LogOptions Namespace::log_options(std::uint32_t partitions) const {
    commitlog::LogOptions options;
    options.segment_bytes_max = options_.segment_bytes_max;
    options.tail_bytes_max =
        std::clamp(tail_bytes_of_event_hub / partitions, tail_bytes_min, options.tail_bytes_max);
    options.durability =
        options_.sync_to_disk ? commitlog::Durability::disk : commitlog::Durability::os;
    return options;
}

Result<std::unique_ptr<commitlog::Log>> Namespace::open_log(const EventHubRecord& record,
                                                            PartitionId partition) const {
    return commitlog::Log::open(log_context(record, partition),
                                partition_path(options_.directory, record.incarnation, partition),
                                {record.incarnation, partition}, log_options(record.partitions));
}

Result<OpenedLogs> Namespace::create_logs(const EventHubRecord& record, std::uint32_t from) const {
    OpenedLogs logs;
    for (std::uint32_t i = from; i < record.partitions; ++i) {
        const std::string path = partition_path(options_.directory, record.incarnation, {i});
        // Left over from a change that did not become durable: nothing was ever acknowledged there.
        const auto removed = io::remove_tree(context_.files, path);
        if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed.error();
        EK_TRY(commitlog::Log::create(context_.files, path, {record.incarnation, {i}}));
        logs.push_back(open_log(record, {i}));
        if (!logs.back().ok()) return logs.back().error();
    }
    return logs;
}

}  // namespace evenkeel::hub
