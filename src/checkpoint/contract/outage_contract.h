// What every store on a server does while that is away, silent, slow, or loses its answers.
// Included once by a test program, which instantiates it with its server.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/promise.h"
#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/store.h"
#include "support/faulty_proxy.h"

namespace evenkeel::checkpoint {

// A server that is empty when the test begins.
class OutageBackend {
public:
    virtual ~OutageBackend() = default;
    // Why there is no such server on this machine, if there is none; then nothing else is asked.
    virtual std::string why_missing() const = 0;
    virtual std::uint16_t port() const = 0;
    // On the server that answers on `port`, an operation at most `wait_max`.
    virtual Result<std::unique_ptr<Store>> open(std::uint16_t port, Duration wait_max,
                                                io::Loop& loop) = 0;
    // As a crash does.
    virtual void kill() = 0;
    virtual bool start_again() = 0;
};

// On a server that all tests of the program share.
template <typename Server>
class ServerOutage : public OutageBackend {
public:
    explicit ServerOutage(Server* (*shared)(std::string& why)) : server_(shared(why_)) {}
    std::string why_missing() const override { return server_ == nullptr ? why_ : ""; }
    std::uint16_t port() const override { return server_->port(); }
    void kill() override { server_->kill(); }
    bool start_again() override { return server_->start_again(); }

private:
    std::string why_;

protected:
    Server* const server_;
};

class StoreOutage : public testing::TestWithParam<std::unique_ptr<OutageBackend> (*)()> {
protected:
    void SetUp() override {
        if (!backend_->why_missing().empty()) GTEST_SKIP() << backend_->why_missing();
        proxy_ = std::make_unique<test::FaultyProxy>(backend_->port());
    }
    std::unique_ptr<BlockingClient> client(Duration wait_max) {
        return std::make_unique<BlockingClient>([&](io::Loop& loop) {
            auto store = backend_->open(proxy_->port(), wait_max, loop);
            for (int i = 0; i < 100 && !store.ok(); ++i) {  // it may take longer, too
                store = backend_->open(proxy_->port(), wait_max, loop);
            }
            EXPECT_TRUE(store) << to_string(store.error());
            return std::move(*store);
        });
    }
    static Checkpoint at(std::int64_t sequence) {
        return {.partition = {0}, .sequence = {sequence}, .epoch = {1}};
    }
    // On a busy machine even a short time that an operation may take can pass.
    static void write_at_last(BlockingClient& store, std::int64_t sequence) {
        while (!store.write(at(sequence)).ok()) {
        }
    }

    const SystemClock clock_{};
    std::unique_ptr<OutageBackend> backend_ = GetParam()();
    std::unique_ptr<test::FaultyProxy> proxy_;
};

inline constexpr std::chrono::milliseconds outage_short{300};
inline constexpr std::chrono::seconds outage_long{60};

TEST_P(StoreOutage, is_survived_by_itself_and_nothing_answered_is_lost) {
    const auto store = client(outage_long);
    ASSERT_TRUE(store->write(at(1)));

    proxy_->cut();
    write_at_last(*store, 2);
    backend_->kill();
    ASSERT_TRUE(backend_->start_again());
    write_at_last(*store, 3);

    EXPECT_EQ(store->checkpoints()->at(0).sequence, SequenceNumber{3});
}

TEST_P(StoreOutage, by_a_crash_of_the_server_loses_nothing_that_was_answered) {
    const auto store = client(outage_long);
    std::int64_t answered = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 50; ++i) {
            const std::int64_t next = answered + 1;
            if (store->write(at(next)).ok()) answered = next;
        }
        backend_->kill();
        ASSERT_TRUE(backend_->start_again());
        auto listed = store->checkpoints();
        while (!listed.ok()) listed = store->checkpoints();
        ASSERT_EQ(listed->size(), 1u);
        EXPECT_GE(listed->at(0).sequence.value, answered);
    }
    EXPECT_GE(answered, 100);
}

TEST_P(StoreOutage, is_told_in_time_while_it_lasts_and_the_store_works_after) {
    const auto store = client(outage_short);
    write_at_last(*store, 1);
    proxy_->refuse(true);
    Promise<bool> finished;
    std::atomic<int> left = 20, retriable = 0;
    const Instant asked = clock_.now();

    store->loop().post([&] {
        for (int i = 0; i < 20; ++i) {
            store->store().write_checkpoint(at(2 + i), [&](Result<> result) {
                retriable += !result.ok() && is_retriable(result.error());
                if (--left == 0) finished.set(true);
            });
        }
    });
    io::system::run_and_wait(store->loop(), [] {});  // the loop itself is not kept waiting
    finished.wait();

    EXPECT_EQ(retriable, 20);
    EXPECT_LT(clock_.now() - asked, Duration(std::chrono::seconds(10)))
        << "not one bound after another";
    proxy_->refuse(false);
    write_at_last(*store, 50);
    EXPECT_EQ(store->checkpoints()->at(0).sequence, SequenceNumber{50});
}

