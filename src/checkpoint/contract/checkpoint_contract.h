// The part of every store's contract that is about checkpoints (STORE-3, STORE-4); see
// store_contract.h.
#pragma once

#include <atomic>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/promise.h"
#include "base/random.h"
#include "checkpoint/contract/store_contract_fixture.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {

TEST_P(StoreContract, a_seal_answers_the_checkpoint_and_fences_lower_epochs) {
    const auto owner = client(), next = client();
    const auto none = owner->seal(4, 1);
    ASSERT_TRUE(none) << to_string(none.error());
    EXPECT_EQ(none->sequence, SequenceNumber{-1});
    EXPECT_EQ(none->offset, "");
    EXPECT_EQ(none->epoch, Epoch{1});
    ASSERT_TRUE(owner->write(at(4, 10, 1)));

    const auto sealed = next->seal(4, 2);

    ASSERT_TRUE(sealed) << to_string(sealed.error());
    EXPECT_EQ(sealed->partition, PartitionId{4});
    EXPECT_EQ(sealed->sequence, SequenceNumber{10});
    EXPECT_EQ(sealed->offset, "1000");
    EXPECT_EQ(sealed->epoch, Epoch{2});
    EXPECT_EQ(code(owner->write(at(4, 11, 1))), ErrorCode::fenced);
    EXPECT_EQ(code(owner->seal(4, 1)), ErrorCode::fenced);
    EXPECT_TRUE(next->seal(4, 2)) << "a second time, its answer was lost";
    EXPECT_TRUE(next->write(at(4, 10, 2))) << "the same position";
    EXPECT_EQ(next->checkpoints()->at(0).sequence, SequenceNumber{10});
}

TEST_P(StoreContract, a_write_under_a_higher_epoch_fences_the_lower_ones_too) {
    const auto a = client();
    ASSERT_TRUE(a->write(at(0, 1, 5)));

    EXPECT_EQ(code(a->write(at(0, 2, 4))), ErrorCode::fenced);
    EXPECT_EQ(code(a->seal(0, 4)), ErrorCode::fenced);
    EXPECT_TRUE(a->seal(0, 5));
}

TEST_P(StoreContract, a_checkpoint_does_not_go_back_in_sequence_or_attempts) {
    const auto a = client();
    ASSERT_TRUE(a->write(at(0, 10, 1, 2)));

    EXPECT_EQ(code(a->write(at(0, 9, 1, 7))), ErrorCode::conflict);
    EXPECT_EQ(code(a->write(at(0, 10, 1, 1))), ErrorCode::conflict);
    EXPECT_EQ(code(a->write(at(0, 9, 2))), ErrorCode::conflict) << "nor under a higher epoch";
    const Checkpoint stored = a->checkpoints()->at(0);
    EXPECT_EQ(stored.sequence, SequenceNumber{10});
    EXPECT_EQ(stored.attempts, 2u);
    EXPECT_EQ(stored.epoch, Epoch{1}) << "a refused write changes nothing";

    EXPECT_TRUE(a->write(at(0, 10, 1, 3)));
    EXPECT_TRUE(a->write(at(0, 11, 1, 0))) << "the next event has no attempts yet";
    EXPECT_EQ(a->checkpoints()->at(0).attempts, 0u);
}

TEST_P(StoreContract, people_may_set_a_checkpoint_back_but_not_its_epoch) {
    const auto a = client();
    ASSERT_TRUE(a->write(at(0, 10, 3, 2)));

    ASSERT_TRUE(a->reset(at(0, 4, 1)));
    EXPECT_EQ(a->checkpoints()->at(0).sequence, SequenceNumber{4});
    EXPECT_EQ(a->checkpoints()->at(0).attempts, 0u);
    EXPECT_EQ(a->checkpoints()->at(0).epoch, Epoch{3});
    EXPECT_TRUE(a->write(at(0, 5, 3)));

    ASSERT_TRUE(a->reset(at(0, -1, 9)));
    EXPECT_EQ(code(a->write(at(0, 6, 8))), ErrorCode::fenced);
    Checkpoint fresh = at(1, 77, 2);
    fresh.enqueued_ms = 5;
    EXPECT_TRUE(a->reset(fresh)) << "also where there was none";
    EXPECT_EQ(a->checkpoints()->at(1).enqueued_ms, 5);
    EXPECT_EQ(a->checkpoints()->at(1).sequence, SequenceNumber{77});
}

