#include "processor/balance/load_balancer.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

View a_view(const std::vector<double>& loads, const std::vector<MemberIndex>& owners,
            std::size_t members) {
    View view;
    view.self = 0;
    view.by_load = true;
    for (std::size_t m = 0; m < members; ++m) {
        view.members.push_back({.id = std::string(1, static_cast<char>('a' + m))});
    }
    for (std::size_t p = 0; p < loads.size(); ++p) {
        view.partitions.push_back({.owner = owners[p], .load = loads[p]});
    }
    return view;
}

std::vector<double> sums(const View& view, const Plan& result) {
    std::vector<double> sums(view.members.size(), 0);
    std::vector<MemberIndex> owners;
    for (const ViewPartition& partition : view.partitions) owners.push_back(partition.owner);
    for (const Move& move : result.moves) owners[move.partition.value] = move.to;
    for (std::size_t p = 0; p < owners.size(); ++p) {
        if (owners[p] != nobody)
            sums[static_cast<std::size_t>(owners[p])] += view.partitions[p].load;
    }
    return sums;
}

TEST(LoadBalancer, leaves_alone_what_is_nearly_even) {
    const Plan result = plan(a_view({52, 50, 48, 50}, {0, 0, 1, 1}, 2));

    EXPECT_TRUE(result.by_load);
    EXPECT_TRUE(result.moves.empty());
}

TEST(LoadBalancer, moves_what_best_halves_the_gap) {
    const View view = a_view({60, 30, 10, 20}, {0, 0, 0, 1}, 2);

    const Plan result = plan(view);

    ASSERT_EQ(result.moves.size(), 2U);
    EXPECT_EQ(result.moves[0], (Move{{1}, 0, 1}));
    EXPECT_EQ(sums(view, result), (std::vector<double>{60, 60}));
}

TEST(LoadBalancer, one_partition_that_is_too_heavy_for_anybody_moves_nothing) {
    const Plan result = plan(a_view({1000, 10, 10}, {0, 1, 2}, 3));

    EXPECT_TRUE(result.moves.empty());
}

TEST(LoadBalancer, counts_decide_where_loads_are_unknown_or_others_know_none) {
    EXPECT_FALSE(plan(a_view({0, 0, 0, 0}, {0, 0, 0, 0}, 2)).by_load);
    View mixed = a_view({5, 5, 5, 5}, {0, 0, 0, 1}, 2);
    mixed.members[1].is_foreign = true;
    EXPECT_FALSE(plan(mixed).by_load);
}

TEST(LoadBalancer, free_ones_go_to_the_lightest) {
    const Plan result = plan(a_view({50, 30, 25}, {0, nobody, nobody}, 2));

    EXPECT_EQ(sums(a_view({50, 30, 25}, {0, nobody, nobody}, 2), result),
              (std::vector<double>{50, 55}));
}

TEST(LoadBalancer, never_makes_the_heaviest_heavier_and_moves_each_once) {
    Random random(test::test_seed());
    for (int round = 0; round < 2000; ++round) {
        const std::size_t members = 2 + random.below(6);
        std::vector<double> loads;
        std::vector<MemberIndex> owners;
        for (std::size_t p = 0; p < 8 + random.below(40); ++p) {
            loads.push_back(1 + static_cast<double>(random.below(1000)));
            owners.push_back(static_cast<MemberIndex>(random.below(members)));
        }
        const View view = a_view(loads, owners, members);
        const Plan result = plan(view);
        std::vector<std::uint32_t> moved;
        for (const Move& move : result.moves) moved.push_back(move.partition.value);
        std::sort(moved.begin(), moved.end());
        EXPECT_EQ(std::adjacent_find(moved.begin(), moved.end()), moved.end());
        const auto before = sums(view, Plan{});
        const auto after = sums(view, result);
        EXPECT_LE(*std::max_element(after.begin(), after.end()),
                  *std::max_element(before.begin(), before.end()) + 1e-6);
    }
}

}  // namespace
}  // namespace evenkeel::processor
