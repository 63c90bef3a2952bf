// tidy: no test: the contract of stores and postgres_store_test.cc test it on a server
#include "checkpoint/postgres/table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "checkpoint/member_text.h"
#include "checkpoint/memory/table.h"
#include "checkpoint/postgres/text.h"

namespace evenkeel::checkpoint::postgres {

namespace {

std::string number(std::int64_t value) {
    return std::to_string(value);
}

std::uint32_t to_unsigned(std::int64_t value) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

// The server's clock may have been set back meanwhile.
Duration age_of(std::int64_t microseconds) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 1000;
    return std::chrono::microseconds(std::clamp<std::int64_t>(microseconds, 0, most));
}

Checkpoint checkpoint_of(const PostgresRows& rows, int row, int first) {
    return {.partition = {to_unsigned(rows.integer(row, first))},
            .sequence = {rows.integer(row, first + 1)},
            .offset = from_postgres_text(rows.text(row, first + 2)),
            .epoch = {rows.integer(row, first + 3)},
            .attempts = to_unsigned(rows.integer(row, first + 4)),
            .hub_created_ms = rows.integer(row, first + 5),
            .enqueued_ms = rows.integer(row, first + 7),
            .written_ms = rows.integer(row, first + 6)};
}

std::vector<std::string> parameters_of(const Checkpoint& checkpoint) {
    return {number(checkpoint.partition.value),  number(checkpoint.sequence.value),
            to_postgres_text(checkpoint.offset), number(checkpoint.epoch.value),
            number(checkpoint.attempts),         number(checkpoint.hub_created_ms),
            number(checkpoint.enqueued_ms)};
}

// Columns from `first` on: outcome, stored epoch, sequence, attempts.
Result<> outcome_of(const PostgresRows& rows, int row, int first, const Checkpoint& checkpoint) {
    const std::string outcome = rows.text(row, first);
    if (outcome == "written") return {};
    const Checkpoint stored{.partition = checkpoint.partition,
                            .sequence = {rows.integer(row, first + 2)},
                            .epoch = {rows.integer(row, first + 1)},
                            .attempts = to_unsigned(rows.integer(row, first + 3))};
    if (outcome == "fenced") {
        return epoch_fenced(checkpoint.partition, checkpoint.epoch, stored.epoch);
    }
    return position_conflict(checkpoint, stored);
}

Error no_answer() {
    return {ErrorCode::unsupported,
            "the PostgreSQL store answered nothing; its schema evenkeel is damaged"};
}

}  // namespace

PostgresCommand find_group(const GroupName& group) {
    const GroupName name = lower_cased(group);
    return {"SELECT evenkeel.group_id($1, $2, $3)",
            {to_postgres_text(name.hub_namespace), to_postgres_text(name.event_hub),
             to_postgres_text(name.group)}};
}

PostgresCommand look_for_group(const GroupName& group) {
    PostgresCommand command = find_group(group);
    command.sql =
        "SELECT id FROM evenkeel.consumer_group"
        " WHERE (hub_namespace, event_hub, name) = ($1, $2, $3)";
    return command;
}

std::string channel(std::int64_t group) {
    return fmt::format("evenkeel_group_{}", group);
}

PostgresCommand list_members(std::int64_t group) {
    return {
        "SELECT id, incarnation, state, since_ms, note, restarts, generation, expecting,"
        " offers, version, (extract(epoch FROM clock_timestamp() - written) * 1000000)::bigint"
        " FROM evenkeel.member WHERE group_id = $1",
        {number(group)}};
}

std::vector<Member> members(const PostgresRows& rows) {
    std::vector<Member> listed;
    listed.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
        listed.push_back({.id = from_postgres_text(rows.text(row, 0)),
                          .incarnation = from_postgres_text(rows.text(row, 1)),
                          .state = state_numbered(rows.integer(row, 2)),
                          .since_ms = rows.integer(row, 3),
                          .note = from_postgres_text(rows.text(row, 4)),
                          .restarts = to_unsigned(rows.integer(row, 5)),
                          .generation = static_cast<std::uint64_t>(rows.integer(row, 6)),
                          .expecting = rows.boolean(row, 7),
                          .offers = decode_offers(from_postgres_text(rows.text(row, 8))),
                          .version = rows.text(row, 9),
                          .age = age_of(rows.integer(row, 10))});
    }
    std::ranges::sort(listed, {}, &Member::id);
    return listed;
}

