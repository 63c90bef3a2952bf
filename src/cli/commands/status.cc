#include "cli/commands/status.h"

#include <algorithm>
#include <map>
#include <optional>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "base/time_point.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/entries.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/store_session.h"
#include "cli/text/listing.h"
#include "cli/text/parked.h"
#include "processor/ownership/requests.h"

namespace evenkeel::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Member;
using checkpoint::Ownership;
using checkpoint::Store;

struct Row {
    PartitionInfo hub;
    Ownership ownership;
    Checkpoint checkpoint;
    bool is_alive = false;  // the owner has an entry among the members

    std::int64_t position() const { return checkpoint.sequence.value; }
    std::int64_t lag() const {
        const std::int64_t begin = std::max(position() + 1, hub.begin_sequence_number);
        return hub.is_empty
                   ? 0
                   : std::max<std::int64_t>(0, hub.last_enqueued_sequence_number + 1 - begin);
    }
    // Events that retention has taken before they were handled; none is known of without a
    // position.
    std::int64_t lost() const {
        if (position() < 0 || hub.begin_sequence_number < 0) return 0;
        return std::max<std::int64_t>(0, hub.begin_sequence_number - position() - 1);
    }
    // How much younger the newest event is than the last one handled.
    std::optional<std::int64_t> behind_ms() const {
        if (lag() == 0) return 0;
        if (checkpoint.enqueued_ms == 0) return std::nullopt;
        return std::max<std::int64_t>(
            0, wall_time(hub.last_enqueued_time).milliseconds - checkpoint.enqueued_ms);
    }
    // When retention may take the next event that is to be handled, at the earliest.
    std::optional<std::int64_t> loss_at_ms(std::int64_t retention_ms) const {
        if (lag() == 0 || checkpoint.enqueued_ms == 0 || retention_ms == 0) return std::nullopt;
        return checkpoint.enqueued_ms + retention_ms;
    }
};

struct Group {
    bool is_there = false;  // in the store
    std::vector<Member> members;
    std::vector<Row> rows;
    processor::Paused paused;
    std::map<PartitionId, processor::Parked> parked;
    std::optional<processor::StoreLost> store_lost;
    std::int64_t retention_ms = 0;  // 0: for ever, or not known
};

// Only Evenkeel reports this; Azure Event Hubs, or a hub without an admin interface, does not.
std::int64_t retention_of(const Remote& remote, const std::string& event_hub) {
    const auto info = AdminClient(remote).hub(event_hub);
    return info.ok() ? info->options.retention.count() : 0;
}

