// A store that lives in memory: for groups within one process, for tests, and for the simulated
// world, where the clients of one server sit on many loops.
//
//     MemoryStore on loop "a" ──┐
//     MemoryStore on loop "b" ──┼──▶ MemoryServer: one Table for each group, a clock of its own
//     MemoryStore on loop "c" ──┘
//
// An operation is applied when it is called and answered by a task on the client's loop; latency
// and faults are FaultyStore's (checkpoint/faulty_store.h). Not durable: it ends with the server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/lifetime.h"
#include "checkpoint/memory/table.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

class MemoryStore;

// Threads: any.
class MemoryServer {
public:
    struct Options {
        // Ages are differences of times cut to whole seconds, as Blob storage tells them.
        bool whole_seconds = false;
        // Nobody sets its clock: step_clock() is not called, and ages are exact.
        bool is_steady = true;
    };

    explicit MemoryServer(const Clock& clock) : MemoryServer(clock, Options()) {}
    MemoryServer(const Clock& clock, const Options& options) : clock_(clock), options_(options) {}

    // A copy of a group's entries as they are now, for checkers and display.
    Table snapshot(const GroupName& group) const;
    // As if the group were restored from a copy; an empty table empties it.
    void restore(const GroupName& group, Table table);
    // As if an operator had set the clock of the store's host; back too.
    void step_clock(Duration by);

private:
    friend class MemoryStore;
    struct State {
        Duration stepped{0};
        std::map<GroupName, Table> tables;
        std::vector<const MemoryStore*> watchers;
    };

    // Runs `operation` on the entries of the caller's group, alone; then tells the other watchers
    // if it has changed members or ownerships.
    template <typename Operation>
    auto apply(const MemoryStore& caller, Operation operation);
    Moment moment(Duration stepped) const;
    void watch(const MemoryStore& store, bool on);

    const Clock& clock_;
    const Options options_;
    Guarded<State> state_;
};

class MemoryStore final : public Store {
public:
    // The server and the loop outlive the store.
    MemoryStore(io::Loop& loop, MemoryServer& server, const GroupName& group);
    ~MemoryStore() override;
    MemoryStore(const MemoryStore&) = delete;
    MemoryStore& operator=(const MemoryStore&) = delete;

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

private:
    friend class MemoryServer;

    template <typename T>
    void answer(Answer<T> done, Result<T> result);
    // Threads: any.
    void notify() const;

    io::Loop& loop_;
    MemoryServer& server_;
    const GroupName group_;
    std::function<void()> changed_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::checkpoint
