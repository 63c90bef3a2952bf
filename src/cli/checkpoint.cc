#include "cli/checkpoint.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/read.h"
#include "cli/store_session.h"
#include "io/file.h"
#include "io/system/files.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::GroupName;
using checkpoint::Member;
using checkpoint::Ownership;
using checkpoint::Store;

// An owner whose member entry is older than this is not there any more.
constexpr Duration alive_max = std::chrono::seconds(30);
constexpr std::uint64_t import_bytes_max = 16 << 20;

// What a group's store says of one partition.
struct Row {
    std::optional<Checkpoint> checkpoint;
    std::optional<Ownership> ownership;
    bool is_owned = false;  // by somebody who is there
};
using Rows = std::map<std::uint32_t, Row>;

struct Opened {
    std::unique_ptr<StoreSession> store;
    Rows rows;
};

Result<GroupName> group_of(const CheckpointOptions& options) {
    std::string host = options.hub_namespace;
    if (host.empty()) {
        EK_TRY_ASSIGN(const Remote remote, remote_of(options.remote));
        host = remote.target.endpoint.host;
    }
    return GroupName{host, options.event_hub, options.group};
}

Result<Opened> open(const std::string& url, const GroupName& group) {
    Opened opened;
    EK_TRY_ASSIGN(opened.store, StoreSession::open(url, group));
    StoreSession& store = *opened.store;
    EK_TRY_ASSIGN(const auto checkpoints,
                  store.ask<std::vector<Checkpoint>>(
                      [](Store& s, auto done) { s.list_checkpoints(std::move(done)); }));
    EK_TRY_ASSIGN(const auto ownerships, store.ask<std::vector<Ownership>>([](Store& s, auto done) {
        s.list_ownerships(std::move(done));
    }));
    EK_TRY_ASSIGN(const auto members, store.ask<std::vector<Member>>([](Store& s, auto done) {
        s.list_members(std::move(done));
    }));
    for (const auto& entry : checkpoints) opened.rows[entry.partition.value].checkpoint = entry;
    for (const auto& entry : ownerships) {
        Row& row = opened.rows[entry.partition.value];
        row.ownership = entry;
        row.is_owned = std::ranges::any_of(members, [&](const Member& member) {
            return member.id == entry.owner && member.age < alive_max;
        });
    }
    return opened;
}

Result<Opened> open(const CheckpointOptions& options) {
    EK_TRY_ASSIGN(const GroupName group, group_of(options));
    constexpr std::string_view sqlite = "sqlite:";
    if (options.store.starts_with(sqlite)) {  // opening it would make one where a name is mistyped
        io::system::SystemFiles files;
        EK_TRY(files.open(options.store.substr(sqlite.size()), io::OpenMode::read));
    }
    return open(options.store, group);
}

boost::json::object to_json(const Checkpoint& checkpoint) {
    return {{"partition", checkpoint.partition.value},
            {"sequence", checkpoint.sequence.value},
            {"offset", checkpoint.offset},
            {"epoch", checkpoint.epoch.value},
            {"attempts", checkpoint.attempts},
            {"hub_created_ms", checkpoint.hub_created_ms},
            {"enqueued_ms", checkpoint.enqueued_ms},
            {"written_ms", checkpoint.written_ms}};
}

bool is_json(const CheckpointOptions& options) {
    return options.output == "json";
}

std::string owner_of(const Row& row) {
    if (!row.ownership || row.ownership->owner.empty()) return "-";
    return row.ownership->owner + (row.is_owned ? "" : " (gone)");
}

// One move of a position, as planned and as carried out.
struct Move {
    Checkpoint wanted;
    const Row* row;
};

// Nobody may write the old position again: the ownership entry gets a new version and epoch, so
// that its owner loses it, and the checkpoint is sealed under that epoch.
Result<> carry_out(StoreSession& store, Move move) {
    if (move.row->ownership) {
        Ownership freed = *move.row->ownership;
        freed.owner.clear();
        freed.epoch.value += 1;
        EK_TRY_ASSIGN(const auto written,
                      store.ask<std::vector<Result<std::string>>>([&](Store& s, auto done) {
                          s.write_ownerships({freed}, std::move(done));
                      }));
        EK_TRY(written.at(0));
        move.wanted.epoch = freed.epoch;
    }
    return store.ask<void>(
        [&](Store& s, auto done) { s.reset_checkpoint(move.wanted, std::move(done)); });
}

