#include "host/scale/even_split.h"

#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

using Counts = std::vector<std::uint32_t>;

TEST(EvenSplit, lists_the_counts_that_divide_partitions_evenly) {
    EXPECT_EQ(even_counts(0), (Counts{0}));
    EXPECT_EQ(even_counts(1), (Counts{0, 1}));
    EXPECT_EQ(even_counts(2), (Counts{0, 1, 2}));
    EXPECT_EQ(even_counts(3), (Counts{0, 1, 2, 3}));
    EXPECT_EQ(even_counts(4), (Counts{0, 1, 2, 4}));
    EXPECT_EQ(even_counts(5), (Counts{0, 1, 2, 3, 5}));
    EXPECT_EQ(even_counts(8), (Counts{0, 1, 2, 3, 4, 8}));
    EXPECT_EQ(even_counts(10), (Counts{0, 1, 2, 3, 4, 5, 10}));
    EXPECT_EQ(even_counts(12), (Counts{0, 1, 2, 3, 4, 6, 12}));
    EXPECT_EQ(even_counts(16), (Counts{0, 1, 2, 3, 4, 6, 8, 16}));
    EXPECT_EQ(even_counts(32), (Counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 32}));
    EXPECT_EQ(even_counts(64), (Counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 22, 32, 64}));
    EXPECT_EQ(even_counts(100),
              (Counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 25, 34, 50, 100}));
}

TEST(EvenSplit, chooses_the_least_count_that_meets_the_demand) {
    for (std::uint32_t partitions = 0; partitions <= 200; ++partitions) {
        const Counts counts = even_counts(partitions);
        for (std::int64_t demand = -1; demand <= partitions + 2; ++demand) {
            std::uint32_t expected = partitions;
            for (const auto count : counts) {
                if (count >= demand) {
                    expected = count;
                    break;
                }
            }
            ASSERT_EQ(even_split(demand, partitions), expected) << demand << " of " << partitions;
        }
    }
    EXPECT_EQ(even_split(INT64_MAX, 16), 16u);
}

TEST(EvenSplit, finds_the_next_lower_count) {
    EXPECT_EQ(even_split_below(16, 16), 8u);
    EXPECT_EQ(even_split_below(17, 16), 16u);
    EXPECT_EQ(even_split_below(1, 16), 0u);
    EXPECT_EQ(even_split_below(0, 16), 0u);
}

}  // namespace
}  // namespace evenkeel::host
