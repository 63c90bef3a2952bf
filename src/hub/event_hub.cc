#include "hub/event_hub.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "eventhubs/names.h"
#include "eventhubs/partition_key.h"

namespace evenkeel::hub {

EventHub::EventHub(EventHubRecord record, OpenedLogs logs, const AppendLimits& limits)
    : record_(std::move(record)), limits_(limits) {
    add_partitions(std::move(logs));
}

void EventHub::add_partitions(OpenedLogs logs) {
    for (auto& log : logs) partitions_.emplace_back(PartitionId{partition_count()}, std::move(log));
}

Result<Partition*> EventHub::partition(PartitionId id) {
    if (id.value >= partitions_.size()) {
        return Error{ErrorCode::not_found,
                     fmt::format("event hub '{}' has no partition {}; it has 0 to {}", record_.name,
                                 id.value, partitions_.size() - 1)};
    }
    return &partitions_[id.value];
}

Result<PartitionId> EventHub::route(std::optional<PartitionId> wanted, std::string_view key) {
    if (wanted && !key.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "an event goes to a partition or by its key, not both; leave one out"};
    }
    if (wanted) {
        EK_TRY(partition(*wanted));
        return *wanted;
    }
    if (!key.empty()) {
        EK_TRY(eventhubs::check_partition_key(key));
        return eventhubs::partition_of_key(key, partition_count());
    }
    const PartitionId id{next_in_turn_ % partition_count()};
    next_in_turn_ = (id.value + 1) % partition_count();
    return id;
}

void EventHub::append(PartitionId id, std::span<const commitlog::NewEvent> events,
                      Callback<void(Result<commitlog::Appended>)> done) {
    const auto found = partition(id);
    if (!found.ok()) return done(found.error());
    for (const auto& event : events) {
        const std::size_t bytes = event.key.size() + event.body.size();
        if (bytes > limits_.event_bytes_max) {
            return done(Error{ErrorCode::invalid_argument,
                              fmt::format("an event of {} bytes is larger than the limit of {} "
                                          "bytes; send it in parts or raise event_bytes_max",
                                          bytes, limits_.event_bytes_max)});
        }
    }
    const auto log = (*found)->log();
    if (!log.ok()) return done(log.error());
    (*log)->append(events, std::move(done));
}

Result<std::unique_ptr<PartitionReader>> EventHub::attach(std::string_view group, PartitionId id,
                                                          const Position& position,
                                                          const ReaderRequest& request,
                                                          Callback<void(const Error&)> ended) {
    const std::string key = eventhubs::folded(group);
    const bool known =
        key == eventhubs::folded(eventhubs::default_group) ||
        std::any_of(record_.groups.begin(), record_.groups.end(), [&](const std::string& existing) {
            return eventhubs::folded(existing) == key;
        });
    if (!known) {
        return Error{ErrorCode::not_found,
                     fmt::format("event hub '{}' has no consumer group '{}'; create it first",
                                 record_.name, shown(group))};
    }
    EK_TRY_ASSIGN(Partition* const found, partition(id));
    return found->attach(key, position, request, std::move(ended));
}

void EventHub::sample_traffic(Instant now) {
    for (auto& part : partitions_) part.sample_traffic(now);
}

WallTime EventHub::last_enqueued() const {
    WallTime last{0};
    for (const auto& part : partitions_) last = std::max(last, part.last_enqueued());
    return last;
}

void EventHub::retain(WallTime now, std::span<const commitlog::ClockGap> gaps) {
    commitlog::RetentionPolicy policy;
    policy.gaps = gaps;
    if (record_.retention.count() > 0) policy.age_max = record_.retention;
    if (record_.partition_bytes_max > 0) policy.bytes_max = record_.partition_bytes_max;
    if (!policy.age_max && !policy.bytes_max) return;
    for (auto& part : partitions_) {
        if (const auto log = part.log(); log.ok()) (*log)->retain(policy, now);
    }
}

void EventHub::change(EventHubRecord record, OpenedLogs added) {
    record_ = std::move(record);
    add_partitions(std::move(added));
}

void EventHub::end_readers(const std::optional<std::string>& group, const Error& reason) {
    for (auto& part : partitions_) part.end_readers(group, reason);
}

void EventHub::close(Task done) {
    // Counts the logs down; the last one to be closed calls.
    auto remaining = std::make_shared<std::pair<std::size_t, Task>>(1, std::move(done));
    const auto one_less = [remaining] {
        if (--remaining->first == 0) remaining->second();
    };
    for (auto& part : partitions_) {
        const auto log = part.log();
        if (!log.ok()) continue;
        ++remaining->first;
        (*log)->close(one_less);
    }
    one_less();
}

}  // namespace evenkeel::hub
