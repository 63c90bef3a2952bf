#include "cli/status.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/listing.h"
#include "cli/store_session.h"

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
    // No newer event was handled since then: 0 if all are.
    std::int64_t behind_ms() const {
        if (lag() == 0 || checkpoint.written_ms == 0) return 0;
        return std::max<std::int64_t>(0, hub.last_enqueued_time_ms - checkpoint.written_ms);
    }
};

struct Group {
    std::vector<Member> members;
    std::vector<Row> rows;
};

Result<Group> look(const StatusOptions& options, const Remote& remote) {
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
    EK_TRY_ASSIGN(const auto session,
                  StoreSession::open(options.store, {remote.target.endpoint.host, options.event_hub,
                                                     options.group}));
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
    return group;
}

boost::json::object json_of(const Row& row) {
    const bool is_owned = !row.ownership.owner.empty();
    boost::json::object object;
    object["partition"] = row.hub.partition;
    object["owner"] = is_owned ? boost::json::value(row.ownership.owner) : nullptr;
    object["owner_is_member"] = row.is_alive;
    object["epoch"] = row.ownership.epoch.value;
    object["owned_since_ms"] = row.ownership.since_ms;
    object["position"] = row.position();
    object["last_sequence_number"] = row.hub.last_enqueued_sequence_number;
    object["lag_events"] = row.lag();
    object["lag_seconds"] = static_cast<double>(row.behind_ms()) / 1000;
    object["checkpoint_written_ms"] = row.checkpoint.written_ms;
    object["failed_attempts"] = row.checkpoint.attempts;
    return object;
}

void print_json(const StatusOptions& options, const Group& group) {
    boost::json::array partitions;
    std::int64_t lag = 0;
    for (const Row& row : group.rows) {
        partitions.push_back(json_of(row));
        lag += row.lag();
    }
    boost::json::array members;
    for (const Member& member : group.members) {
        members.push_back({{"id", member.id},
                           {"note", member.note},
                           {"is_leaving", member.state == checkpoint::MemberState::leaving},
                           {"since_ms", member.since_ms}});
    }
    boost::json::object whole;
    whole["event_hub"] = options.event_hub;
    whole["group"] = options.group;
    whole["lag_events"] = lag;
    whole["members"] = std::move(members);
    whole["partitions"] = std::move(partitions);
    fmt::print("{}", indented(whole));
}

std::string number(std::int64_t value) {
    return value < 0 ? "-" : with_commas(static_cast<std::uint64_t>(value));
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
                     {"CHECKPOINT"}});
    std::int64_t lag = 0;
    for (const Row& row : group.rows) {
        lag += row.lag();
        std::string owner = row.ownership.owner.empty() ? "-" : printable(row.ownership.owner);
        if (!row.ownership.owner.empty() && !row.is_alive) owner += " (gone)";
        const std::int64_t behind = row.behind_ms();
        listing.add(
            {std::to_string(row.hub.partition), owner,
             row.ownership.owner.empty() ? Cell("-") : time_cell(row.ownership.since_ms, now),
             Cell(number(row.position()), std::to_string(row.position())),
             Cell(number(row.hub.last_enqueued_sequence_number),
                  std::to_string(row.hub.last_enqueued_sequence_number)),
             count_cell(static_cast<std::uint64_t>(row.lag())),
             Cell(behind == 0 ? "0" : age_text(behind), std::to_string(behind)),
             time_cell(row.checkpoint.written_ms, now)});
    }
    fmt::print("{}", listing.text(terminal_of(stdout)));
    fmt::print(stderr, "group '{}' of event hub '{}': {} members, {} events behind\n",
               printable(options.group), printable(options.event_hub), group.members.size(),
               with_commas(static_cast<std::uint64_t>(lag)));
}

}  // namespace

ExitCode status(const StatusOptions& options) {
    const std::string what =
        fmt::format("the status of event hub '{}' cannot be told", options.event_hub);
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail(what, remote.error());
    const auto group = look(options, *remote);
    if (!group.ok()) return fail_remote(what, group.error(), *remote);
    if (options.json) {
        print_json(options, *group);
    } else {
        print_table(options, *group);
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