ExitCode apply(StoreSession& store, const std::vector<Move>& moves,
               const CheckpointOptions& options) {
    for (const Move& move : moves) {
        if (!move.row->is_owned || options.is_forced || options.is_dry_run) continue;
        return fail(fmt::format("partition {} is owned by '{}'", move.wanted.partition.value,
                                move.row->ownership->owner),
                    {ErrorCode::conflict, "nothing was changed"},
                    "stop the processors of the group, or take it from its owner with --force");
    }
    boost::json::array told;
    for (const Move& move : moves) {
        const std::int64_t from = move.row->checkpoint ? move.row->checkpoint->sequence.value : -1;
        const std::int64_t to = move.wanted.sequence.value;
        if (!options.is_dry_run) {
            const auto done = carry_out(store, move);
            if (!done.ok()) {
                return fail(fmt::format("cannot set partition {}", move.wanted.partition.value),
                            done.error(), "look at 'evenkeel checkpoint ls' and try again");
            }
        }
        if (is_json(options)) {
            told.push_back({{"partition", move.wanted.partition.value},
                            {"from", from},
                            {"to", to},
                            {"changed", !options.is_dry_run}});
        } else {
            fmt::print("partition {}: {} -> {} ({} events {})\n", move.wanted.partition.value, from,
                       to, std::abs(to - from), to < from ? "again" : "forward");
        }
    }
    if (is_json(options)) fmt::print("{}\n", boost::json::serialize(told));
    if (!is_json(options) && options.is_dry_run) fmt::print("Nothing changed: --dry-run.\n");
    return ExitCode::done;
}

bool is_wanted(const CheckpointOptions& options, std::uint32_t partition) {
    return options.partitions.empty() ||
           std::ranges::find(options.partitions, partition) != options.partitions.end();
}

// The last event before `position`, asked of the hub.
Result<Checkpoint> resolve(Client& client, const CheckpointOptions& options,
                           std::uint32_t partition, const ReadStart& start) {
    Checkpoint found{.partition = {partition}};
    EK_TRY_ASSIGN(const auto info, client.properties(partition));
    const Position position = position_in(start, info);
    found.sequence = {info.last_enqueued_sequence_number};
    if (info.is_empty || position.kind == Position::Kind::latest) return found;
    EK_TRY_ASSIGN(auto reader, open_reader(client, options.group, partition, position, {}));
    EK_TRY_ASSIGN(const auto batch, reader->read(1, std::chrono::seconds(2)));
    for (const Event& event : batch) {
        found.sequence = {event.sequence_number - 1};
        break;
    }
    return found;
}

}  // namespace

ExitCode checkpoint_ls(const CheckpointOptions& options) {
    const auto opened = open(options);
    if (!opened.ok()) return fail("cannot list checkpoints", opened.error());
    boost::json::array listed;
    if (!is_json(options)) {
        fmt::print("{:<10} {:>14} {:>14} {:>6} {:>8}  {:<24}  {}\n", "PARTITION", "SEQUENCE",
                   "OFFSET", "EPOCH", "ATTEMPTS", "WRITTEN", "OWNER");
    }
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
        fmt::print("{:<10} {:>14} {:>14} {:>6} {:>8}  {:<24}  {}\n", partition,
                   entry.sequence.value < 0 ? "-" : std::to_string(entry.sequence.value),
                   entry.offset.empty() ? "-" : entry.offset, entry.epoch.value, entry.attempts,
                   row.checkpoint ? to_string(WallTime{entry.written_ms}) : "-", owner_of(row));
    }
    if (is_json(options)) fmt::print("{}\n", boost::json::serialize(listed));
    return ExitCode::done;
}

ExitCode checkpoint_set(const CheckpointOptions& options) {
    const auto start = parse_start(options.to, SystemClock().wall());
    if (!start) {
        return wrong_usage(fmt::format("'{}' is no position", options.to),
                           "use start, end, seq:N, offset:N, 2026-03-02T09:14:00Z, -15m or -10");
    }
    auto opened = open(options);
    if (!opened.ok()) return fail("cannot set checkpoints", opened.error());
    // These two need no hub to tell which event they are.
    const Position& position = start->position;
    const bool is_known = !start->last_events && (position.kind == Position::Kind::earliest ||
                                                  position.kind == Position::Kind::sequence_number);
    std::unique_ptr<Client> client;
    if (!is_known) {
        const auto remote = remote_of(options.remote);
        if (!remote.ok()) return fail("cannot reach the hub", remote.error());
        auto connected = Client::open(
            client_options(*remote, options.event_hub, "evenkeel checkpoint", Patience::none));
        if (!connected.ok()) return fail_remote("cannot ask the hub", connected.error(), *remote);
        client = std::move(*connected);
    }
    for (const std::uint32_t partition : options.partitions) opened->rows[partition];
    if (opened->rows.empty()) {
        return fail("cannot set checkpoints",
                    {ErrorCode::not_found, "the group has no checkpoints yet"},
                    "name the partitions with --partition");
    }
    std::vector<Move> moves;
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
        if (row.checkpoint) wanted.hub_created_ms = row.checkpoint->hub_created_ms;
        moves.push_back({wanted, &row});
    }
    return apply(*opened->store, moves, options);
}

