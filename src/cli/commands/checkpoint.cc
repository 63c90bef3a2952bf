#include "cli/commands/checkpoint.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/time_point.h"
#include "cli/commands/checkpoint_moves.h"
#include "cli/commands/read.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/group_contact.h"
#include "cli/text/listing.h"
#include "processor/ownership/group_home.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

using checkpoint::Checkpoint;

boost::json::object to_json(const Checkpoint& checkpoint) {
    return {{"partition", checkpoint.partition.value},
            {"sequence", checkpoint.sequence.value},
            {"offset", checkpoint.offset},
            {"epoch", checkpoint.epoch.value},
            {"attempts", checkpoint.attempts},
            {"hub_created_at", time_json(checkpoint.hub_created_ms)},
            {"enqueued_at", time_json(checkpoint.enqueued_ms)},
            {"written_at", time_json(checkpoint.written_ms)}};
}

std::string owner_of(const CheckpointRow& row) {
    if (!row.ownership || row.ownership->owner.empty()) return "-";
    return row.ownership->owner + (row.is_owned ? "" : " (gone)");
}

// The group itself, then all others that the hub names.
std::vector<std::string> look_groups(const CheckpointOptions& options) {
    std::vector<std::string> groups = {options.group};
    const auto remote = remote_of(options.remote);
    const auto hub = remote.ok() ? AdminClient(*remote).hub(options.event_hub)
                                 : Result<EventHubInfo>(remote.error());
    if (!hub.ok()) return groups;
    for (const auto& group : hub->groups) {
        if (group != options.group) groups.push_back(group);
    }
    return groups;
}

// The last event before `position`, asked of the hub.
Result<Checkpoint> resolve(Client& client, const CheckpointOptions& options,
                           std::uint32_t partition, const ReadStart& start) {
    Checkpoint found{.partition = {partition}};
    EK_TRY_ASSIGN(const auto info, client.properties(partition));
    const Position position = position_in(start, info);
    found.sequence = {info.last_enqueued_sequence_number};
    if (info.is_empty || position.kind == Position::Kind::latest) return found;
    // The processors of the group read it exclusively; another group has the same events.
    Error refused{ErrorCode::unavailable, ""};
    for (const std::string& group : look_groups(options)) {
        auto reader = RemoteReader::open(client, group, partition, position, {});
        const auto batch = reader.ok() ? (*reader)->read(1, std::chrono::seconds(2))
                                       : Result<EventBatch>(reader.error());
        if (!batch.ok()) {
            refused = batch.error();
            continue;
        }
        for (const Event& event : *batch) {
            found.sequence = {event.sequence_number - 1};
            break;
        }
        return found;
    }
    return Error{refused.code,
                 fmt::format("{}; if processors read all its groups, 'evenkeel group create {} "
                             "look' makes one to look with",
                             refused.detail, options.event_hub)};
}

constexpr std::string_view force_stores = "--force stores it all the same";

// The hub, if it is the one that the entries are of and answers.
AskedHub asked_hub(std::string_view what, const CheckpointOptions& options,
                   const std::string& group) {
    const auto remote = remote_of(options.remote);
    // With --namespace the entries may be of another hub than the one that would answer.
    if (!options.hub_namespace.empty() || options.is_forced || !remote.ok()) return {};
    return ask_hub(what, *remote, {options.event_hub, group, options.partitions}, force_stores);
}

// Says so if the position lies behind the last event: a processor would stand still there.
std::optional<ExitCode> refuse_beyond_end(const AskedHub& hub, const Checkpoint& wanted) {
    if (!hub.client || wanted.sequence.value < 0) return std::nullopt;
    const auto info = hub.client->properties(wanted.partition.value);
    if (!info.ok() || wanted.sequence.value <= info->last_enqueued_sequence_number) {
        return std::nullopt;
    }
    return fail(
        fmt::format("cannot set partition {}", wanted.partition.value),
        {ErrorCode::invalid_argument,
         fmt::format("event {} does not exist: {}", wanted.sequence.value,
                     info->last_enqueued_sequence_number < 0
                         ? "there was never an event"
                         : fmt::format("the last one is {}", info->last_enqueued_sequence_number))},
        "--to end continues with the next event that is sent; --force stores it all the "
        "same");
}

}  // namespace

