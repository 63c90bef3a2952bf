#include "checkpoint/sqlite/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "checkpoint/member_text.h"
#include "checkpoint/sqlite/schema.h"

namespace evenkeel::checkpoint {

namespace {

// The clock that `age` is measured on counts from the machine's start, and is the same for all
// processes on it. An entry that seems to come from the future was written before the last start;
// nobody of that time lives, so any age will do.
Duration age_of(std::int64_t written_ns, std::int64_t written_ms, Moment at) {
    const Duration age = at.now - Instant{written_ns};
    if (age >= Duration(0)) return age;
    const auto by_wall = at.wall - WallTime{written_ms};
    const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(Duration::max());
    return std::clamp(by_wall, std::chrono::milliseconds(0), most);
}

std::uint32_t to_unsigned(std::int64_t value) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

Checkpoint checkpoint_of(const Query& row) {
    return {.partition = {to_unsigned(row.integer(0))},
            .sequence = {row.integer(1)},
            .offset = row.text(2),
            .epoch = {row.integer(3)},
            .attempts = to_unsigned(row.integer(4)),
            .hub_created_ms = row.integer(5),
            .enqueued_ms = row.integer(6),
            .written_ms = row.integer(7)};
}

void bind_checkpoint(Query& query, const Checkpoint& checkpoint, Moment at) {
    query.bind(std::int64_t{checkpoint.partition.value})
        .bind(checkpoint.sequence.value)
        .bind(checkpoint.offset)
        .bind(checkpoint.epoch.value)
        .bind(std::int64_t{checkpoint.attempts})
        .bind(checkpoint.hub_created_ms)
        .bind(checkpoint.enqueued_ms)
        .bind(at.wall.milliseconds);
}

Result<std::optional<std::int64_t>> group_id(Database& database, const GroupName& name) {
    Query query = database.query(
        "SELECT id FROM evenkeel_group WHERE hub_namespace = ? AND event_hub = ? AND name = ?");
    query.bind(name.hub_namespace).bind(name.event_hub).bind(name.group);
    EK_TRY_ASSIGN(const bool found, query.next());
    return found ? std::optional(query.integer(0)) : std::nullopt;
}

}  // namespace

Result<bool> SqliteTable::is_there(Database& database, const GroupName& group) {
    EK_TRY_ASSIGN(const bool is_ours, has_schema(database));
    if (!is_ours) return false;
    EK_TRY_ASSIGN(const auto found, group_id(database, lower_cased(group)));
    return found.has_value();
}

Result<SqliteTable> SqliteTable::open(Database& database, const GroupName& group) {
    EK_TRY(bring_schema(database));
    const GroupName name = lower_cased(group);
    for (;;) {
        EK_TRY_ASSIGN(const auto found, group_id(database, name));
        if (found) return SqliteTable(database, *found);
        Query query = database.query(
            "INSERT INTO evenkeel_group (hub_namespace, event_hub, name) VALUES (?, ?, ?)"
            " ON CONFLICT DO NOTHING");
        query.bind(name.hub_namespace).bind(name.event_hub).bind(name.group);
        EK_TRY(query.run());
    }
}

Result<std::vector<Member>> SqliteTable::members(Moment at) {
    Query query = database_->query(
        "SELECT id, incarnation, state, since_ms, note, restarts, generation, expecting, offers,"
        " version, written_ns, written_ms FROM evenkeel_member WHERE group_id = ? ORDER BY id");
    query.bind(group_);
    std::vector<Member> listed;
    for (;;) {
        EK_TRY_ASSIGN(const bool more, query.next());
        if (!more) return listed;
        listed.push_back({.id = query.text(0),
                          .incarnation = query.text(1),
                          .state = state_numbered(query.integer(2)),
                          .since_ms = query.integer(3),
                          .note = query.text(4),
                          .restarts = to_unsigned(query.integer(5)),
                          .generation = static_cast<std::uint64_t>(query.integer(6)),
                          .expecting = query.integer(7) != 0,
                          .offers = decode_offers(query.text(8)),
                          .version = query.text(9),
                          .age = age_of(query.integer(10), query.integer(11), at),
                          .is_age_exact = query.integer(10) <= at.now.nanoseconds});
    }
}

Result<std::vector<Ownership>> SqliteTable::ownerships(Moment at) {
    Query query = database_->query(
        "SELECT partition, owner, epoch, since_ms, load, version, written_ns, written_ms"
        " FROM evenkeel_ownership WHERE group_id = ? ORDER BY partition");
    query.bind(group_);
    std::vector<Ownership> listed;
    for (;;) {
        EK_TRY_ASSIGN(const bool more, query.next());
        if (!more) return listed;
        listed.push_back({.partition = {to_unsigned(query.integer(0))},
                          .owner = query.text(1),
                          .epoch = {query.integer(2)},
                          .since_ms = query.integer(3),
                          .load = query.real(4),
                          .version = query.text(5),
                          .age = age_of(query.integer(6), query.integer(7), at)});
    }
}

Result<std::vector<Checkpoint>> SqliteTable::checkpoints() {
    Query query = database_->query(
        "SELECT partition, sequence, \"offset\", epoch, attempts, hub_created_ms, enqueued_ms,"
        " written_ms FROM evenkeel_checkpoint WHERE group_id = ? ORDER BY partition");
    query.bind(group_);
    std::vector<Checkpoint> listed;
    for (;;) {
        EK_TRY_ASSIGN(const bool more, query.next());
        if (!more) return listed;
        listed.push_back(checkpoint_of(query));
    }
}

Result<std::map<PartitionId, std::uint64_t>> SqliteTable::dead_letter_counts() {
    Query query = database_->query(
        "SELECT partition, count(*) FROM evenkeel_dead_letter WHERE group_id = ?"
        " GROUP BY partition");
    query.bind(group_);
    std::map<PartitionId, std::uint64_t> counts;
    for (;;) {
        EK_TRY_ASSIGN(const bool more, query.next());
        if (!more) return counts;
        counts[{to_unsigned(query.integer(0))}] = static_cast<std::uint64_t>(query.integer(1));
    }
}

Result<std::vector<DeadLetter>> SqliteTable::dead_letters(const DeadLetterPage& page) {
    Query query = database_->query(
        "SELECT partition, sequence, \"offset\", enqueued_ms, partition_key, cause, attempts, "
        "at_ms,"
        " sections FROM evenkeel_dead_letter"
        " WHERE group_id = ? AND (partition, sequence) > (?, ?) ORDER BY partition, sequence"
        " LIMIT ?");
    query.bind(group_)
        .bind(page.after ? std::int64_t{page.after->partition.value} : std::int64_t{-1})
        .bind(page.after ? page.after->sequence.value : std::int64_t{0})
        .bind(static_cast<std::int64_t>(
            std::min<std::size_t>(page.count_max, std::numeric_limits<std::int64_t>::max())));
    std::vector<DeadLetter> listed;
    for (;;) {
        EK_TRY_ASSIGN(const bool more, query.next());
        if (!more) return listed;
        listed.push_back({.partition = {to_unsigned(query.integer(0))},
                          .sequence = {query.integer(1)},
                          .offset = query.text(2),
                          .enqueued_ms = query.integer(3),
                          .partition_key = query.text(4),
                          .cause = query.text(5),
                          .attempts = to_unsigned(query.integer(6)),
                          .at_ms = query.integer(7),
                          .sections = query.bytes(8)});
    }
}

Result<std::string> SqliteTable::write_member(const Member& member, Moment at) {
    Query query = database_->query(
        member.version.empty()
            ? "INSERT INTO evenkeel_member (incarnation, state, since_ms, note, restarts,"
              " generation, expecting, offers, written_ns, written_ms, group_id, id, version)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, lower(hex(randomblob(12))))"
              " ON CONFLICT DO NOTHING RETURNING version"
            : "UPDATE evenkeel_member SET incarnation = ?, state = ?, since_ms = ?, note = ?,"
              " restarts = ?, generation = ?, expecting = ?, offers = ?, written_ns = ?,"
              " written_ms = ?, version = lower(hex(randomblob(12)))"
              " WHERE group_id = ? AND id = ? AND version = ? RETURNING version");
    query.bind(member.incarnation)
        .bind(state_number(member.state))
        .bind(member.since_ms)
        .bind(member.note)
        .bind(std::int64_t{member.restarts})
        .bind(static_cast<std::int64_t>(member.generation))
        .bind(std::int64_t{member.expecting ? 1 : 0})
        .bind(encode_offers(member.offers))
        .bind(at.now.nanoseconds)
        .bind(at.wall.milliseconds)
        .bind(group_)
        .bind(member.id);
    if (!member.version.empty()) query.bind(member.version);
    EK_TRY_ASSIGN(const bool is_written, query.next());
    if (is_written) return query.text(0);
    EK_TRY_ASSIGN(
        const std::string stored,
        stored_version("SELECT version FROM evenkeel_member WHERE group_id = ? AND id = ?",
                       member.id));
    return version_conflict(fmt::format("member '{}'", member.id), member.version, stored);
}

Result<> SqliteTable::remove_member(std::string_view id, std::string_view version) {
    {
        Query query = database_->query(
            "DELETE FROM evenkeel_member WHERE group_id = ? AND id = ? AND version = ? RETURNING "
            "1");
        query.bind(group_).bind(id).bind(version);
        EK_TRY_ASSIGN(const bool is_removed, query.next());
        if (is_removed) return {};
    }
    EK_TRY_ASSIGN(
        const std::string stored,
        stored_version("SELECT version FROM evenkeel_member WHERE group_id = ? AND id = ?", id));
    if (stored.empty()) return {};
    return version_conflict(fmt::format("member '{}'", id), version, stored);
}

Result<std::string> SqliteTable::write_ownership(const Ownership& ownership, Moment at) {
    Query query = database_->query(
        ownership.version.empty()
            ? "INSERT INTO evenkeel_ownership (owner, epoch, since_ms, load, written_ns,"
              " written_ms, group_id, partition, version)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, lower(hex(randomblob(12))))"
              " ON CONFLICT DO NOTHING RETURNING version"
            : "UPDATE evenkeel_ownership SET owner = ?, epoch = ?, since_ms = ?, load = ?,"
              " written_ns = ?, written_ms = ?, version = lower(hex(randomblob(12)))"
              " WHERE group_id = ? AND partition = ? AND version = ? RETURNING version");
    query.bind(ownership.owner)
        .bind(ownership.epoch.value)
        .bind(ownership.since_ms)
        .bind(std::isnan(ownership.load) ? 0.0 : ownership.load)
        .bind(at.now.nanoseconds)
        .bind(at.wall.milliseconds)
        .bind(group_)
        .bind(std::int64_t{ownership.partition.value});
    if (!ownership.version.empty()) query.bind(ownership.version);
    EK_TRY_ASSIGN(const bool is_written, query.next());
    if (is_written) return query.text(0);
    EK_TRY_ASSIGN(const std::string stored,
                  stored_version(
                      "SELECT version FROM evenkeel_ownership WHERE group_id = ? AND partition = ?",
                      std::to_string(ownership.partition.value)));
    return version_conflict(fmt::format("ownership of partition {}", ownership.partition.value),
                            ownership.version, stored);
}

Result<Checkpoint> SqliteTable::seal(PartitionId partition, Epoch epoch, Moment at) {
    {
        Query query = database_->query(
            "INSERT INTO evenkeel_checkpoint AS stored (group_id, partition, sequence,"
            " \"offset\", epoch, attempts, hub_created_ms, enqueued_ms, written_ms, stamp)"
            " VALUES (?, ?, -1, '', ?, 0, 0, 0, ?, '')"
            " ON CONFLICT DO UPDATE SET epoch = excluded.epoch"
            " WHERE stored.epoch <= excluded.epoch"
            " RETURNING partition, sequence, \"offset\", epoch, attempts, hub_created_ms,"
            " enqueued_ms, written_ms");
        query.bind(group_)
            .bind(std::int64_t{partition.value})
            .bind(epoch.value)
            .bind(at.wall.milliseconds);
        EK_TRY_ASSIGN(const bool is_sealed, query.next());
        if (is_sealed) return checkpoint_of(query);
    }
    return refused_checkpoint({.partition = partition,
                               .sequence = {std::numeric_limits<std::int64_t>::max()},
                               .epoch = epoch});
}

Result<> SqliteTable::write_checkpoint(const Checkpoint& checkpoint, Moment at,
                                       std::string_view stamp) {
    {
        Query query = database_->query(
            "INSERT INTO evenkeel_checkpoint AS stored (group_id, partition, sequence,"
            " \"offset\", epoch, attempts, hub_created_ms, enqueued_ms, written_ms, stamp)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET sequence = excluded.sequence, \"offset\" ="
            " excluded.\"offset\", epoch = excluded.epoch, attempts = excluded.attempts,"
            " hub_created_ms = excluded.hub_created_ms, enqueued_ms = excluded.enqueued_ms,"
            " written_ms = excluded.written_ms, stamp = excluded.stamp"
            " WHERE stored.epoch <= excluded.epoch AND"
            " (stored.sequence, stored.attempts) <= (excluded.sequence, excluded.attempts)"
            " RETURNING 1");
        query.bind(group_);
        bind_checkpoint(query, checkpoint, at);
        query.bind(stamp);
        EK_TRY_ASSIGN(const bool is_written, query.next());
        if (is_written) return {};
    }
    return refused_checkpoint(checkpoint);
}

Result<> SqliteTable::reset_checkpoint(const Checkpoint& checkpoint, Moment at) {
    Query query = database_->query(
        "INSERT INTO evenkeel_checkpoint AS stored (group_id, partition, sequence,"
        " \"offset\", epoch, attempts, hub_created_ms, enqueued_ms, written_ms, stamp)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '')"
        " ON CONFLICT DO UPDATE SET sequence = excluded.sequence, \"offset\" ="
        " excluded.\"offset\", epoch = max(stored.epoch, excluded.epoch),"
        " attempts = excluded.attempts, hub_created_ms = excluded.hub_created_ms,"
        " enqueued_ms = excluded.enqueued_ms, written_ms = excluded.written_ms,"
        " stamp = excluded.stamp");
    query.bind(group_);
    bind_checkpoint(query, checkpoint, at);
    return query.run();
}

Result<> SqliteTable::add_dead_letter(const DeadLetter& letter) {
    Query query = database_->query(
        "INSERT INTO evenkeel_dead_letter VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING");
    query.bind(group_)
        .bind(std::int64_t{letter.partition.value})
        .bind(letter.sequence.value)
        .bind(letter.offset)
        .bind(letter.enqueued_ms)
        .bind(letter.partition_key)
        .bind(letter.cause)
        .bind(std::int64_t{letter.attempts})
        .bind(letter.at_ms)
        .bind(ByteView(letter.sections));
    return query.run();
}

Result<> SqliteTable::remove_dead_letter(const DeadLetterId& id) {
    Query query = database_->query(
        "DELETE FROM evenkeel_dead_letter WHERE group_id = ? AND partition = ? AND sequence = ?");
    query.bind(group_).bind(std::int64_t{id.partition.value}).bind(id.sequence.value);
    return query.run();
}

Result<std::vector<Record>> SqliteTable::records(std::string_view prefix) {
    // Keys are ASCII, so that a byte above it is beyond all that begin with the prefix.
    Query query = database_->query(
        "SELECT key, value, version FROM evenkeel_record"
        " WHERE group_id = ? AND key >= ? AND key < ? ORDER BY key");
    query.bind(group_).bind(prefix).bind(std::string(prefix) + "\x7f");
    std::vector<Record> listed;
    for (;;) {
        EK_TRY_ASSIGN(const bool more, query.next());
        if (!more) return listed;
        const std::vector<std::byte> value = query.bytes(1);
        listed.push_back({query.text(0), std::string(as_text(value)), query.text(2)});
    }
}

Result<std::string> SqliteTable::write_record(const Record& record) {
    const bool is_removal = record.value.empty();
    {
        Query query = database_->query(
            is_removal ? "DELETE FROM evenkeel_record WHERE group_id = ? AND key = ?"
                         " AND version = ? RETURNING ''"
            : record.version.empty()
                ? "INSERT INTO evenkeel_record (group_id, key, version, value)"
                  " VALUES (?, ?, lower(hex(randomblob(12))), ?)"
                  " ON CONFLICT DO NOTHING RETURNING version"
                : "UPDATE evenkeel_record SET version = lower(hex(randomblob(12))), value = ?4"
                  " WHERE group_id = ?1 AND key = ?2 AND version = ?3 RETURNING version");
        query.bind(group_).bind(record.key);
        if (is_removal || !record.version.empty()) query.bind(record.version);
        if (!is_removal) query.bind(as_bytes(record.value));
        EK_TRY_ASSIGN(const bool is_done, query.next());
        if (is_done) return query.text(0);
    }
    EK_TRY_ASSIGN(
        std::string stored,
        stored_version("SELECT version FROM evenkeel_record WHERE group_id = ? AND key = ?",
                       record.key));
    if (is_removal && stored.empty()) return stored;
    return version_conflict(fmt::format("record '{}'", record.key), record.version, stored);
}

Result<std::int64_t> SqliteTable::changes() {
    Query query = database_->query("SELECT changes FROM evenkeel_group WHERE id = ?");
    query.bind(group_);
    EK_TRY_ASSIGN(const bool found, query.next());
    return found ? query.integer(0) : 0;
}

Result<std::string> SqliteTable::read_stamp(PartitionId partition) {
    Query query = database_->query(
        "SELECT stamp FROM evenkeel_checkpoint WHERE group_id = ? AND partition = ?");
    query.bind(group_).bind(std::int64_t{partition.value});
    EK_TRY_ASSIGN(const bool found, query.next());
    return found ? query.text(0) : std::string();
}

Result<std::string> SqliteTable::stored_version(const char* sql, std::string_view id) {
    Query query = database_->query(sql);
    query.bind(group_).bind(id);  // text becomes a number where the column is one
    EK_TRY_ASSIGN(const bool found, query.next());
    return found ? query.text(0) : std::string();
}

Error SqliteTable::refused_checkpoint(const Checkpoint& checkpoint) {
    Query query = database_->query(
        "SELECT partition, sequence, \"offset\", epoch, attempts, hub_created_ms, enqueued_ms,"
        " written_ms FROM evenkeel_checkpoint WHERE group_id = ? AND partition = ?");
    query.bind(group_).bind(std::int64_t{checkpoint.partition.value});
    const Result<bool> found = query.next();
    if (!found) return found.error();
    const Checkpoint stored = *found ? checkpoint_of(query) : Checkpoint{};
    if (checkpoint.epoch < stored.epoch) {
        return epoch_fenced(checkpoint.partition, checkpoint.epoch, stored.epoch);
    }
    return position_conflict(checkpoint, stored);
}

}  // namespace evenkeel::checkpoint
