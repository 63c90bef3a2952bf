#include "processor/balance/balancer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using test::test_seed;

View a_view(std::vector<std::string> members, std::size_t partitions, MemberIndex self = 0) {
    View view;
    view.self = self;
    for (std::string& id : members) view.members.push_back({.id = std::move(id)});
    view.partitions.resize(partitions);
    return view;
}

// Any group that may be: some members leave, some are on probation or foreign, offers are under
// way.
View any_view(Random& random) {
    View view;
    const std::size_t members = 1 + random.below(9);
    for (std::size_t m = 0; m < members; ++m) {
        view.members.push_back(
            {.id = "member-" + std::to_string(random.below(1000)) + "-" + std::to_string(m)});
        view.members.back().is_leaving = m > 0 && random.chance(1, 6);
        view.members.back().is_on_probation = random.chance(1, 8);
        // Of foreign members nothing is known but what they own.
        if (m > 0 && random.chance(1, 10)) {
            view.members.back().is_leaving = false;
            view.members.back().is_on_probation = false;
            view.members.back().is_foreign = true;
        }
    }
    view.self = static_cast<MemberIndex>(random.below(members));
    view.partitions.resize(1 + random.below(70));
    const bool is_cold = random.chance(1, 4);
    for (ViewPartition& partition : view.partitions) {
        const auto anybody = [&] { return static_cast<MemberIndex>(random.below(members)); };
        if (!is_cold && random.chance(3, 4)) partition.owner = anybody();
        if (partition.owner != nobody && random.chance(1, 8)) partition.offered_to = anybody();
        if (partition.offered_to == partition.owner) partition.offered_to = nobody;
        partition.load = static_cast<double>(random.below(1000)) + 1;
    }
    view.by_load = random.chance(1, 4);
    return view;
}

bool is_up(const View& view, MemberIndex member) {
    const ViewMember& seen = view.members[static_cast<std::size_t>(member)];
    return !seen.is_leaving && !seen.is_foreign;
}

// Who has each partition after all offers and moves.
std::vector<MemberIndex> carried_out(const View& view, const Plan& plan) {
    std::vector<MemberIndex> owners;
    for (const ViewPartition& partition : view.partitions) {
        const bool is_offered = partition.owner != nobody && partition.offered_to != nobody &&
                                is_up(view, partition.offered_to);
        owners.push_back(is_offered ? partition.offered_to : partition.owner);
    }
    for (const Move& move : plan.moves) owners[move.partition.value] = move.to;
    return owners;
}

std::vector<std::uint32_t> counts_of(const View& view, const std::vector<MemberIndex>& owners) {
    std::vector<std::uint32_t> counts(view.members.size(), 0);
    for (const MemberIndex owner : owners) {
        if (owner != nobody) ++counts[static_cast<std::size_t>(owner)];
    }
    return counts;
}

TEST(Balancer, one_member_claims_everything) {
    const Plan result = plan(a_view({"a"}, 4));

    EXPECT_EQ(result.claims.size(), 4U);
    EXPECT_TRUE(result.offers.empty());
    EXPECT_EQ(result.quotas, (std::vector<std::uint32_t>{4}));
}

TEST(Balancer, a_newcomer_is_offered_exactly_what_exceeds_the_shares) {
    View view = a_view({"a", "b", "c"}, 8);
    for (std::size_t p = 0; p < 8; ++p) view.partitions[p].owner = p % 2 == 0 ? 0 : 1;

    const Plan result = plan(view);

    EXPECT_EQ(result.moves.size(), 2U);
    for (const Move& move : result.moves) EXPECT_EQ(move.to, 2);
    EXPECT_EQ(result.offers.size(), 1U);
    EXPECT_FALSE(result.expects);
}

TEST(Balancer, offers_count_as_given_so_that_nobody_is_overfilled) {
    View view = a_view({"a", "b", "c"}, 6);
    for (std::size_t p = 0; p < 6; ++p) view.partitions[p].owner = p < 3 ? 0 : 1;
    view.partitions[0].offered_to = 2;
    view.partitions[3].offered_to = 2;

    EXPECT_TRUE(plan(view).moves.empty());
}

TEST(Balancer, an_offer_to_somebody_who_leaves_does_not_count) {
    View view = a_view({"a", "b"}, 4);
    view.members[1].is_leaving = true;
    for (ViewPartition& partition : view.partitions) partition.owner = 0;
    view.partitions[2].offered_to = 1;

    EXPECT_TRUE(plan(view).moves.empty());
    EXPECT_EQ(plan(view).counts[0], 4U);
}

TEST(Balancer, whoever_leaves_gives_everything_to_the_others) {
    View view = a_view({"a", "b", "c"}, 9);
    for (std::size_t p = 0; p < 9; ++p) view.partitions[p].owner = static_cast<MemberIndex>(p % 3);
    view.members[0].is_leaving = true;

    const Plan result = plan(view);

    EXPECT_EQ(result.offers.size(), 3U);
    const auto counts = counts_of(view, carried_out(view, result));
    EXPECT_EQ(counts[0], 0U);
    EXPECT_LE(std::max(counts[1], counts[2]) - std::min(counts[1], counts[2]), 1U);
}

