// A store whose every call is answered within a limit: after that with `timed_out`, which means
// unknown as always (STORE-6), and what comes later is dropped. For stores that may hang without an
// error of their own, on a file system or a connection that does.
//
// Threads: as the inner store's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

class TimedStore final : public Store {
public:
    // The loop and the inner store outlive it.
    TimedStore(io::Loop& loop, Store& inner, Duration limit)
        : loop_(loop), inner_(inner), limit_(limit) {}

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
    bool watch(std::function<void()> changed) override { return inner_.watch(std::move(changed)); }
    Pace pace() const override { return inner_.pace(); }
    Transactions* transactions() override { return inner_.transactions(); }

private:
    // Passes the first of answer and time-out on.
    template <typename T>
    Answer<T> within_limit(Answer<T> done);

    io::Loop& loop_;
    Store& inner_;
    const Duration limit_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::checkpoint