TEST_P(StoreOutage, of_a_server_that_falls_silent_is_told_in_time) {
    const auto store = client(outage_short);
    write_at_last(*store, 1);
    proxy_->hold(true);
    const Instant asked = clock_.now();

    const auto written = store->write(at(2));

    ASSERT_FALSE(written);
    EXPECT_TRUE(is_retriable(written.error())) << to_string(written.error());
    EXPECT_LT(clock_.now() - asked, Duration(std::chrono::seconds(10)));
    proxy_->hold(false);
    proxy_->cut();
    write_at_last(*store, 3);
}

TEST_P(StoreOutage, leaves_a_write_unknown_whose_answer_is_lost) {
    const auto store = client(outage_short);
    (void)store->write(Ownership{.partition = {7}, .owner = "me"});
    auto before = store->ownerships();
    while (!before.ok() || before->empty()) {
        (void)store->write(Ownership{.partition = {7}, .owner = "me"});
        before = store->ownerships();
    }
    const std::string version = before->at(0).version;
    proxy_->lose_answers(true);

    // On a busy machine the first may end before there is an answer to lose.
    for (int i = 0; i < 100 && proxy_->lost_bytes() == 0; ++i) {
        const auto unknown =
            store->write(Ownership{.partition = {7}, .owner = "me", .version = version});

        ASSERT_FALSE(unknown);
        EXPECT_TRUE(is_retriable(unknown.error())) << to_string(unknown.error());
    }
    proxy_->lose_answers(false);
    proxy_->cut();
    auto listed = store->ownerships();
    while (!listed.ok()) listed = store->ownerships();
    EXPECT_NE(listed->at(0).version, version) << "it was applied";
    EXPECT_GT(proxy_->lost_bytes(), 0u);
}

TEST_P(StoreOutage, that_only_makes_it_slow_fails_nothing) {
    const auto store = client(outage_long);
    proxy_->slow_down(std::chrono::milliseconds(20));
    Promise<bool> finished;
    std::atomic<int> left = 20, good = 0;

    store->loop().post([&] {
        for (std::uint32_t i = 0; i < 20; ++i) {
            const Checkpoint next{.partition = {i % 4}, .sequence = {i}, .epoch = {1}};
            store->store().write_checkpoint(next, [&](const Result<>& result) {
                good += result.ok();
                if (--left == 0) finished.set(true);
            });
        }
    });
    finished.wait();
    const auto claimed = store->write(Ownership{.partition = {0}, .owner = "me"});

    EXPECT_EQ(good, 20);
    ASSERT_TRUE(claimed) << to_string(claimed.error());
    EXPECT_EQ(store->ownerships()->at(0).version, *claimed);
    const auto listed = store->checkpoints();
    ASSERT_EQ(listed->size(), 4u);
    for (const Checkpoint& each : *listed) EXPECT_GE(each.sequence.value, 16);
}

TEST_P(StoreOutage, does_not_keep_a_store_from_being_closed_at_once) {
    const auto store = client(std::chrono::hours(1));
    proxy_->hold(true);
    io::system::run_and_wait(store->loop(),
                             [&] { store->store().write_checkpoint(at(1), [](auto) {}); });
    const Instant asked = clock_.now();

    store->close();

    EXPECT_LT(clock_.now() - asked, Duration(std::chrono::seconds(30)));
}

TEST_P(StoreOutage, is_survived_by_a_watch_which_tells_afterwards) {
    const auto a = client(outage_long), b = client(outage_long);
    std::atomic<int> told = 0;
    bool can_tell = false;
    io::system::run_and_wait(b->loop(), [&] { can_tell = b->store().watch([&] { ++told; }); });
    if (!can_tell) GTEST_SKIP() << "this store cannot tell";
    proxy_->cut();
    auto version = a->write(Member{.id = "a", .incarnation = "1"});
    while (!version.ok()) version = a->write(Member{.id = "a", .incarnation = "1"});
    const auto until_told = [&](int before) {
        const Instant deadline = clock_.now() + outage_long;
        while (told == before && clock_.now() < deadline) {
            io::system::run_and_wait(b->loop(), [] {});
        }
        return told > before;
    };
    EXPECT_TRUE(until_told(0)) << "it may have missed something";
    const int before = told;

    ASSERT_TRUE(a->write(Member{.id = "b", .incarnation = "1"}));

    EXPECT_TRUE(until_told(before));
    b->close();
}

}  // namespace evenkeel::checkpoint