PostgresCommand write_member(std::int64_t group, const Member& member) {
    return {"SELECT * FROM evenkeel.write_member($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            {number(group), to_postgres_text(member.id), to_postgres_text(member.incarnation),
             number(state_number(member.state)), number(member.since_ms),
             to_postgres_text(member.note), number(member.restarts),
             number(static_cast<std::int64_t>(member.generation)), member.expecting ? "t" : "f",
             to_postgres_text(encode_offers(member.offers)), to_postgres_text(member.version)}};
}

Result<std::string> member_written(const PostgresRows& rows, const Member& member) {
    if (rows.size() == 0) return no_answer();
    if (rows.boolean(0, 0)) return rows.text(0, 1);
    return version_conflict(fmt::format("member '{}'", member.id), member.version, rows.text(0, 1));
}

PostgresCommand remove_member(std::int64_t group, std::string_view id, std::string_view version) {
    return {"SELECT * FROM evenkeel.remove_member($1, $2, $3)",
            {number(group), to_postgres_text(id), to_postgres_text(version)}};
}

Result<> member_removed(const PostgresRows& rows, std::string_view id, std::string_view version) {
    if (rows.size() == 0) return no_answer();
    const std::string stored = rows.text(0, 1);
    if (rows.boolean(0, 0) || stored.empty()) return {};
    return version_conflict(fmt::format("member '{}'", id), version, stored);
}

PostgresCommand list_ownerships(std::int64_t group) {
    return {
        "SELECT partition, owner, epoch, since_ms, load, version,"
        " (extract(epoch FROM clock_timestamp() - written) * 1000000)::bigint"
        " FROM evenkeel.ownership WHERE group_id = $1 ORDER BY partition",
        {number(group)}};
}

std::vector<Ownership> ownerships(const PostgresRows& rows) {
    std::vector<Ownership> listed;
    listed.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
        listed.push_back({.partition = {to_unsigned(rows.integer(row, 0))},
                          .owner = from_postgres_text(rows.text(row, 1)),
                          .epoch = {rows.integer(row, 2)},
                          .since_ms = rows.integer(row, 3),
                          .load = rows.real(row, 4),
                          .version = rows.text(row, 5),
                          .age = age_of(rows.integer(row, 6))});
    }
    return listed;
}

PostgresCommand write_ownerships(std::int64_t group, const std::vector<Ownership>& wanted) {
    PostgresArray partitions, owners, epochs, sinces, loads, versions;
    for (const Ownership& ownership : wanted) {
        partitions.add_plain(number(ownership.partition.value));
        owners.add_quoted(to_postgres_text(ownership.owner));
        epochs.add_plain(number(ownership.epoch.value));
        sinces.add_plain(number(ownership.since_ms));
        loads.add_plain(fmt::format("{}", std::isfinite(ownership.load) ? ownership.load : 0.0));
        versions.add_quoted(to_postgres_text(ownership.version));
    }
    return {"SELECT * FROM evenkeel.write_ownerships($1, $2, $3, $4, $5, $6, $7)",
            {number(group), partitions.take(), owners.take(), epochs.take(), sinces.take(),
             loads.take(), versions.take()}};
}

std::vector<Result<std::string>> ownerships_written(const PostgresRows& rows,
                                                    const std::vector<Ownership>& wanted) {
    std::vector<Result<std::string>> results(wanted.size(), no_answer());
    for (int row = 0; row < rows.size(); ++row) {
        const auto index = static_cast<std::size_t>(rows.integer(row, 0) - 1);
        if (index >= wanted.size()) continue;
        const Ownership& each = wanted[index];
        if (rows.boolean(row, 1)) {
            results[index] = rows.text(row, 2);
        } else {
            results[index] =
                version_conflict(fmt::format("ownership of partition {}", each.partition.value),
                                 each.version, rows.text(row, 2));
        }
    }
    return results;
}

