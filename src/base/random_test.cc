#include "base/random.h"

#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace evenkeel {
namespace {

TEST(Random, gives_the_same_numbers_on_every_machine) {
    Random random(42);

    // From the published xoshiro256** and splitmix64. A change here makes old seeds worthless.
    EXPECT_EQ(random.next(), 0x15780b2e0c2ec716u);
    EXPECT_EQ(random.next(), 0x6104d9866d113a7eu);
    EXPECT_EQ(random.next(), 0xae17533239e499a1u);
}

TEST(Random, differs_by_seed) {
    std::set<std::uint64_t> firsts;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) firsts.insert(Random(seed).next());

    EXPECT_EQ(firsts.size(), 1'000u);
}

TEST(Random, stays_in_its_bounds_and_reaches_them) {
    Random random(test::test_seed());
    std::set<std::uint64_t> below;
    std::set<std::int64_t> between;
    for (int i = 0; i < 2'000; ++i) {
        below.insert(random.below(5));
        between.insert(random.between(-2, 2));
    }

    EXPECT_EQ(below, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(between, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
    EXPECT_EQ(random.below(1), 0u);
    EXPECT_EQ(random.between(7, 7), 7);
}

TEST(Random, is_even) {
    Random random(7);
    std::array<int, 10> counts{};
    for (int i = 0; i < 100'000; ++i) ++counts[random.below(counts.size())];

    for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Random, chance_is_a_share) {
    Random random(7);
    int hits = 0;
    for (int i = 0; i < 10'000; ++i) hits += random.chance(1, 4) ? 1 : 0;

    EXPECT_NEAR(hits, 2'500, 250);
    EXPECT_FALSE(random.chance(0, 3));
    EXPECT_TRUE(random.chance(3, 3));
}

TEST(Random, fills_any_length_to_the_end) {
    Random random(test::test_seed());
    for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 100u}) {
        std::vector<std::byte> last_bytes;
        for (int i = 0; i < 20; ++i) {
            std::vector<std::byte> bytes(size);
            random.fill(bytes);
            if (size > 0) last_bytes.push_back(bytes.back());
        }
        EXPECT_TRUE(size == 0 || std::any_of(last_bytes.begin(), last_bytes.end(),
                                             [](std::byte b) { return b != std::byte{0}; }));
    }
}

TEST(Random, a_fork_goes_its_own_way) {
    Random random(3);
    Random same(3);
    Random fork = random.fork();
    Random same_fork = same.fork();

    for (int i = 0; i < 10; ++i) (void)fork.next();

    EXPECT_EQ(random.next(), same.next());  // whatever the fork drew
    EXPECT_NE(same_fork.next(), same.next());
}

TEST(RandomDeathTest, an_empty_range_ends_the_process) {
    Random random(1);

    EXPECT_DEATH((void)random.below(0), "empty range");
    EXPECT_DEATH((void)random.between(2, 1), "empty range");
}

TEST(SecureBytes, are_not_the_same_twice) {
    std::array<std::byte, 32> first{};
    std::array<std::byte, 32> second{};

    secure_bytes(first);
    secure_bytes(second);

    EXPECT_NE(first, second);
}

}  // namespace
}  // namespace evenkeel