TEST(Balancer, probation_gets_nothing_new_but_keeps_what_it_has) {
    View view = a_view({"a", "b"}, 4);
    view.members[1].is_on_probation = true;
    view.partitions[0].owner = 1;

    const Plan result = plan(view);

    EXPECT_EQ(result.claims.size(), 3U);
    for (const Move& move : result.moves) EXPECT_EQ(move.to, 0);
}

TEST(Balancer, where_all_are_on_probation_somebody_reads_all_the_same) {
    View view = a_view({"a"}, 4);
    view.members[0].is_on_probation = true;

    EXPECT_EQ(plan(view).claims.size(), 4U);
}

TEST(Balancer, takes_only_the_surplus_of_official_members) {
    View view = a_view({"a", "official"}, 8);
    view.members[1].is_foreign = true;
    for (ViewPartition& partition : view.partitions) partition.owner = 1;

    const Plan result = plan(view);

    EXPECT_EQ(result.steals.size(), 4U);
    EXPECT_TRUE(result.claims.empty());
}

// They do not take from each other as long as each has the floor.
TEST(Balancer, surplus_of_official_members_goes_to_ours_whatever_the_names) {
    for (int name = 0; name < 20; ++name) {
        View view = a_view({"a" + std::to_string(name), "greedy", "content"}, 8);
        view.members[1].is_foreign = view.members[2].is_foreign = true;
        for (std::size_t p = 0; p < 8; ++p) {
            view.partitions[p].owner = p < 4 ? 1 : p < 6 ? 2 : 0;
        }

        EXPECT_EQ(plan(view).steals.size(), 1U);
    }
}

TEST(Balancer, more_members_than_partitions_leave_some_as_standby) {
    View view = a_view({"a", "b", "c", "d", "e"}, 3);

    const Plan result = plan(view);

    EXPECT_EQ(std::accumulate(result.quotas.begin(), result.quotas.end(), 0U), 3U);
    EXPECT_EQ(*std::max_element(result.quotas.begin(), result.quotas.end()), 1U);
}

// BAL-1
TEST(Balancer, quotas_are_floor_or_ceiling) {
    Random random(test_seed());
    for (int round = 0; round < 3000; ++round) {
        View view = any_view(random);
        view.by_load = false;
        const Plan result = plan(view);
        std::uint32_t sum = 0;
        std::set<std::uint32_t> kinds;
        for (const std::uint32_t quota : result.quotas) sum += quota;
        for (std::size_t m = 0; m < view.members.size(); ++m) {
            const ViewMember& member = view.members[m];
            if (member.is_foreign || (!member.is_leaving && !member.is_on_probation)) {
                kinds.insert(result.quotas[m]);
            }
        }
        const bool any = std::any_of(view.members.begin(), view.members.end(),
                                     [](const auto& m) { return m.is_foreign || !m.is_leaving; });
        EXPECT_EQ(sum, any ? view.partitions.size() : 0U);
        if (kinds.size() > 1) {
            EXPECT_EQ(*kinds.rbegin() - *kinds.begin(), 1U);
        }
    }
}

TEST(Balancer, shares_differ_by_one_at_most_and_never_overlap) {
    Random random(test_seed());
    for (int round = 0; round < 3000; ++round) {
        View view = any_view(random);
        view.by_load = false;
        for (ViewMember& member : view.members) {
            member.is_on_probation = false;
            member.is_foreign = false;
        }
        view.members[0].is_leaving = false;
        // Offers that were made may not fit any more; without them one step must do.
        for (ViewPartition& partition : view.partitions) partition.offered_to = nobody;
        const Plan result = plan(view);

        std::set<PartitionId> moved;
        for (const Move& move : result.moves) {
            EXPECT_TRUE(moved.insert(move.partition).second) << "moved twice in one plan";
            EXPECT_NE(move.from, move.to);
        }
        const auto owners = carried_out(view, result);
        const auto counts = counts_of(view, owners);
        std::uint32_t least = UINT32_MAX;
        std::uint32_t most = 0;
        for (std::size_t m = 0; m < view.members.size(); ++m) {
            if (view.members[m].is_leaving) {
                EXPECT_EQ(counts[m], 0U);
                continue;
            }
            least = std::min(least, counts[m]);
            most = std::max(most, counts[m]);
        }
        EXPECT_LE(most - least, 1U);
        EXPECT_EQ(std::count(owners.begin(), owners.end(), nobody), 0);
    }
}

