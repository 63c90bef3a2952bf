#include "checkpoint/sqlite/store.h"

#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/sqlite/database.h"
#include "checkpoint/transaction.h"
#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct SqliteStoreFile : testing::Test {
    std::unique_ptr<BlockingClient> client(const SqliteOptions& options = {.wait_max = 60s}) {
        return std::make_unique<BlockingClient>([&](io::Loop& loop) {
            auto store = SqliteStore::open(file, {"localhost", "homes", "g"}, loop, options);
            EXPECT_TRUE(store) << to_string(store.error());
            return std::unique_ptr<Store>(std::move(*store));
        });
    }
    static Checkpoint at(std::int64_t sequence) {
        return {.partition = {0}, .sequence = {sequence}, .epoch = {1}};
    }

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() + "/a.db";
};

TEST_F(SqliteStoreFile, is_unavailable_in_time_while_locked_and_works_after) {
    const auto store = client({.wait_max = 100ms});
    ASSERT_TRUE(store->write(at(1)));
    auto holder = Database::open(file, clock, clock.now() + 60s);
    ASSERT_TRUE(holder && (*holder)->begin());
    const Instant asked = clock.now();

    Promise<bool> finished;
    std::atomic<int> left = 20, unavailable = 0;
    store->loop().post([&] {
        for (int i = 0; i < 20; ++i) {
            store->store().write_checkpoint(at(2 + i), [&](Result<> result) {
                unavailable += !result.ok() && result.error().code == ErrorCode::unavailable;
                if (--left == 0) finished.set(true);
            });
        }
    });
    // The loop itself is not kept waiting.
    io::system::run_and_wait(store->loop(), [] {});
    finished.wait();
    const Duration took = clock.now() - asked;
    (*holder)->rollback();

    EXPECT_EQ(unavailable, 20);
    EXPECT_GE(took, Duration(95ms));
    EXPECT_LT(took, Duration(3s)) << "not one bound after another";
    while (!store->write(at(50)).ok()) {  // on a busy machine even 100 ms may pass
    }
    EXPECT_EQ(store->checkpoints()->at(0).sequence, SequenceNumber{50});
}

TEST_F(SqliteStoreFile, is_closed_at_once_while_the_file_is_locked) {
    const auto store = client({.wait_max = 1h});
    auto holder = Database::open(file, clock, clock.now() + 60s);
    ASSERT_TRUE(holder && (*holder)->begin());
    io::system::run_and_wait(store->loop(),
                             [&] { store->store().write_checkpoint(at(1), [](auto) {}); });

    store->close();

    (*holder)->rollback();
}

TEST_F(SqliteStoreFile, more_calls_than_it_can_keep_are_refused) {
    const auto store = client({.wait_max = 1h});
    auto holder = Database::open(file, clock, clock.now() + 60s);
    ASSERT_TRUE(holder && (*holder)->begin());
    Promise<ErrorCode> refused;

    store->loop().post([&] {
        for (int i = 0; i < 20'000; ++i) {
            store->store().write_checkpoint(at(i), [&](const Result<>& result) {
                if (!result.ok()) refused.set(result.error().code);
            });
        }
    });

    EXPECT_EQ(refused.wait(), ErrorCode::overloaded);
    (*holder)->rollback();
    store->close();
}

TEST_F(SqliteStoreFile, its_transactions_fence_and_move_the_same_checkpoints) {
    const auto store = client();
    ASSERT_TRUE(store->seal(0, 1));
    Transactions* transactions = store->store().transactions();
    ASSERT_NE(transactions, nullptr);

    auto transaction = transactions->begin(PartitionId{0});
    ASSERT_TRUE(transaction) << to_string(transaction.error());
    ASSERT_TRUE((*transaction)->commit(at(9)));
    transaction->reset();

    EXPECT_EQ(store->seal(0, 2)->sequence, SequenceNumber{9});
    auto stale = transactions->begin(PartitionId{0});
    ASSERT_TRUE(stale) << to_string(stale.error());
    const auto committed = (*stale)->commit(at(10));
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::fenced);
}

TEST_F(SqliteStoreFile, reports_a_file_that_was_replaced_and_never_uses_it) {
    const auto store = client();
    ASSERT_TRUE(store->write(at(1)));
    Transactions* transactions = store->store().transactions();
    ASSERT_TRUE(transactions->begin(PartitionId{0}));
    const std::string other = directory.path() + "/b.db";
    ASSERT_TRUE(Database::open(other, clock, clock.now() + 60s));
    ASSERT_EQ(std::rename(other.c_str(), file.c_str()), 0);

    const auto refused = store->write(at(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    EXPECT_NE(refused.error().detail.find("removed or replaced"), std::string::npos);
    for (int i = 0; i < 2; ++i) {
        const auto begun = transactions->begin(PartitionId{0});
        ASSERT_FALSE(begun);
        EXPECT_EQ(begun.error().code, ErrorCode::corrupt);
    }
}

TEST_F(SqliteStoreFile, a_file_that_is_no_store_is_refused_when_opened) {
    io::system::LoopThread loop("client");
    const auto store = SqliteStore::open(directory.path() + "/no/where.db", {}, loop);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace evenkeel::checkpoint