ExitCode checkpoint_ls(const CheckpointOptions& options) {
    const auto opened = open_group(options, {});
    if (!opened.ok()) return fail("cannot list checkpoints", opened.error());
    using Align = Listing::Align;
    Listing listing({{"PARTITION", Align::right},
                     {"SEQUENCE", Align::right},
                     {"OFFSET", Align::right},
                     {"EPOCH", Align::right},
                     {"ATTEMPTS", Align::right},
                     {"WRITTEN"},
                     {"OWNER"}});
    boost::json::array listed;
    const std::int64_t now = SystemClock().wall().milliseconds;
    for (const auto& [partition, row] : opened->rows) {
        if (!is_wanted(options, partition)) continue;
        const Checkpoint entry = row.checkpoint.value_or(Checkpoint{.partition = {partition}});
        if (is_json(options)) {
            auto object = to_json(entry);
            object["owner"] = row.ownership ? row.ownership->owner : "";
            object["owner_epoch"] = row.ownership ? row.ownership->epoch.value : 0;
            object["is_owned"] = row.is_owned;
            listed.push_back(std::move(object));
            continue;
        }
        listing.add(
            {std::to_string(partition),
             entry.sequence.value < 0 ? Cell("-", "") : Cell(std::to_string(entry.sequence.value)),
             entry.offset.empty() ? Cell("-", "") : Cell(entry.offset),
             std::to_string(entry.epoch.value), std::to_string(entry.attempts),
             time_cell(entry.written_ms, now), Cell(owner_of(row))});
    }
    fmt::print("{}", is_json(options) ? json_line(listed) : listing.text(terminal_of(stdout)));
    return ExitCode::done;
}

ExitCode checkpoint_set(const CheckpointOptions& options) {
    const auto start = parse_start(options.to, SystemClock().wall());
    if (!start) {
        return wrong_usage(fmt::format("'{}' is no position", options.to),
                           "use start, end, seq:N, offset:N, 2026-03-02T09:14:00Z, -15m or -10");
    }
    const char* what = "cannot set checkpoints";
    if (const auto file = check_file_of_store(options.store); !file.ok()) {
        return fail(what, file.error());
    }
    const AskedHub hub = asked_hub(what, options, options.group);
    if (hub.ended) return *hub.ended;
    const Position& position = start->position;
    for (const std::uint32_t partition : options.partitions) {  // before the entries are created
        if (position.kind != Position::Kind::sequence_number) break;
        const Checkpoint wanted{.partition = {partition}, .sequence = {position.value - 1}};
        if (const auto refused = refuse_beyond_end(hub, wanted)) return *refused;
    }
    // Only partitions that are named are set in a group that is not there yet.
    auto opened = open_group(options, {EntriesFor::changing, !options.partitions.empty()});
    if (!opened.ok()) return fail(what, opened.error());
    // These two need no hub to tell which event they are.
    const bool is_known = !start->last_events && (position.kind == Position::Kind::earliest ||
                                                  position.kind == Position::Kind::sequence_number);
    std::unique_ptr<Client> client;
    std::int64_t created_ms = wall_time(hub.properties.created_time).milliseconds;
    if (!is_known) {
        const auto remote = remote_of(options.remote);
        if (!remote.ok()) return fail("cannot reach the hub", remote.error());
        auto connected = Client::open(
            client_options(*remote, options.event_hub, "evenkeel checkpoint", Patience::none));
        if (!connected.ok()) return fail_remote("cannot ask the hub", connected.error(), *remote);
        client = std::move(*connected);
    }
    if (client && created_ms == 0) {
        const auto properties = client->properties();
        if (properties.ok()) created_ms = wall_time(properties->created_time).milliseconds;
    }
    for (const std::uint32_t partition : options.partitions) opened->rows[partition];
    if (opened->rows.empty()) {
        return fail(what, {ErrorCode::not_found, "the group has no checkpoints yet"},
                    "name the partitions with --partition");
    }
    std::vector<CheckpointMove> moves;
    for (const auto& [partition, row] : opened->rows) {
        if (!is_wanted(options, partition)) continue;
        Checkpoint wanted{.partition = {partition}};
        if (position.kind == Position::Kind::sequence_number) {
            wanted.sequence = {std::max<std::int64_t>(position.value - 1, -1)};
        } else if (!is_known) {
            const auto found = resolve(*client, options, partition, *start);
            if (!found.ok()) return fail(fmt::format("partition {}", partition), found.error());
            wanted = *found;
        }
        if (const auto refused = refuse_beyond_end(hub, wanted)) return *refused;
        // The event hub may have been created again since the old one was stored: a processor
        // would take a position of the old one for none.
        if (row.checkpoint) wanted.hub_created_ms = row.checkpoint->hub_created_ms;
        if (created_ms != 0) wanted.hub_created_ms = created_ms;
        moves.push_back({wanted, &row});
    }
    return apply(*opened, moves, options);
}

