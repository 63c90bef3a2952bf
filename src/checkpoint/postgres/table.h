// The entries of one group in a PostgreSQL database, as commands to send and answers to read: the
// rules are in the functions of postgres_schema.cc, each one statement. No I/O here.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "checkpoint/postgres/connection.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint::postgres {

// A group's id in the database, made if it has none.
PostgresCommand find_group(const GroupName& group);
// Without making it.
PostgresCommand look_for_group(const GroupName& group);
// "evenkeel_group_7": where changes of members and ownerships are announced.
std::string channel(std::int64_t group);

PostgresCommand list_members(std::int64_t group);
std::vector<Member> members(const PostgresRows& rows);
PostgresCommand write_member(std::int64_t group, const Member& member);
Result<std::string> member_written(const PostgresRows& rows, const Member& member);
PostgresCommand remove_member(std::int64_t group, std::string_view id, std::string_view version);
Result<> member_removed(const PostgresRows& rows, std::string_view id, std::string_view version);

PostgresCommand list_ownerships(std::int64_t group);
std::vector<Ownership> ownerships(const PostgresRows& rows);
PostgresCommand write_ownerships(std::int64_t group, const std::vector<Ownership>& wanted);
std::vector<Result<std::string>> ownerships_written(const PostgresRows& rows,
                                                    const std::vector<Ownership>& wanted);

PostgresCommand list_checkpoints(std::int64_t group);
std::vector<Checkpoint> checkpoints(const PostgresRows& rows);
PostgresCommand seal(std::int64_t group, PartitionId partition, Epoch epoch);
Result<Checkpoint> sealed(const PostgresRows& rows, PartitionId partition, Epoch epoch);
// Many at once, as if one after another.
PostgresCommand write_checkpoints(std::int64_t group, std::span<const Checkpoint* const> written);
std::vector<Result<>> checkpoints_written(const PostgresRows& rows,
                                          std::span<const Checkpoint* const> written);
PostgresCommand reset_checkpoint(std::int64_t group, const Checkpoint& checkpoint);

PostgresCommand add_dead_letter(std::int64_t group, const DeadLetter& letter);
PostgresCommand list_dead_letters(std::int64_t group, const DeadLetterPage& page);
std::vector<DeadLetter> dead_letters(const PostgresRows& rows);
PostgresCommand count_dead_letters(std::int64_t group);
std::map<PartitionId, std::uint64_t> dead_letter_counts(const PostgresRows& rows);
PostgresCommand remove_dead_letter(std::int64_t group, const DeadLetterId& id);

PostgresCommand list_records(std::int64_t group, std::string_view prefix);
std::vector<Record> records(const PostgresRows& rows);
PostgresCommand write_record(std::int64_t group, const Record& record);
Result<std::string> record_written(const PostgresRows& rows, const Record& record);

// For transactions: begun in the same exchange as BEGIN, ended in the same as COMMIT.
PostgresCommand begin_transaction(std::int64_t group, PartitionId partition);
PostgresCommand end_transaction(std::int64_t group, const Checkpoint& checkpoint,
                                const std::string& transaction, const std::string& stamp_before,
                                const std::string& stamp);
Result<> transaction_ended(const PostgresRows& rows, const Checkpoint& checkpoint);
// Whether the transaction with this stamp was committed; if not, it never will be.
PostgresCommand settle(std::int64_t group, PartitionId partition, const std::string& stamp);

}  // namespace evenkeel::checkpoint::postgres