// What the store knows of the group; nothing is made where it does not know it.
Result<> look_into_store(const StatusOptions& options, const Remote& remote, Group& group) {
    EK_TRY_ASSIGN(const auto name,
                  entries_of(options.store, remote, options.event_hub, options.group));
    EK_TRY_ASSIGN(const auto session,
                  StoreSession::open(options.store, name, {.may_create = false}));
    group.is_there = session != nullptr;
    if (!session) return {};
    EK_TRY_ASSIGN(group.members, session->ask<std::vector<Member>>([](Store& store, auto answer) {
        store.list_members(std::move(answer));
    }));
    EK_TRY_ASSIGN(const auto ownerships,
                  session->ask<std::vector<Ownership>>(
                      [](Store& store, auto answer) { store.list_ownerships(std::move(answer)); }));
    EK_TRY_ASSIGN(const auto checkpoints,
                  session->ask<std::vector<Checkpoint>>([](Store& store, auto answer) {
                      store.list_checkpoints(std::move(answer));
                  }));
    EK_TRY_ASSIGN(const auto requests,
                  session->ask<std::vector<checkpoint::Record>>([](Store& store, auto answer) {
                      store.list_records(processor::request_prefix, std::move(answer));
                  }));
    const auto wanted = processor::read_requests(requests, "");
    group.paused = wanted.paused;
    group.parked = wanted.parked;
    group.store_lost = wanted.store.lost;
    for (const auto& ownership : ownerships) {
        if (ownership.partition.value >= group.rows.size()) continue;
        Row& row = group.rows[ownership.partition.value];
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

Result<Group> look(const StatusOptions& options, const Remote& remote, bool& hub_answered) {
    Group group;
    EK_TRY_ASSIGN(const auto properties, first_contact(remote, options.event_hub));
    EK_TRY_ASSIGN(
        const auto client,
        Client::open(client_options(remote, options.event_hub, "evenkeel status", Patience::none)));
    for (std::uint32_t i = 0; i < properties.partitions; ++i) {
        Row row;
        EK_TRY_ASSIGN(row.hub, client->properties(i));
        group.rows.push_back(std::move(row));
    }
    hub_answered = true;
    EK_TRY(look_into_store(options, remote, group));
    group.retention_ms = retention_of(remote, options.event_hub);
    return group;
}

boost::json::object json_of(const Row& row, const Group& group, std::int64_t now) {
    const auto seconds = [](std::optional<std::int64_t> ms) {
        return ms ? boost::json::value(static_cast<double>(*ms) / 1000) : boost::json::value();
    };
    const auto loss = row.loss_at_ms(group.retention_ms);
    const bool is_owned = !row.ownership.owner.empty();
    boost::json::object object;
    object["partition"] = row.hub.partition;
    object["owner"] = is_owned ? boost::json::value(row.ownership.owner) : nullptr;
    object["owner_is_member"] = row.is_alive;
    object["epoch"] = row.ownership.epoch.value;
    object["owned_since"] = time_json(row.ownership.since_ms);
    object["position"] = row.position();
    object["last_sequence_number"] = row.hub.last_enqueued_sequence_number;
    object["lag_events"] = row.lag();
    object["lag_seconds"] = seconds(row.behind_ms());
    object["seconds_to_loss"] = seconds(loss ? std::optional(*loss - now) : std::nullopt);
    object["lost_events"] = row.lost();
    object["is_paused"] = group.paused.contains({row.hub.partition});
    object["parked"] = parked_json(group.parked, {row.hub.partition});
    object["checkpoint_written_at"] = time_json(row.checkpoint.written_ms);
    object["failed_attempts"] = row.checkpoint.attempts;
    return object;
}

void print_json(const StatusOptions& options, const Group& group) {
    boost::json::array partitions;
    std::int64_t lag = 0;
    for (const Row& row : group.rows) {
        partitions.push_back(json_of(row, group, SystemClock().wall().milliseconds));
        lag += row.lag();
    }
    boost::json::array members;
    for (const Member& member : group.members) {
        members.push_back({{"id", member.id},
                           {"note", member.note},
                           {"is_leaving", member.state == checkpoint::MemberState::leaving},
                           {"cannot_read", member.state == checkpoint::MemberState::unable},
                           {"since", time_json(member.since_ms)}});
    }
    boost::json::object whole;
    whole["event_hub"] = options.event_hub;
    whole["group"] = options.group;
    whole["lag_events"] = lag;
    whole["store_lost"] = group.store_lost.has_value();
    whole["members"] = std::move(members);
    whole["partitions"] = std::move(partitions);
    fmt::print("{}", indented(whole));
}

std::string number(std::int64_t value) {
    return value < 0 ? "-" : with_commas(static_cast<std::uint64_t>(value));
}

// "4.2s"; "-" if it is not known, and what has come to its end is "now".
Cell span_cell(std::optional<std::int64_t> ms) {
    if (!ms) return Cell("-");
    const std::string shown = *ms == 0 ? "0" : *ms < 0 ? "now" : age_text(*ms);
    return {shown, std::to_string(*ms)};
}

void print_table(const StatusOptions& options, const Group& group) {
    const std::int64_t now = SystemClock().wall().milliseconds;
    Listing listing({{"PARTITION", Listing::Align::right},
                     {"OWNER"},
                     {"SINCE"},
                     {"POSITION", Listing::Align::right},
                     {"LAST", Listing::Align::right},
                     {"LAG", Listing::Align::right},
                     {"BEHIND", Listing::Align::right},
                     {"LOSS IN", Listing::Align::right},
                     {"CHECKPOINT"}});
    std::int64_t lag = 0;
    for (const Row& row : group.rows) {
        lag += row.lag();
        std::string owner = row.ownership.owner.empty() ? "-" : printable(row.ownership.owner);
        if (!row.ownership.owner.empty() && !row.is_alive) owner += " (gone)";
        if (group.paused.contains({row.hub.partition})) owner += " (paused)";
        if (group.parked.contains({row.hub.partition})) owner += " (parked)";
        const auto behind = row.behind_ms();
        const auto loss = row.loss_at_ms(group.retention_ms);
        listing.add(
            {std::to_string(row.hub.partition), owner,
             row.ownership.owner.empty() ? Cell("-") : time_cell(row.ownership.since_ms, now),
             Cell(number(row.position()), std::to_string(row.position())),
             Cell(number(row.hub.last_enqueued_sequence_number),
                  std::to_string(row.hub.last_enqueued_sequence_number)),
             count_cell(static_cast<std::uint64_t>(row.lag())), span_cell(behind),
             span_cell(loss ? std::optional(*loss - now) : std::nullopt),
             time_cell(row.checkpoint.written_ms, now)});
    }
    fmt::print("{}", listing.text(terminal_of(stdout)));
    fmt::print(stderr, "group '{}' of event hub '{}': {}, {} behind\n", printable(options.group),
               printable(options.event_hub), plural(group.members.size(), "member"),
               plural(static_cast<std::uint64_t>(lag), "event"));
    if (!group.is_there) {
        fmt::print(stderr,
                   "the store has no entries of this group: no processor has used it yet\n");
    }
    fmt::print(stderr, "{}",
               parked_lines(group.parked, {options.event_hub, options.group, options.store}, now));
    if (group.store_lost) {
        fmt::print(stderr, "{}\n", printable(processor::not_accepted(*group.store_lost).detail));
    }
    for (const Row& row : group.rows) {
        if (row.lost() == 0) continue;
        fmt::print(stderr, "partition {}: retention deleted {} before they were handled\n",
                   row.hub.partition, plural(static_cast<std::uint64_t>(row.lost()), "event"));
    }
}

}  // namespace

ExitCode status(const StatusOptions& options) {
    const std::string what =
        fmt::format("cannot get the status of event hub '{}'", options.event_hub);
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail(what, remote.error());
    bool hub_answered = false;
    const auto group = look(options, *remote, hub_answered);
    if (!group.ok()) {
        return hub_answered ? fail_store(what, group.error(), options.store)
                            : fail_remote(what, group.error(), *remote);
    }
    if (!has_group(*remote, options.event_hub, options.group)) {
        if (!group->is_there) {
            return fail_no_group(what, *remote, options.event_hub, options.group);
        }
        // It was removed: what its processors had done is still worth a look.
        fmt::print(stderr,
                   "event hub '{0}' has no consumer group '{1}' any more; 'evenkeel group "
                   "create {0} {1}' creates it again\n",
                   printable(options.event_hub), printable(options.group));
    }
    if (options.json) {
        print_json(options, *group);
    } else {
        print_table(options, *group);
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
