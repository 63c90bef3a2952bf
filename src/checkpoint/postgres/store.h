// The store in a PostgreSQL database, shared by any number of processes on any number of machines.
//
//     loop: calls queue up ──▶ store/0: one exchange, each call a transaction; the checkpoints of
//           answers        ◀──          many partitions travel and commit as one
//
// Compare-and-set and fences are in the database's own functions, so other programs can take part.
// Changes of others come by LISTEN. An operation that was not sent `wait_max` after its call
// answers `unavailable`, and one that was sent has as long again.
// Format: docs/formats/postgresql.md. Threads: as all stores; one of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

struct PostgresOptions {
    Duration wait_max = std::chrono::seconds(3);
    Duration watch_period = std::chrono::milliseconds(20);
    bool may_create = true;
};

class PostgresStore final : public Store {
public:
    // Blocks. `url` as libpq reads it: "postgresql://user:password@host:port/database?options".
    // Makes the schema where there is none. The loop outlives the store. None, and nothing was
    // written, if it may not create what is missing.
    static Result<std::unique_ptr<PostgresStore>> open(const std::string& url,
                                                       const GroupName& group, io::Loop& loop,
                                                       const PostgresOptions& options = {});
    // Ends the exchange that is under way, and drops what is queued.
    ~PostgresStore() override;
    PostgresStore(const PostgresStore&) = delete;
    PostgresStore& operator=(const PostgresStore&) = delete;

    void list_members(Answer<std::vector<Member>> done) override;
    void write_member(const Member& member, Answer<std::string> done) override;
    void remove_member(std::string_view id, std::string_view version, Answer<> done) override;
    void list_ownerships(Answer<std::vector<Ownership>> done) override;
    void write_ownerships(std::vector<Ownership> wanted,
                          Answer<std::vector<Result<std::string>>> done) override;
    void list_checkpoints(Answer<std::vector<Checkpoint>> done) override;
    void seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) override;
    void write_checkpoint(const Checkpoint& checkpoint, Answer<> done) override;
    void reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) override;
    void add_dead_letter(const DeadLetter& letter, Answer<> done) override;
    void list_dead_letters(const DeadLetterPage& page,
                           Answer<std::vector<DeadLetter>> done) override;
    void count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) override;
    void remove_dead_letter(const DeadLetterId& id, Answer<> done) override;
    void list_records(std::string_view prefix, Answer<std::vector<Record>> done) override;
    void write_record(const Record& record, Answer<std::string> done) override;
    bool watch(std::function<void()> changed) override;
    Pace pace() const override { return Pace::quick; }
    // native() of a transaction has libpq's PGconn*.
    Transactions* transactions() override;

private:
    struct State;
    explicit PostgresStore(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::checkpoint
