#include "hub/namespace.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::hub {
namespace {

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
    EK_TRY_ASSIGN(auto journals, open_journals(context.files, options, folder.catalogue));
    EK_TRY_ASSIGN(auto saved_clock, load_clock(context.files, options.directory));
    return std::unique_ptr<Namespace>(new Namespace(context, options, std::move(folder),
                                                    std::move(saved_clock), std::move(journals)));
}

Namespace::Namespace(const NamespaceContext& context, const HubOptions& options, DataFolder folder,
                     std::optional<ClockRecord> saved_clock, OpenedJournals journals)
    : lock_(std::move(folder.lock)),
      files_(context.files, *lock_),
      journals_(context, files_, options, journals.usable),
      context_{files_,          context.loop, context.disks,   context.metadata,
               context.metrics, context.boot, journals_.all(), std::move(journals.unreplayed)},
      options_(options),
      folders_(context_, options_),
      catalogue_(std::move(folder.catalogue)),
      recovery_(context_, folders_,
                [this](const EventHubRecord& record, PartitionId partition,
                       NamespaceRecovery::OpenedLog log) {
                    take_recovered(record, partition, std::move(log));
                }),
      upkeep_(context_, options_, event_hubs_, *lock_, std::move(saved_clock)) {}

Result<std::unique_ptr<Namespace>> Namespace::open(const NamespaceContext& context,
                                                   const HubOptions& options) {
    EK_TRY_ASSIGN(auto opened, open_in_background(context, options));
    if (!opened->recovery_.progress().done()) {
        opened->recovery_.open_all();
        opened->upkeep_.judge_time(opened->recovery_.last_event());
    }
    return opened;
}

Result<std::unique_ptr<Namespace>> Namespace::open_in_background(const NamespaceContext& context,
                                                                 const HubOptions& options) {
    EK_TRY_ASSIGN(auto opened, open_folder(context, options));
    for (const auto& record : opened->catalogue_.event_hubs) {
        OpenedLogs logs;
        for (std::uint32_t i = 0; i < record.partitions; ++i) {
            logs.push_back(Error{ErrorCode::unavailable,
                                 fmt::format("partition {} of event hub '{}' is being recovered "
                                             "after a start; try again soon",
                                             i, record.name)});
        }
        opened->recovery_.add(record);
        opened->event_hubs_[eventhubs::folded(record.name)] = std::make_unique<EventHub>(
            record, std::move(logs), AppendLimits{options.event_bytes_max});
    }
    if (opened->recovery_.progress().done()) {
        opened->upkeep_.judge_time(opened->recovery_.last_event());
    }
    return opened;
}

void Namespace::start() {
    context_.loop.check_here();
    if (recovery_.progress().done()) return upkeep_.begin();
    recovery_.start([this] { finish_recovery(); });
}

Namespace::Progress Namespace::recovery() const {
    context_.loop.check_here();
    return recovery_.progress();
}

void Namespace::when_recovered(Done done) {
    context_.loop.check_here();
    recovery_.when_done(std::move(done));
}

void Namespace::stop_recovery() {
    context_.loop.check_here();
    recovery_.stop();
}

void Namespace::take_recovered(const EventHubRecord& record, PartitionId partition,
                               NamespaceRecovery::OpenedLog log) {
    const auto found = event_hubs_.at(eventhubs::folded(record.name))->partition(partition);
    EK_CHECK(found.ok(), "nothing is changed before all is recovered");
    (*found)->set_log(std::move(log));
}

void Namespace::finish_recovery() {
    upkeep_.judge_time(recovery_.last_event());
    if (closing_) return finish_close_if_idle();
    upkeep_.begin();
    recovery_.tell_waiting();
}

void Namespace::close(Task done) {
    context_.loop.check_here();
    EK_CHECK(!closing_, "a hub is closed once");
    closing_ = true;
    closed_ = std::move(done);
    recovery_.stop();
    upkeep_.stop();
    finish_close_if_idle();
}

// Changes that were taken are finished first; then all logs are closed.
void Namespace::finish_close_if_idle() {
    if (!closing_ || !closed_ || under_way_ || !changes_.empty()) return;
    if (!recovery_.progress().done()) return;
    while (!event_hubs_.empty()) {
        auto event_hub = std::move(event_hubs_.begin()->second);
        event_hubs_.erase(event_hubs_.begin());
        event_hub->end_readers(std::nullopt, {ErrorCode::cancelled, "the hub was closed"});
        let_go(std::move(event_hub));
    }
    if (!leaving_.empty() || std::exchange(closing_journals_, true)) return;
    journals_.close([this](bool all_gone) {
        if (!all_gone) return finish_close();
        context_.metadata.post([this, catalogue = catalogue_]() mutable {
            remove_journals(context_.files, options_.directory, catalogue);
            context_.loop.post([this] { finish_close(); });
        });
    });
}

void Namespace::finish_close() {
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
                             return folders_.remove(next, incarnation);
                         },
                         [] {}, [](const Result<>&) {}});
            }
            finish_close_if_idle();
        });
    });
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
    if (!recovery_.progress().done()) {
        return change.done(Error{ErrorCode::unavailable,
                                 "the hub is being recovered after a start; try again soon"});
    }
    changes_.push_back(std::move(change));
    check_state();
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
    check_state();
    change.done(std::move(result));  // may ask for the next change itself
    next_change();
}

void Namespace::create(std::string_view name, const EventHubOptions& options, Done done) {
    auto logs = std::make_shared<OpenedLogs>();
    enqueue(
        {[this, name = std::string(name), options] { return plan_create(name, options); },
         [this, logs](const Catalogue&, Catalogue& next) { return folders_.create(next, *logs); },
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

void Namespace::alter(std::string_view name, const EventHubChange& change, Done done) {
    auto added = std::make_shared<OpenedLogs>();
    const std::string text(name);
    enqueue({[this, text, change] { return plan_alter(text, change); },
             [this, text, added](const Catalogue& before, Catalogue& next) {
                 return folders_.alter(before, next, text, *added);
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
         [this](const Catalogue& before, Catalogue& next) {
             return folders_.save_or(before, next);
         },
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
             [this](const Catalogue& before, Catalogue& next) {
                 return folders_.save_or(before, next);
             },
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

void Namespace::check_state() const {
    EK_CHECK(!under_way_ || !changes_.empty(), "a change that is under way is the first one");
    EK_CHECK(recovery_.progress().done() || changes_.empty(), "changes come after recovery");
}

}  // namespace evenkeel::hub
