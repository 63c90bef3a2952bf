// The entries of one group in a SQLite file: the operations of Table (checkpoint/memory/table.h),
// each one SQL statement. Calls block. Format: docs/formats/sqlite.md.
//
// Errors `conflict` and `fenced` are answers; every other error means that the database failed and
// the transaction, if there is one, must be rolled back.
// Threads: one at a time, the database's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "checkpoint/memory/table.h"
#include "checkpoint/sqlite/database.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

class SqliteTable {
public:
    // Creates what is missing. `unsupported` if a newer program made the file.
    static Result<SqliteTable> open(Database& database, const GroupName& group);
    // Whether open() would have nothing to create. Writes nothing.
    static Result<bool> is_there(Database& database, const GroupName& group);

    Result<std::vector<Member>> members(Moment at);
    Result<std::vector<Ownership>> ownerships(Moment at);
    Result<std::vector<Checkpoint>> checkpoints();
    Result<std::vector<DeadLetter>> dead_letters(const DeadLetterPage& page);
    Result<std::map<PartitionId, std::uint64_t>> dead_letter_counts();
    Result<std::vector<Record>> records(std::string_view prefix);

    Result<std::string> write_member(const Member& member, Moment at);
    Result<> remove_member(std::string_view id, std::string_view version);
    Result<std::string> write_ownership(const Ownership& ownership, Moment at);
    Result<Checkpoint> seal(PartitionId partition, Epoch epoch, Moment at);
    // `stamp` tells this write from any other, for read_stamp().
    Result<> write_checkpoint(const Checkpoint& checkpoint, Moment at, std::string_view stamp = {});
    Result<> reset_checkpoint(const Checkpoint& checkpoint, Moment at);
    Result<> add_dead_letter(const DeadLetter& letter);
    Result<> remove_dead_letter(const DeadLetterId& id);
    // A record that check() allows.
    Result<std::string> write_record(const Record& record);

    // Rises when any client changes members or ownerships in more than their version and age.
    Result<std::int64_t> changes();
    Result<std::string> read_stamp(PartitionId partition);

private:
    SqliteTable(Database& database, std::int64_t group) : database_(&database), group_(group) {}
    Result<std::string> stored_version(const char* sql, std::string_view id);
    Error refused_checkpoint(const Checkpoint& checkpoint);

    Database* database_;
    std::int64_t group_;
};

}  // namespace evenkeel::checkpoint
