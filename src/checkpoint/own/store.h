// A store of the user's (include/evenkeel/checkpoint_store.h) as the processor wants it: its calls
// block, so they run on a thread of this store's own.
//
//     loop: calls queue up ──▶ store/0: OwnTable ──▶ the user's get, list, put, remove
//           answers        ◀──
//
// Nobody tells of changes; processors poll. No transactions: exactly once is not offered.
// Failure: what the user's code throws is `unavailable`.
#pragma once

#include <memory>

#include "checkpoint/store.h"
#include "io/loop.h"
#include <evenkeel/checkpoint_store.h>

namespace evenkeel::checkpoint {

class OwnStore final : public Store {
public:
    // The loop outlives the store. `invalid_argument` for names that are too long for keys.
    static Result<std::unique_ptr<Store>> open(std::shared_ptr<CheckpointStore> store,
                                               const GroupName& group, io::Loop& loop);
    // Waits for the call that is running, if any; drops what is queued.
    ~OwnStore() override;
    OwnStore(const OwnStore&) = delete;
    OwnStore& operator=(const OwnStore&) = delete;

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
    bool watch(std::function<void()>) override { return false; }
    Pace pace() const override { return Pace::quick; }

private:
    struct State;
    explicit OwnStore(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::checkpoint