// BAL-3
TEST(Balancer, moves_as_little_as_any_balance_needs) {
    Random random(test_seed());
    for (int round = 0; round < 2000; ++round) {
        View view = any_view(random);
        view.by_load = false;
        for (ViewMember& member : view.members) {
            member = {.id = member.id};  // all up
        }
        for (ViewPartition& partition : view.partitions) partition.offered_to = nobody;
        const Plan result = plan(view);

        // Best case: of the members sorted by count, the larger shares go to those with most.
        std::vector<std::uint32_t> counts = result.counts;
        std::sort(counts.rbegin(), counts.rend());
        const std::size_t n = view.partitions.size();
        const std::size_t k = view.members.size();
        std::size_t needed = 0;
        for (std::size_t i = 0; i < k; ++i) {
            const std::size_t share = n / k + (i < n % k ? 1 : 0);
            if (counts[i] > share) needed += counts[i] - share;
        }
        const auto surplus = std::count_if(result.moves.begin(), result.moves.end(),
                                           [](const Move& move) { return move.from != nobody; });
        EXPECT_EQ(static_cast<std::size_t>(surplus), needed);
    }
}

// BAL-4
TEST(Balancer, all_members_plan_the_same_whatever_their_order) {
    Random random(test_seed());
    for (int round = 0; round < 2000; ++round) {
        const View view = any_view(random);
        std::map<std::pair<std::uint32_t, std::string>, std::string> expected;
        const auto by_name = [](const View& seen, const Plan& result) {
            std::map<std::uint32_t, std::string> moves;
            for (const Move& move : result.moves) {
                moves[move.partition.value] = seen.members[static_cast<std::size_t>(move.to)].id;
            }
            return moves;
        };
        std::vector<MemberIndex> place(view.members.size());
        std::iota(place.begin(), place.end(), 0);
        for (std::size_t i = place.size(); i > 1; --i) {
            std::swap(place[i - 1], place[random.below(i)]);
        }
        View shuffled = view;
        for (std::size_t m = 0; m < place.size(); ++m) {
            shuffled.members[static_cast<std::size_t>(place[m])] = view.members[m];
        }
        const auto moved = [&](MemberIndex member) {
            return member == nobody ? nobody : place[static_cast<std::size_t>(member)];
        };
        for (ViewPartition& partition : shuffled.partitions) {
            partition.owner = moved(partition.owner);
            partition.offered_to = moved(partition.offered_to);
        }
        shuffled.self = static_cast<MemberIndex>(random.below(place.size()));

        EXPECT_EQ(by_name(view, plan(view)), by_name(shuffled, plan(shuffled)));
    }
}

TEST(Balancer, claims_of_all_members_together_are_all_that_is_free_once) {
    Random random(test_seed());
    for (int round = 0; round < 1000; ++round) {
        View view = any_view(random);
        view.members[0] = {.id = view.members[0].id};
        std::multiset<PartitionId> claimed;
        for (std::size_t m = 0; m < view.members.size(); ++m) {
            view.self = static_cast<MemberIndex>(m);
            for (const PartitionId partition : plan(view).claims) claimed.insert(partition);
        }
        for (std::uint32_t p = 0; p < view.partitions.size(); ++p) {
            const std::size_t times = view.partitions[p].owner == nobody ? 1 : 0;
            EXPECT_EQ(claimed.count(PartitionId{p}), times) << p;
        }
    }
}

TEST(Balancer, once_carried_out_there_is_nothing_left_to_move) {
    Random random(test_seed());
    for (int round = 0; round < 2000; ++round) {
        View view = any_view(random);
        view.by_load = false;
        // What is on its way to one that has too many by now moves on when it is there.
        for (ViewPartition& partition : view.partitions) partition.offered_to = nobody;
        const Plan first = plan(view);
        const auto owners = carried_out(view, first);
        for (std::size_t p = 0; p < owners.size(); ++p) {
            view.partitions[p].owner = owners[p];
            view.partitions[p].offered_to = nobody;
        }
        const Plan second = plan(view);
        EXPECT_TRUE(second.moves.empty()) << explain(view, first) << explain(view, second);
    }
}

TEST(Balancer, explains_inputs_shares_and_reasons) {
    View view = a_view({"a", "b"}, 4);
    for (ViewPartition& partition : view.partitions) partition.owner = 0;
    view.partitions[3].owner = nobody;

    const std::string text = explain(view, plan(view));

    EXPECT_NE(text.find("4 partitions, 2 members"), std::string::npos) << text;
    EXPECT_NE(text.find("a (this one): has 3, due 2"), std::string::npos) << text;
    EXPECT_NE(text.find("3 to b (free)"), std::string::npos) << text;
    EXPECT_NE(text.find("its owner has too many"), std::string::npos) << text;
}

TEST(Balancer, a_newcomer_takes_its_share_step_by_step) {
    EXPECT_EQ(ramp_limit(32, 0, 1), 1U);
    EXPECT_EQ(ramp_limit(32, 0.25, 1), 8U);
    EXPECT_EQ(ramp_limit(32, 0.26, 1), 9U);
    EXPECT_EQ(ramp_limit(32, 1, 1), 32U);
    EXPECT_EQ(ramp_limit(32, 0, 0), 32U);
    EXPECT_EQ(ramp_limit(0, 0.5, 1), 0U);
}

}  // namespace
}  // namespace evenkeel::processor
