#include "cli/commands/checkpoint_moves.h"

#include <algorithm>
#include <cstdlib>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/text/listing.h"
#include "processor/ownership/operator_requests.h"

namespace evenkeel::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::GroupName;
using checkpoint::Member;
using checkpoint::Ownership;
using checkpoint::Store;

Result<> carry_out(StoreSession& store, const CheckpointMove& move) {
    return store.ask<void>([&](Store& s, auto done) {
        processor::set_position(s, move.row->ownership, move.wanted, std::move(done));
    });
}

// "-1", "1000"; by its offset if that is all that is known of it.
std::string shown(const Checkpoint& checkpoint) {
    if (checkpoint.sequence.value < 0 && !checkpoint.offset.empty()) {
        return fmt::format("offset {}", checkpoint.offset);
    }
    return std::to_string(checkpoint.sequence.value);
}

void print(const CheckpointMove& move, const Checkpoint& from) {
    const std::uint32_t partition = move.wanted.partition.value;
    if (!move.stays.empty()) {
        fmt::print("partition {}: stays at {} ({})\n", partition, shown(from), move.stays);
        return;
    }
    const std::int64_t by = move.wanted.sequence.value - from.sequence.value;
    if (by == 0 && move.wanted.offset.empty()) {
        fmt::print("partition {}: {}\n", partition,
                   from.sequence.value < 0 ? "at the start" : "at " + shown(from) + " already");
        return;
    }
    const bool is_counted = move.wanted.sequence.value >= 0 || move.wanted.offset.empty();
    fmt::print("partition {}: {} -> {}{}\n", partition, shown(from), shown(move.wanted),
               is_counted ? fmt::format(" ({} {})",
                                        plural(static_cast<std::uint64_t>(std::abs(by)), "event"),
                                        by < 0 ? "again" : "forward")
                          : "");
}

}  // namespace

Result<GroupName> group_of(const CheckpointOptions& options, EntriesFor purpose) {
    if (!options.hub_namespace.empty()) {
        return GroupName{options.hub_namespace, options.event_hub, options.group};
    }
    EK_TRY_ASSIGN(const Remote remote, remote_of(options.remote));
    return entries_of(options.store, remote, options.event_hub, options.group, purpose);
}

Result<OpenedGroup> open_group(const std::string& url, const GroupName& group,
                               const checkpoint::OpenOptions& options) {
    OpenedGroup opened;
    EK_TRY_ASSIGN(opened.store, StoreSession::open(url, group, options));
    if (!opened.store) return opened;
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
        CheckpointRow& row = opened.rows[entry.partition.value];
        row.ownership = entry;
        row.is_owned = std::ranges::any_of(members, [&](const Member& member) {
            return member.id == entry.owner && store.is_alive(member);
        });
    }
    return opened;
}

Result<OpenedGroup> open_group(const CheckpointOptions& options, EntriesUse use) {
    EK_TRY(check_file_of_store(options.store));
    EK_TRY_ASSIGN(const GroupName group, group_of(options, use.purpose));
    return open_group(options.store, group, {.may_create = use.may_create && !options.is_dry_run});
}

ExitCode apply(const OpenedGroup& opened, const std::vector<CheckpointMove>& moves,
               const CheckpointOptions& options) {
    for (const CheckpointMove& move : moves) {
        if (!move.row->is_owned || !move.stays.empty()) continue;
        if (options.is_forced || options.is_dry_run) continue;
        return fail(fmt::format("partition {} is owned by '{}'", move.wanted.partition.value,
                                move.row->ownership->owner),
                    {ErrorCode::conflict, "nothing was changed"},
                    "stop the processors of the group, or take it from its owner with --force");
    }
    boost::json::array told;
    bool would_change = false;
    for (const CheckpointMove& move : moves) {
        const Checkpoint from = move.row->checkpoint.value_or(Checkpoint{});
        const bool is_changed = !options.is_dry_run && move.stays.empty();
        if (options.is_dry_run && move.stays.empty()) would_change = true;
        if (is_changed) {
            const auto done = carry_out(*opened.store, move);
            if (!done.ok()) {
                return fail(fmt::format("cannot set partition {}", move.wanted.partition.value),
                            done.error(), "look at 'evenkeel checkpoint ls' and try again");
            }
        }
        if (!is_json(options)) {
            print(move, from);
            continue;
        }
        boost::json::object object = {{"partition", move.wanted.partition.value},
                                      {"from", from.sequence.value},
                                      {"to", move.wanted.sequence.value},
                                      {"changed", is_changed}};
        if (options.is_dry_run) object["would_change"] = move.stays.empty();
        if (!move.stays.empty()) object["why"] = move.stays;
        told.push_back(std::move(object));
    }
    if (is_json(options)) fmt::print("{}", json_line(told));
    if (!is_json(options) && options.is_dry_run) fmt::print("Nothing changed: --dry-run.\n");
    return would_change ? ExitCode::would_change : ExitCode::done;
}

bool is_json(const CheckpointOptions& options) {
    return options.output == "json";
}

bool is_wanted(const CheckpointOptions& options, std::uint32_t partition) {
    return options.partitions.empty() ||
           std::ranges::find(options.partitions, partition) != options.partitions.end();
}

}  // namespace evenkeel::cli
