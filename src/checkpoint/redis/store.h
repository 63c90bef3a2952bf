// The store in a Redis server, shared by any number of processes on any number of machines.
//
//     loop: call ──▶ store/0: one command behind the other, without waiting for replies
//         answer ◀──          (all keys of a group have one hash tag: one node of a cluster)
//
// Compare-and-set and fences are Lua scripts, each one step of the server. Changes of others come
// by PUBLISH. What was answered survives the server's crash only as far as the server's own
// persistence goes: appendfsync (docs/stores.md).
// Format: docs/formats/redis.md. Threads: as all stores; one of its own.
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

struct RedisOptions {
    Duration wait_max = std::chrono::seconds(3);
    bool may_create = true;
};

class RedisStore final : public Store {
public:
    // Blocks. `url`: "redis://user:password@host:port/database", "rediss://" for TLS. The loop
    // outlives the store. None, and nothing was written, if it may not create what is missing.
    static Result<std::unique_ptr<RedisStore>> open(const std::string& url, const GroupName& group,
                                                    io::Loop& loop,
                                                    const RedisOptions& options = {});
    // Drops what is under way.
    ~RedisStore() override;
    RedisStore(const RedisStore&) = delete;
    RedisStore& operator=(const RedisStore&) = delete;

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
    struct State;
    explicit RedisStore(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::checkpoint
