// The store in a SQLite file, shared by any number of processes on one machine.
//
//     loop: calls queue up ──▶ store/0: listings, then all writes in one transaction, one sync
//           answers        ◀──          (more calls queue up meanwhile, for the next transaction)
//
// Each commit is on stable storage before it is answered (write-ahead log, synchronous=FULL). An
// operation waits for the locks of other processes for `wait_max` from its call on, and then
// answers `unavailable`. Other processes' changes are noticed by polling the file's data version.
// Format: docs/formats/sqlite.md.
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

struct SqliteOptions {
    Duration wait_max = std::chrono::seconds(3);
    Duration watch_period = std::chrono::milliseconds(50);
    bool may_create = true;
};

class SqliteStore final : public Store {
public:
    // Blocks. Opens or creates the file; its folder must exist. The loop outlives the store. None,
    // and nothing was written, if it may not create what is missing.
    static Result<std::unique_ptr<SqliteStore>> open(const std::string& file,
                                                     const GroupName& group, io::Loop& loop,
                                                     const SqliteOptions& options = {});
    // Waits for the write that is running, if any; drops what is queued.
    ~SqliteStore() override;
    SqliteStore(const SqliteStore&) = delete;
    SqliteStore& operator=(const SqliteStore&) = delete;

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
    Transactions* transactions() override;

private:
    struct State;
    explicit SqliteStore(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::checkpoint