TEST_P(StoreContract, a_hundred_checkpoints_at_once_in_any_order_never_lower_it) {  // STORE-4
    const auto all = clients(4);
    Random random(test::test_seed());
    std::vector<std::int64_t> order(100);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[random.below(i + 1)]);
    std::atomic<int> left = 100;
    Promise<bool> finished;

    for (std::size_t i = 0; i < order.size(); ++i) {
        BlockingClient& one = *all[i % 3];
        one.loop().post([&, sequence = order[i]] {
            one.store().write_checkpoint(at(0, sequence, 1), [&](Result<> result) {
                EXPECT_TRUE(result.ok() || result.error().code == ErrorCode::conflict);
                if (--left == 0) finished.set(true);
            });
        });
    }
    std::int64_t last = -1;
    while (left > 0) {
        const auto listed = all[3]->checkpoints();
        if (listed->empty()) continue;
        EXPECT_GE(listed->at(0).sequence.value, last);
        last = listed->at(0).sequence.value;
    }
    finished.wait();

    EXPECT_EQ(all[3]->checkpoints()->at(0).sequence, SequenceNumber{99});
}

TEST_P(StoreContract, after_a_seal_the_old_owner_moves_nothing_however_they_race) {
    const auto old_owner = client(), new_owner = client();
    for (std::uint32_t round = 0; round < 20; ++round) {
        Promise<bool> finished;
        std::atomic<int> left = 30, written = 0;
        old_owner->loop().post([&] {
            for (int i = 0; i < 30; ++i) {
                old_owner->store().write_checkpoint(at(round, i, 1), [&](Result<> result) {
                    written += result.ok();
                    if (--left == 0) finished.set(true);
                });
            }
        });

        const auto sealed = new_owner->seal(round, 2);
        finished.wait();

        ASSERT_TRUE(sealed) << to_string(sealed.error());
        EXPECT_EQ(new_owner->checkpoints()->at(round).sequence, sealed->sequence);
        EXPECT_EQ(written, sealed->sequence.value + 1) << "answered with success, but not there";
    }
}

TEST_P(StoreContract, a_listed_checkpoint_has_all_fields_and_its_time) {
    const auto a = client();
    const SystemClock clock;
    const std::int64_t before = clock.wall().milliseconds;
    Checkpoint full = at(6, std::numeric_limits<std::int64_t>::max(), 7, 8);
    full.offset = "an opaque offset: 4294967296:\xC3\xA4";
    full.hub_created_ms = 1'700'000'000'123;
    full.enqueued_ms = 1'700'000'000'456;

    ASSERT_TRUE(a->write(full));

    const Checkpoint stored = a->checkpoints()->at(0);
    EXPECT_EQ(stored.sequence, full.sequence);
    EXPECT_EQ(stored.offset, full.offset);
    EXPECT_EQ(stored.attempts, full.attempts);
    EXPECT_EQ(stored.hub_created_ms, full.hub_created_ms);
    EXPECT_EQ(stored.enqueued_ms, full.enqueued_ms);
    EXPECT_EQ(a->seal(6, 8)->enqueued_ms, full.enqueued_ms) << "a seal answers it too";
    EXPECT_GE(stored.written_ms, before);
    EXPECT_LE(stored.written_ms, clock.wall().milliseconds);
}

}  // namespace evenkeel::checkpoint