ExitCode checkpoint_rewind(const CheckpointOptions& options) {
    if (options.by < 1) return wrong_usage("rewind goes back by at least 1 event", "use --by N");
    const char* what = "cannot rewind";
    if (const auto file = check_file_of_store(options.store); !file.ok()) {
        return fail(what, file.error());
    }
    const AskedHub hub = asked_hub(what, options, options.group);
    if (hub.ended) return *hub.ended;
    const std::int64_t created_ms = wall_time(hub.properties.created_time).milliseconds;
    auto opened = open_group(options, {EntriesFor::changing});
    if (!opened.ok()) return fail(what, opened.error());
    std::vector<CheckpointMove> moves;
    for (const auto& [partition, row] : opened->rows) {
        if (!is_wanted(options, partition) || !row.checkpoint) continue;
        Checkpoint wanted = *row.checkpoint;
        if (created_ms != 0 && wanted.hub_created_ms != 0 && wanted.hub_created_ms != created_ms) {
            return fail(what,
                        {ErrorCode::conflict,
                         fmt::format("the event hub was created again after the checkpoint of "
                                     "partition {} was stored, so processors read it from its "
                                     "beginning",
                                     partition)},
                        "'evenkeel checkpoint set' sets a position in the new one");
        }
        wanted.sequence = {std::max<std::int64_t>(wanted.sequence.value - options.by, -1)};
        wanted.offset.clear();  // it was of another event
        wanted.enqueued_ms = 0;
        wanted.attempts = 0;
        moves.push_back({wanted, &row});
    }
    return apply(*opened, moves, options);
}

ExitCode checkpoint_export(const CheckpointOptions& options) {
    const auto opened = open_group(options, {});
    if (!opened.ok()) return fail("cannot export", opened.error());
    for (const auto& [partition, row] : opened->rows) {
        if (!row.checkpoint || !is_wanted(options, partition)) continue;
        fmt::print("{}", json_line(to_json(*row.checkpoint)));
    }
    return ExitCode::done;
}

ExitCode checkpoint_copy(const CheckpointOptions& options) {
    if (options.to_store.empty() && options.to_group.empty()) {
        return wrong_usage("copy needs a destination", "use --to STORE, --to-group GROUP");
    }
    auto from = open_group(options, {EntriesFor::changing});
    if (!from.ok()) return fail("cannot copy", from.error());
    if (!options.to_group.empty()) {
        const AskedHub hub = asked_hub("cannot copy", options, options.to_group);
        if (hub.ended) return *hub.ended;
    }
    auto group = group_of(options, EntriesFor::changing);
    if (!group.ok()) return fail("cannot copy", group.error());
    if (!options.to_group.empty()) group->group = options.to_group;
    std::vector<Checkpoint> wanted;
    for (const auto& [partition, row] : from->rows) {
        if (!row.checkpoint || !is_wanted(options, partition)) continue;
        wanted.push_back(*row.checkpoint);
        wanted.back().epoch = {};  // the other group's epochs are its own
    }
    auto to = open_group(options.to_store.empty() ? options.store : options.to_store, *group,
                         {.may_create = !options.is_dry_run && !wanted.empty()});
    if (!to.ok()) return fail("cannot copy", to.error());
    std::vector<CheckpointMove> moves;
    moves.reserve(wanted.size());
    for (const Checkpoint& entry : wanted) {
        moves.push_back({entry, &to->rows[entry.partition.value]});
    }
    return apply(*to, moves, options);
}

ExitCode checkpoint_adopt(const CheckpointOptions& options) {
    const auto changed = [&]() -> Result<bool> {
        EK_TRY(check_file_of_store(options.store));
        checkpoint::GroupName group{options.hub_namespace, options.event_hub, options.group};
        if (group.hub_namespace.empty()) {
            EK_TRY_ASSIGN(const Remote remote, remote_of(options.remote));
            group.hub_namespace = remote.target.endpoint.host;
        }
        EK_TRY_ASSIGN(const auto opened, open_group(options.store, group, {.may_create = false}));
        if (!opened.store) return false;
        for (const auto& [partition, row] : opened.rows) {
            if (!row.is_owned) continue;
            return Error{ErrorCode::conflict,
                         fmt::format("partition {} is owned by '{}', which is alive; stop the "
                                     "processors of the group first",
                                     partition, row.ownership->owner)};
        }
        using Records = std::vector<checkpoint::Record>;
        EK_TRY_ASSIGN(auto records, opened.store->ask<Records>([](auto& store, auto done) {
            store.list_records(processor::home_hub_key, std::move(done));
        }));
        if (records.empty()) return false;
        records[0].value.clear();
        EK_TRY(opened.store->ask<std::string>([record = records[0]](auto& store, auto done) {
            store.write_record(record, std::move(done));
        }));
        return true;
    }();
    if (!changed.ok()) return fail("the entries were not changed", changed.error());
    if (is_json(options)) {
        fmt::print("{}", json_line(boost::json::object{{"changed", *changed}}));
        return ExitCode::done;
    }
    fmt::print("{}\n", *changed ? "the next hub that a processor of the group reads takes them"
                                : "the entries belong to no hub");
    return ExitCode::done;
}

}  // namespace evenkeel::cli