PostgresCommand list_checkpoints(std::int64_t group) {
    return {
        "SELECT partition, sequence, event_offset, epoch, attempts, hub_created_ms,"
        " floor(extract(epoch FROM written) * 1000)::bigint, enqueued_ms"
        " FROM evenkeel.checkpoint WHERE group_id = $1 ORDER BY partition",
        {number(group)}};
}

std::vector<Checkpoint> checkpoints(const PostgresRows& rows) {
    std::vector<Checkpoint> listed;
    listed.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) listed.push_back(checkpoint_of(rows, row, 0));
    return listed;
}

PostgresCommand seal(std::int64_t group, PartitionId partition, Epoch epoch) {
    return {
        "SELECT applied, (stored).partition, (stored).sequence, (stored).event_offset,"
        " (stored).epoch, (stored).attempts, (stored).hub_created_ms,"
        " floor(extract(epoch FROM (stored).written) * 1000)::bigint, (stored).enqueued_ms"
        " FROM evenkeel.seal($1, $2, $3)",
        {number(group), number(partition.value), number(epoch.value)}};
}

Result<Checkpoint> sealed(const PostgresRows& rows, PartitionId partition, Epoch epoch) {
    if (rows.size() == 0) return no_answer();
    const Checkpoint stored = checkpoint_of(rows, 0, 1);
    if (!rows.boolean(0, 0)) return epoch_fenced(partition, epoch, stored.epoch);
    return stored;
}

PostgresCommand write_checkpoints(std::int64_t group, std::span<const Checkpoint* const> written) {
    PostgresArray arrays[7];
    for (const Checkpoint* checkpoint : written) {
        const auto parameters = parameters_of(*checkpoint);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (i == 2) {
                arrays[i].add_quoted(parameters[i]);
            } else {
                arrays[i].add_plain(parameters[i]);
            }
        }
    }
    PostgresCommand command{
        "SELECT * FROM evenkeel.write_checkpoints($1, $2, $3, $4, $5, $6, $7, $8)",
        {number(group)}};
    for (auto& array : arrays) command.parameters.push_back(array.take());
    return command;
}

std::vector<Result<>> checkpoints_written(const PostgresRows& rows,
                                          std::span<const Checkpoint* const> written) {
    std::vector<Result<>> results(written.size(), no_answer());
    for (int row = 0; row < rows.size(); ++row) {
        const auto index = static_cast<std::size_t>(rows.integer(row, 0) - 1);
        if (index < written.size()) results[index] = outcome_of(rows, row, 1, *written[index]);
    }
    return results;
}

PostgresCommand reset_checkpoint(std::int64_t group, const Checkpoint& checkpoint) {
    PostgresCommand command{"SELECT evenkeel.reset_checkpoint($1, $2, $3, $4, $5, $6, $7, $8)",
                            parameters_of(checkpoint)};
    command.parameters.insert(command.parameters.begin(), number(group));
    return command;
}

PostgresCommand add_dead_letter(std::int64_t group, const DeadLetter& letter) {
    return {
        "INSERT INTO evenkeel.dead_letter VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        " ON CONFLICT DO NOTHING",
        {number(group), number(letter.partition.value), number(letter.sequence.value),
         to_postgres_text(letter.offset), number(letter.enqueued_ms),
         to_postgres_text(letter.partition_key), to_postgres_text(letter.cause),
         number(letter.attempts), number(letter.at_ms), to_postgres_bytes(letter.sections)}};
}

PostgresCommand count_dead_letters(std::int64_t group) {
    return {
        "SELECT partition, count(*) FROM evenkeel.dead_letter WHERE group_id = $1"
        " GROUP BY partition",
        {number(group)}};
}

std::map<PartitionId, std::uint64_t> dead_letter_counts(const PostgresRows& rows) {
    std::map<PartitionId, std::uint64_t> counts;
    for (int row = 0; row < rows.size(); ++row) {
        counts[{to_unsigned(rows.integer(row, 0))}] =
            static_cast<std::uint64_t>(rows.integer(row, 1));
    }
    return counts;
}

PostgresCommand remove_dead_letter(std::int64_t group, const DeadLetterId& id) {
    return {
        "DELETE FROM evenkeel.dead_letter WHERE group_id = $1 AND partition = $2 AND sequence = $3",
        {number(group), number(id.partition.value), number(id.sequence.value)}};
}

