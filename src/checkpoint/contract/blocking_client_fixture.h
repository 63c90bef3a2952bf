// A store on a loop of its own, with calls that wait for their answers: one processor, as far as a
// store can tell.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/promise.h"
#include "checkpoint/store.h"
#include "io/system/loop.h"

namespace evenkeel::checkpoint {

class BlockingClient {
public:
    // `make` runs before the loop starts, and returns a std::unique_ptr<Store>.
    template <typename Make>
    explicit BlockingClient(Make make) : store_(make(loop_)) {
        loop_.start();
    }
    ~BlockingClient() {
        io::system::run_and_wait(loop_, [this] { store_.reset(); });
        loop_.stop();
    }
    BlockingClient(const BlockingClient&) = delete;
    BlockingClient& operator=(const BlockingClient&) = delete;

    // `call` gets the store and the answer to hand on, on the loop.
    template <typename T, typename Call>
    Result<T> ask(Call call) {
        Promise<Result<T>> promise;
        loop_.post([&] {
            call(*store_,
                 Store::Answer<T>([&](Result<T> result) { promise.set(std::move(result)); }));
        });
        return promise.wait();
    }

    Result<std::vector<Member>> members() {
        return ask<std::vector<Member>>(
            [](Store& s, auto done) { s.list_members(std::move(done)); });
    }
    Result<std::string> write(const Member& member) {
        return ask<std::string>(
            [&](Store& s, auto done) { s.write_member(member, std::move(done)); });
    }
    Result<> remove(std::string_view id, std::string_view version) {
        return ask<void>(
            [&](Store& s, auto done) { s.remove_member(id, version, std::move(done)); });
    }
    Result<std::vector<Ownership>> ownerships() {
        return ask<std::vector<Ownership>>(
            [](Store& s, auto done) { s.list_ownerships(std::move(done)); });
    }
    Result<std::vector<Result<std::string>>> write(const std::vector<Ownership>& wanted) {
        return ask<std::vector<Result<std::string>>>(
            [&](Store& s, auto done) { s.write_ownerships(wanted, std::move(done)); });
    }
    Result<std::string> write(const Ownership& ownership) {
        auto results = write(std::vector<Ownership>{ownership});
        if (!results.ok()) return results.error();
        return (*results)[0];
    }
    Result<std::vector<Checkpoint>> checkpoints() {
        return ask<std::vector<Checkpoint>>(
            [](Store& s, auto done) { s.list_checkpoints(std::move(done)); });
    }
    Result<Checkpoint> seal(std::uint32_t partition, std::int64_t epoch) {
        return ask<Checkpoint>([&](Store& s, auto done) {
            s.seal(PartitionId{partition}, Epoch{epoch}, std::move(done));
        });
    }
    Result<> write(const Checkpoint& checkpoint) {
        return ask<void>(
            [&](Store& s, auto done) { s.write_checkpoint(checkpoint, std::move(done)); });
    }
    Result<> reset(const Checkpoint& checkpoint) {
        return ask<void>(
            [&](Store& s, auto done) { s.reset_checkpoint(checkpoint, std::move(done)); });
    }
    Result<> add(const DeadLetter& letter) {
        return ask<void>([&](Store& s, auto done) { s.add_dead_letter(letter, std::move(done)); });
    }
    Result<> remove(const DeadLetterId& id) {
        return ask<void>([&](Store& s, auto done) { s.remove_dead_letter(id, std::move(done)); });
    }
    Result<std::map<PartitionId, std::uint64_t>> dead_letter_counts() {
        return ask<std::map<PartitionId, std::uint64_t>>(
            [](Store& s, auto done) { s.count_dead_letters(std::move(done)); });
    }
    Result<std::vector<DeadLetter>> dead_letters(std::size_t count_max,
                                                 std::optional<DeadLetterId> after = {}) {
        return ask<std::vector<DeadLetter>>([&](Store& s, auto done) {
            s.list_dead_letters({count_max, after}, std::move(done));
        });
    }

    Result<std::vector<Record>> records(std::string_view prefix = "") {
        return ask<std::vector<Record>>(
            [&](Store& s, auto done) { s.list_records(prefix, std::move(done)); });
    }
    Result<std::string> write(const Record& record) {
        return ask<std::string>(
            [&](Store& s, auto done) { s.write_record(record, std::move(done)); });
    }

    Store& store() { return *store_; }
    io::system::LoopThread& loop() { return loop_; }
    // Destroys the store now.
    void close() {
        io::system::run_and_wait(loop_, [this] { store_.reset(); });
    }

private:
    io::system::LoopThread loop_{"client"};
    std::unique_ptr<Store> store_;
};

}  // namespace evenkeel::checkpoint