ExitCode checkpoint_rewind(const CheckpointOptions& options) {
    if (options.by < 1) return wrong_usage("rewind goes back by at least 1 event", "use --by N");
    auto opened = open(options);
    if (!opened.ok()) return fail("cannot rewind", opened.error());
    std::vector<Move> moves;
    for (const auto& [partition, row] : opened->rows) {
        if (!is_wanted(options, partition) || !row.checkpoint) continue;
        Checkpoint wanted = *row.checkpoint;
        wanted.sequence = {std::max<std::int64_t>(wanted.sequence.value - options.by, -1)};
        wanted.offset.clear();  // it was of another event
        wanted.enqueued_ms = 0;
        wanted.attempts = 0;
        moves.push_back({wanted, &row});
    }
    return apply(*opened->store, moves, options);
}

ExitCode checkpoint_export(const CheckpointOptions& options) {
    const auto opened = open(options);
    if (!opened.ok()) return fail("cannot export", opened.error());
    for (const auto& [partition, row] : opened->rows) {
        if (!row.checkpoint || !is_wanted(options, partition)) continue;
        fmt::print("{}\n", boost::json::serialize(to_json(*row.checkpoint)));
    }
    return ExitCode::done;
}

ExitCode checkpoint_import(const CheckpointOptions& options) {
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, options.file, import_bytes_max);
    if (!bytes.ok()) return fail(fmt::format("cannot read '{}'", options.file), bytes.error());
    auto opened = open(options);
    if (!opened.ok()) return fail("cannot import", opened.error());
    std::vector<Checkpoint> wanted;
    std::string_view left = as_text(*bytes);
    for (int line = 1; !left.empty(); ++line) {
        const std::string_view text = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(left.size(), text.size() + 1));
        if (text.empty()) continue;
        boost::json::error_code error;
        const auto value = boost::json::parse(text, error);
        const auto* object = error ? nullptr : value.if_object();
        const auto number = [&](const char* name) -> std::optional<std::int64_t> {
            const auto* member = object ? object->if_contains(name) : nullptr;
            const auto* integer = member ? member->if_int64() : nullptr;
            return integer ? std::optional(*integer) : std::nullopt;
        };
        const auto partition = number("partition");
        const auto sequence = number("sequence");
        if (!partition || *partition < 0 || *partition > 65'535 || !sequence || *sequence < -1) {
            return fail(fmt::format("line {} of '{}'", line, options.file),
                        {ErrorCode::invalid_argument,
                         "not a JSON object with \"partition\" and \"sequence\""},
                        "'evenkeel checkpoint export' writes such files");
        }
        const auto* offset = object->if_contains("offset");
        if (!is_wanted(options, static_cast<std::uint32_t>(*partition))) continue;
        wanted.push_back({.partition = {static_cast<std::uint32_t>(*partition)},
                          .sequence = {*sequence},
                          .offset = offset && offset->is_string()
                                        ? std::string(offset->get_string())
                                        : std::string(),
                          .hub_created_ms = number("hub_created_ms").value_or(0),
                          .enqueued_ms = number("enqueued_ms").value_or(0)});
    }
    std::vector<Move> moves;
    moves.reserve(wanted.size());
    for (const Checkpoint& entry : wanted) {
        moves.push_back({entry, &opened->rows[entry.partition.value]});
    }
    return apply(*opened->store, moves, options);
}

ExitCode checkpoint_copy(const CheckpointOptions& options) {
    if (options.to_store.empty() && options.to_group.empty()) {
        return wrong_usage("copy needs a place to copy to", "use --to STORE, --to-group GROUP");
    }
    auto from = open(options);
    if (!from.ok()) return fail("cannot copy", from.error());
    auto group = group_of(options);
    if (!group.ok()) return fail("cannot copy", group.error());
    if (!options.to_group.empty()) group->group = options.to_group;
    auto to = open(options.to_store.empty() ? options.store : options.to_store, *group);
    if (!to.ok()) return fail("cannot copy", to.error());
    std::vector<Move> moves;
    for (const auto& [partition, row] : from->rows) {
        if (!row.checkpoint || !is_wanted(options, partition)) continue;
        Checkpoint wanted = *row.checkpoint;
        wanted.epoch = {};  // the other group's epochs are its own
        moves.push_back({wanted, &to->rows[partition]});
    }
    return apply(*to->store, moves, options);
}

}  // namespace evenkeel::cli
