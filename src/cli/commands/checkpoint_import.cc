#include <algorithm>
#include <cstdio>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/bytes.h"
#include "checkpoint/import/source.h"
#include "cli/commands/checkpoint_moves.h"
#include "cli/text/duration.h"
#include "cli/text/listing.h"
#include "io/file.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::LegacyCheckpoints;
using checkpoint::LegacyEntry;
using checkpoint::LegacyLayout;

constexpr std::uint64_t import_bytes_max = 16 << 20;

ExitCode import_file(const CheckpointOptions& options) {
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, options.file, import_bytes_max);
    if (!bytes.ok()) return fail(fmt::format("cannot read '{}'", options.file), bytes.error());
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
        // "enqueued_at" as it is exported now, or "enqueued_ms" of an older file.
        const auto time = [&](const std::string& name) -> std::int64_t {
            const auto* member = object ? object->if_contains(name + "_at") : nullptr;
            if (!member || !member->is_string()) return number((name + "_ms").c_str()).value_or(0);
            return parse_time(std::string(member->get_string())).value_or(0);
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
                          .hub_created_ms = time("hub_created"),
                          .enqueued_ms = time("enqueued")});
    }
    const auto group = group_of(options, EntriesFor::changing);
    if (!group.ok()) return fail("cannot import", group.error());
    auto opened =
        open_group(options.store, *group, {.may_create = !wanted.empty() && !options.is_dry_run});
    if (!opened.ok()) return fail("cannot import", opened.error());
    std::vector<CheckpointMove> moves;
    moves.reserve(wanted.size());
    for (const Checkpoint& entry : wanted) {
        moves.push_back({entry, &opened->rows[entry.partition.value]});
    }
    return apply(*opened, moves, options);
}

std::optional<LegacyLayout> layout_of(const std::string& name) {
    for (const LegacyLayout layout : {LegacyLayout::metadata, LegacyLayout::functions,
                                      LegacyLayout::lease, LegacyLayout::jedis}) {
        if (name == to_string(layout)) return layout;
    }
    return std::nullopt;  // found out
}

// Says all that is wrong with the records; false if something is.
bool are_usable(const LegacyCheckpoints& found) {
    bool are_all = true;
    for (const LegacyEntry& entry : found.entries) {
        if (entry.record.ok()) continue;
        are_all = false;
        fail(fmt::format("the record '{}' cannot be imported", entry.name), entry.record.error());
    }
    return are_all;
}

// The first program that is still at work there.
const LegacyEntry* live_one(const LegacyCheckpoints& found) {
    const auto live = std::find_if(found.entries.begin(), found.entries.end(),
                                   [](const LegacyEntry& entry) { return !entry.owner.empty(); });
    return live == found.entries.end() ? nullptr : &*live;
}

// Why a position is not taken over; empty: it is. What has only an offset cannot be compared.
std::string why_stays(const Checkpoint& wanted, const CheckpointRow& row, bool is_forced) {
    if (!row.checkpoint) return {};
    const Checkpoint& stored = *row.checkpoint;
    if (stored.sequence.value < 0 && stored.offset.empty()) return {};
    if (stored.sequence == wanted.sequence && stored.offset == wanted.offset) {
        return "already stored";
    }
    if (is_forced) return {};
    if (wanted.sequence.value < 0) {
        return fmt::format("the other one is known by its offset {} only; --force takes it",
                           wanted.offset);
    }
    if (stored.sequence == wanted.sequence) return "already stored";
    if (stored.sequence.value > wanted.sequence.value) {
        return fmt::format("the other one is behind, at {}; --force goes back to it",
                           wanted.sequence.value);
    }
    return {};
}

ExitCode import_legacy(const CheckpointOptions& options) {
    const auto group = group_of(options, EntriesFor::changing);
    if (!group.ok()) return fail("cannot import", group.error());
    const auto found = checkpoint::read_legacy({.address = options.from,
                                                .group = *group,
                                                .layout = layout_of(options.layout),
                                                .path = options.path,
                                                .partitions = options.partitions});
    if (!found.ok()) return fail("cannot import", found.error());
    if (!are_usable(*found)) {
        return fail("nothing was imported", {ErrorCode::corrupt, "some records cannot be used"},
                    "remove them, or name the partitions to import with --partition");
    }
    if (const LegacyEntry* const live = live_one(*found)) {
        const std::string what =
            fmt::format("'{}' is owned by a program that still runs: {}", live->name, live->owner);
        if (!options.is_forced && !options.is_dry_run) {
            return fail(what, {ErrorCode::conflict, "nothing was changed"},
                        "stop the old processors and wait two minutes, or use --force");
        }
        fmt::print(stderr, "warning: {}\n", what);
    }
    auto opened = open_group(options.store, *group, {.may_create = !options.is_dry_run});
    if (!opened.ok()) return fail("cannot import", opened.error());
    std::vector<CheckpointMove> moves;
    for (const LegacyEntry& entry : found->entries) {
        if (!entry.record->remark.empty()) {
            fmt::print(stderr, "warning: '{}': {}\n", entry.name, entry.record->remark);
        }
        if (!entry.record->checkpoint) continue;
        const CheckpointRow& row = opened->rows[entry.partition.value];
        const Checkpoint& wanted = *entry.record->checkpoint;
        moves.push_back({wanted, &row, why_stays(wanted, row, options.is_forced)});
    }
    if (!is_json(options)) {
        fmt::print("{} in the layout '{}' under '{}'\n", plural(moves.size(), "checkpoint"),
                   to_string(found->layout), found->path);
    }
    return apply(*opened, moves, options);
}

}  // namespace

ExitCode checkpoint_import(const CheckpointOptions& options) {
    if (options.file.empty() == options.from.empty()) {
        return wrong_usage("import needs exactly one source",
                           "use --file FILE of 'evenkeel checkpoint export', or --from ADDRESS of "
                           "another program's checkpoints");
    }
    if (options.from.empty() && !(options.path.empty() && options.layout == "auto")) {
        return wrong_usage("--layout and --path do not apply to --file", "use them with --from");
    }
    return options.from.empty() ? import_file(options) : import_legacy(options);
}

}  // namespace evenkeel::cli
