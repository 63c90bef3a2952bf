#include "cli/remote/group_look.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/time_point.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/entries.h"
#include "cli/remote/store_session.h"

namespace evenkeel::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Member;
using checkpoint::Ownership;
using checkpoint::Store;

// Only Evenkeel reports this; Azure Event Hubs, or a hub without an admin interface, does not.
std::int64_t retention_of(const Remote& remote, const std::string& event_hub) {
    const auto info = AdminClient(remote).hub(event_hub);
    return info.ok() ? info->options.retention.count() : 0;
}

// Dead letters, and what operators and members asked for.
Result<> read_notes(StoreSession& session, GroupLook& group) {
    EK_TRY_ASSIGN(const auto requests,
                  session.ask<std::vector<checkpoint::Record>>([](Store& store, auto answer) {
                      store.list_records(processor::request_prefix, std::move(answer));
                  }));
    using Counts = std::map<PartitionId, std::uint64_t>;
    EK_TRY_ASSIGN(const auto letters, session.ask<Counts>([](Store& store, auto answer) {
        store.count_dead_letters(std::move(answer));
    }));
    for (const auto& [partition, count] : letters) {
        if (partition.value < group.rows.size()) group.rows[partition.value].dead_letters = count;
    }
    const auto wanted = processor::read_requests(requests, "");
    group.paused = wanted.paused;
    group.parked = wanted.parked;
    group.store_lost = wanted.store.lost;
    return {};
}

Result<> look_into_store(const GroupPlace& place, const Remote& remote, GroupLook& group) {
    EK_TRY_ASSIGN(const auto name, entries_of(place.store, remote, place.event_hub, place.group,
                                              EntriesFor::looking));
    EK_TRY_ASSIGN(const auto session, StoreSession::open(place.store, name, {.may_create = false}));
    group.is_there = session != nullptr;
    if (!session) return {};
    EK_TRY(read_group(*session, group));
    return read_notes(*session, group);
}

}  // namespace

Result<> read_hub(Client& client, GroupLook& group) {
    EK_TRY_ASSIGN(const auto properties, client.properties());
    for (std::uint32_t i = 0; i < properties.partitions; ++i) {
        GroupLook::Row row;
        EK_TRY_ASSIGN(row.hub, client.properties(i));
        group.rows.push_back(std::move(row));
    }
    group.hub_identity = properties.identity;
    group.hub_created_ms = wall_time(properties.created_time).milliseconds;
    return {};
}

Result<> read_group(StoreSession& session, GroupLook& group) {
    group.is_there = true;
    EK_TRY_ASSIGN(group.members, session.ask<std::vector<Member>>([](Store& store, auto answer) {
        store.list_members(std::move(answer));
    }));
    EK_TRY_ASSIGN(const auto ownerships,
                  session.ask<std::vector<Ownership>>(
                      [](Store& store, auto answer) { store.list_ownerships(std::move(answer)); }));
    EK_TRY_ASSIGN(const auto checkpoints,
                  session.ask<std::vector<Checkpoint>>([](Store& store, auto answer) {
                      store.list_checkpoints(std::move(answer));
                  }));
    for (const auto& ownership : ownerships) {
        if (ownership.partition.value >= group.rows.size()) continue;
        GroupLook::Row& row = group.rows[ownership.partition.value];
        row.ownership = ownership;
        row.is_alive =
            std::any_of(group.members.begin(), group.members.end(),
                        [&](const Member& member) { return member.id == ownership.owner; });
    }
    for (const auto& checkpoint : checkpoints) {
        if (checkpoint.partition.value >= group.rows.size()) continue;
        group.rows[checkpoint.partition.value].checkpoint = checkpoint;
    }
    return {};
}

Result<> read_hub_again(Client& client, GroupLook& group) {
    for (GroupLook::Row& row : group.rows) {
        if (row.checkpoint.sequence.value <= row.hub.last_enqueued_sequence_number) continue;
        EK_TRY_ASSIGN(row.hub, client.properties(row.hub.partition));
    }
    return {};
}

std::string stands_still(const PartitionInfo& hub, const dashboard::Progress& progress) {
    return fmt::format(
        "partition {} stands still: its checkpoint is at event {}, but {}: the event hub was set "
        "back to an older state",
        hub.partition, progress.position,
        hub.last_enqueued_sequence_number < 0
            ? "there was never an event"
            : fmt::format("the last event is {}", hub.last_enqueued_sequence_number));
}

dashboard::Progress GroupLook::progress(const Row& row) const {
    return dashboard::progress_of(
        {row.hub.begin_sequence_number, row.hub.last_enqueued_sequence_number,
         wall_time(row.hub.last_enqueued_time).milliseconds, row.hub.is_empty, hub_created_ms},
        row.checkpoint, retention_ms);
}

Result<host::GroupLoad> GroupLook::load() const {
    host::GroupLoad load;
    load.behind_ms = 0;
    for (const Row& row : rows) {
        const auto now = progress(row);
        if (now.is_beyond_end) {
            return Error{ErrorCode::conflict, stands_still(row.hub, now)};
        }
        if (!now.behind_ms) load.behind_ms.reset();
        if (load.behind_ms) load.behind_ms = std::max(*load.behind_ms, *now.behind_ms);
        // Processors will read all of an event hub that was created again.
        const std::int64_t position =
            now.is_of_removed_hub ? std::max<std::int64_t>(row.hub.begin_sequence_number - 1, 0)
                                  : now.position;
        load.partitions.push_back(
            {now.lag, now.lost, position, row.hub.last_enqueued_sequence_number});
        if (!members.empty() && !row.is_alive) load.is_moving = true;
    }
    return load;
}

std::uint32_t GroupLook::instances() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(members, [](const Member& member) {
        return member.state != checkpoint::MemberState::leaving;
    }));
}

Result<GroupLook> look_at_group(const Remote& remote, const GroupPlace& place,
                                const std::string& name, bool& hub_answered) {
    GroupLook group;
    EK_TRY(first_contact(remote, place.event_hub));
    EK_TRY_ASSIGN(const auto client,
                  Client::open(client_options(remote, place.event_hub, name, Patience::none)));
    EK_TRY(read_hub(*client, group));
    hub_answered = true;
    EK_TRY(look_into_store(place, remote, group));
    EK_TRY(read_hub_again(*client, group));
    group.retention_ms = retention_of(remote, place.event_hub);
    return group;
}

}  // namespace evenkeel::cli