PostgresCommand list_dead_letters(std::int64_t group, const DeadLetterPage& page) {
    return {
        "SELECT partition, sequence, event_offset, enqueued_ms, partition_key, cause, attempts,"
        " at_ms, sections FROM evenkeel.dead_letter"
        " WHERE group_id = $1 AND (partition, sequence) > ($2::bigint, $3::bigint)"
        " ORDER BY partition, sequence LIMIT $4",
        {number(group), number(page.after ? std::int64_t{page.after->partition.value} : -1),
         number(page.after ? page.after->sequence.value : 0),
         number(static_cast<std::int64_t>(
             std::min<std::size_t>(page.count_max, std::numeric_limits<std::int64_t>::max())))}};
}

std::vector<DeadLetter> dead_letters(const PostgresRows& rows) {
    std::vector<DeadLetter> listed;
    listed.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
        listed.push_back({.partition = {to_unsigned(rows.integer(row, 0))},
                          .sequence = {rows.integer(row, 1)},
                          .offset = from_postgres_text(rows.text(row, 2)),
                          .enqueued_ms = rows.integer(row, 3),
                          .partition_key = from_postgres_text(rows.text(row, 4)),
                          .cause = from_postgres_text(rows.text(row, 5)),
                          .attempts = to_unsigned(rows.integer(row, 6)),
                          .at_ms = rows.integer(row, 7),
                          .sections = from_postgres_bytes(rows.text(row, 8))});
    }
    return listed;
}

PostgresCommand list_records(std::int64_t group, std::string_view prefix) {
    return {
        "SELECT key, value, version FROM evenkeel.record"
        " WHERE group_id = $1 AND starts_with(key, $2) ORDER BY key",
        {number(group), to_postgres_text(prefix)}};
}

std::vector<Record> records(const PostgresRows& rows) {
    std::vector<Record> listed;
    listed.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
        const auto value = from_postgres_bytes(rows.text(row, 1));
        listed.push_back({.key = rows.text(row, 0),
                          .value = std::string(as_text(value)),
                          .version = rows.text(row, 2)});
    }
    return listed;
}

PostgresCommand write_record(std::int64_t group, const Record& record) {
    return {"SELECT * FROM evenkeel.write_record($1, $2, $3, $4)",
            {number(group), record.key, to_postgres_bytes(as_bytes(record.value)),
             to_postgres_text(record.version)}};
}

Result<std::string> record_written(const PostgresRows& rows, const Record& record) {
    if (rows.size() == 0) return no_answer();
    const std::string stored = rows.text(0, 1);
    if (rows.boolean(0, 0) || (record.value.empty() && stored.empty())) return stored;
    return version_conflict(fmt::format("record '{}'", record.key), record.version, stored);
}

PostgresCommand begin_transaction(std::int64_t group, PartitionId partition) {
    return {"SELECT * FROM evenkeel.begin_transaction($1, $2)",
            {number(group), number(partition.value)}};
}

PostgresCommand end_transaction(std::int64_t group, const Checkpoint& checkpoint,
                                const std::string& transaction, const std::string& stamp_before,
                                const std::string& stamp) {
    PostgresCommand command{
        "SELECT * FROM evenkeel.end_transaction($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        {transaction, stamp_before, stamp, number(group)}};
    for (auto& parameter : parameters_of(checkpoint)) {
        command.parameters.push_back(std::move(parameter));
    }
    return command;
}

Result<> transaction_ended(const PostgresRows& rows, const Checkpoint& checkpoint) {
    if (rows.size() == 0) return no_answer();
    if (rows.text(0, 0) == "ended") {
        return Error{ErrorCode::invalid_argument,
                     "the handler ended the transaction itself, and began another; what it "
                     "committed stays, the rest was rolled back"};
    }
    return outcome_of(rows, 0, 0, checkpoint);
}

PostgresCommand settle(std::int64_t group, PartitionId partition, const std::string& stamp) {
    return {"SELECT evenkeel.settle($1, $2, $3)", {number(group), number(partition.value), stamp}};
}

}  // namespace evenkeel::checkpoint::postgres
