#include "checkpoint/timed_store.h"

#include <utility>

#include <fmt/core.h>

namespace evenkeel::checkpoint {

template <typename T>
Store::Answer<T> TimedStore::within_limit(Answer<T> done) {
    struct Call {
        Answer<T> done;
        io::TimerId timer{};
    };
    auto call = std::make_shared<Call>(Call{std::move(done), {}});
    call->timer = loop_.run_after(limit_, lifetime_.guard([this, call] {
        if (!call->done) return;
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(limit_);
        auto late = std::exchange(call->done, {});
        late(Error{ErrorCode::timed_out,
                   fmt::format("no answer from the store within {} ms", waited.count())});
    }));
    return lifetime_.guard([this, call](Result<T> result) {
        if (!call->done) return;
        loop_.cancel(call->timer);
        auto answered = std::exchange(call->done, {});
        answered(std::move(result));
    });
}

void TimedStore::list_members(Answer<std::vector<Member>> done) {
    inner_.list_members(within_limit(std::move(done)));
}

void TimedStore::write_member(const Member& member, Answer<std::string> done) {
    inner_.write_member(member, within_limit(std::move(done)));
}

void TimedStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    inner_.remove_member(id, version, within_limit(std::move(done)));
}

void TimedStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    inner_.list_ownerships(within_limit(std::move(done)));
}

void TimedStore::write_ownerships(std::vector<Ownership> wanted,
                                  Answer<std::vector<Result<std::string>>> done) {
    inner_.write_ownerships(std::move(wanted), within_limit(std::move(done)));
}

void TimedStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    inner_.list_checkpoints(within_limit(std::move(done)));
}

void TimedStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    inner_.seal(partition, epoch, within_limit(std::move(done)));
}

void TimedStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    inner_.write_checkpoint(checkpoint, within_limit(std::move(done)));
}

void TimedStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    inner_.reset_checkpoint(checkpoint, within_limit(std::move(done)));
}

void TimedStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    inner_.add_dead_letter(letter, within_limit(std::move(done)));
}

void TimedStore::list_dead_letters(const DeadLetterPage& page,
                                   Answer<std::vector<DeadLetter>> done) {
    inner_.list_dead_letters(page, within_limit(std::move(done)));
}

void TimedStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    inner_.count_dead_letters(within_limit(std::move(done)));
}

void TimedStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    inner_.remove_dead_letter(id, within_limit(std::move(done)));
}

void TimedStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    inner_.list_records(prefix, within_limit(std::move(done)));
}

void TimedStore::write_record(const Record& record, Answer<std::string> done) {
    inner_.write_record(record, within_limit(std::move(done)));
}

}  // namespace evenkeel::checkpoint
