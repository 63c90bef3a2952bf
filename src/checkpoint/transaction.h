// For exactly-once sinks: what a handler wrote, the position behind it, and the fence, committed as
// one. A handler gets the database's own handle, writes with it what it likes, and ends; then the
// processor commits.
//
//     begin ──▶ handler writes through native() ──▶ commit(checkpoint): still the owner? position
//       │                                                               not behind? then all of it
//       └── destroyed instead: nothing of it happened
#pragma once

#include <memory>

#include "base/ids.h"
#include "base/result.h"
#include "checkpoint/store.h"

struct sqlite3;
struct pg_conn;

namespace evenkeel::checkpoint {

// The database's own handle; one of them, none once the connection is lost.
struct Native {
    sqlite3* sqlite = nullptr;
    pg_conn* postgres = nullptr;
    bool operator==(const Native&) const = default;
};

// Threads: one at a time. Calls block.
class Transaction {
public:
    // Rolls back what was not committed.
    virtual ~Transaction() = default;

    // The handler must not end the transaction, and ends its statements before it returns.
    virtual Native native() = 0;
    // Once. `fenced`: another owner has sealed the checkpoint under a higher epoch. `conflict`: the
    // stored position is ahead. In both cases, and for invalid_argument, nothing was applied.
    // `unavailable`: unknown, and only if the store cannot even be asked what became of it.
    virtual Result<> commit(const Checkpoint& checkpoint) = 0;
};

// Threads: any. Calls block, for a bounded time. Outlives its transactions.
class Transactions {
public:
    virtual ~Transactions() = default;
    // One that commits a checkpoint of this partition. Stores with one writer at a time (SQLite)
    // let no other begin before this one has ended: keep it short.
    virtual Result<std::unique_ptr<Transaction>> begin(PartitionId partition) = 0;
};

}  // namespace evenkeel::checkpoint
