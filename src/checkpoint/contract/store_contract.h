// What every store promises (checkpoint/store.h), as tests that each of them runs:
//
//     INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(&a_sqlite_backend));
#pragma once

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/promise.h"
#include "checkpoint/contract/checkpoint_contract.h"
#include "checkpoint/contract/model_contract.h"
#include "checkpoint/contract/record_contract.h"
#include "checkpoint/contract/store_contract_fixture.h"
#include "io/system/loop.h"

namespace evenkeel::checkpoint {

// --- STORE-1, STORE-2: members and ownerships

TEST_P(StoreContract, a_member_is_created_once_and_replaced_on_its_very_version) {
    const auto a = client(), b = client();

    const auto first = a->write(a_member("x"));
    ASSERT_TRUE(first) << to_string(first.error());
    EXPECT_EQ(code(b->write(a_member("x"))), ErrorCode::conflict);
    const auto second = b->write(a_member("x", *first));
    ASSERT_TRUE(second) << to_string(second.error());

    EXPECT_EQ(code(a->write(a_member("x", *first))), ErrorCode::conflict);
    EXPECT_EQ(code(a->write(a_member("y", *second))), ErrorCode::conflict);
    ASSERT_EQ(a->members()->size(), 1u);
    EXPECT_EQ(a->members()->at(0).version, *second);
}

TEST_P(StoreContract, a_write_that_changes_nothing_makes_a_new_version) {
    const auto a = client();
    std::set<std::string> versions;
    std::string version;

    for (int i = 0; i < 50; ++i) {
        version = *a->write(a_member("x", version));
        EXPECT_TRUE(versions.insert(version).second) << version;
        EXPECT_NE(version, "");
    }
}

TEST_P(StoreContract, versions_do_not_repeat_when_an_entry_comes_back) {
    const auto a = client();
    std::set<std::string> versions;

    for (int i = 0; i < 50; ++i) {
        const std::string version = *a->write(a_member("x"));
        EXPECT_TRUE(versions.insert(version).second) << version;
        ASSERT_TRUE(a->remove("x", version));
    }
}

TEST_P(StoreContract, a_member_is_removed_on_its_version_and_again_without_harm) {
    const auto a = client();
    const std::string version = *a->write(a_member("x"));

    EXPECT_EQ(code(a->remove("x", version + "0")), ErrorCode::conflict);
    EXPECT_EQ(a->members()->size(), 1u);
    EXPECT_TRUE(a->remove("x", version));
    EXPECT_TRUE(a->remove("x", version));
    EXPECT_TRUE(a->remove("nobody", ""));

    EXPECT_TRUE(a->members()->empty());
    EXPECT_EQ(code(a->write(a_member("x", version))), ErrorCode::conflict) << "it is gone";
}

TEST_P(StoreContract, ownerships_are_written_each_for_itself_and_answered_in_order) {
    const auto a = client();
    const std::string version = *a->write(a_claim(3, 1));

    const auto results = a->write({a_claim(2, 1), a_claim(3, 2), a_claim(3, 2, version),
                                   a_claim(1, 1, "0"), a_claim(0, 1), a_claim(0, 1)});

    ASSERT_TRUE(results) << to_string(results.error());
    ASSERT_EQ(results->size(), 6u);
    EXPECT_TRUE(results->at(0).ok());
    EXPECT_EQ(code(results->at(1)), ErrorCode::conflict);
    EXPECT_TRUE(results->at(2).ok());
    EXPECT_EQ(code(results->at(3)), ErrorCode::conflict);
    EXPECT_TRUE(results->at(4).ok());
    EXPECT_EQ(code(results->at(5)), ErrorCode::conflict);
    const auto listed = a->ownerships();
    ASSERT_EQ(listed->size(), 3u);
    EXPECT_EQ(listed->at(2).version, *results->at(2));
    EXPECT_EQ(listed->at(2).epoch, Epoch{2});
    EXPECT_TRUE(a->write(std::vector<Ownership>{})->empty());
}

TEST_P(StoreContract, a_listing_shows_what_others_were_answered_before) {
    const auto a = client(), b = client();
    std::string mine, claim;

    for (int i = 1; i <= 100; ++i) {
        mine = *a->write(a_member("a", mine));
        claim = *a->write(a_claim(7, i, claim));
        ASSERT_TRUE(a->write(at(7, i, i)));

        ASSERT_EQ(b->members()->at(0).version, mine);
        ASSERT_EQ(b->ownerships()->at(0).version, claim);
        ASSERT_EQ(b->checkpoints()->at(0).sequence, SequenceNumber{i});
    }
}

TEST_P(StoreContract, one_of_many_wins_each_first_claim) {
    constexpr std::uint32_t rounds_at_once = 50;
    const std::uint32_t rounds = 1000 * backend_->effort() / 100;
    const auto all = clients(8);
    std::vector<std::atomic<int>> winners(rounds);

    for (std::uint32_t first = 0; first < rounds; first += rounds_at_once) {
        std::vector<std::unique_ptr<io::system::WorkerThread>> threads;
        for (const auto& each : all) {
            threads.push_back(std::make_unique<io::system::WorkerThread>("claims"));
            threads.back()->post([&] {
                std::vector<Ownership> wanted;
                for (std::uint32_t i = 0; i < rounds_at_once; ++i) {
                    wanted.push_back(a_claim(first + i, 1));
                }
                const auto results = each->write(wanted);
                ASSERT_TRUE(results) << to_string(results.error());
                for (std::uint32_t i = 0; i < rounds_at_once; ++i) {
                    winners[first + i] += (*results)[i].ok();
                }
            });
        }
    }

    for (const auto& count : winners) EXPECT_EQ(count, 1);
}

TEST_P(StoreContract, of_writes_that_race_on_one_version_one_succeeds) {
    const auto all = clients(6);
    std::string version = *all[0]->write(a_claim(0, 0));
    std::atomic<int> successes = 0;

    {
        std::vector<std::unique_ptr<io::system::WorkerThread>> threads;
        for (const auto& each : all) {
            threads.push_back(std::make_unique<io::system::WorkerThread>("races"));
            threads.back()->post([&] {
                for (int i = 0; i < 30; ++i) {
                    const Ownership seen = each->ownerships()->at(0);
                    successes += each->write(a_claim(0, seen.epoch.value + 1, seen.version)).ok();
                }
            });
        }
    }

    EXPECT_EQ(all[0]->ownerships()->at(0).epoch, Epoch{successes});
    EXPECT_GE(successes, 30);
}

TEST_P(StoreContract, ages_are_those_of_the_last_write) {
    const auto a = client();
    const SystemClock clock;
    const std::string version = *a->write(a_member("x"));
    const Instant before = clock.now();
    ASSERT_TRUE(a->write(a_member("x", version)));
    ASSERT_TRUE(a->write(a_claim(0, 1)));

    const Duration member_age = a->members()->at(0).age;
    const Duration ownership_age = a->ownerships()->at(0).age;

    const Duration most = clock.now() - before + std::chrono::seconds(1);  // STORE-7: whole seconds
    EXPECT_GE(member_age, Duration(0));
    EXPECT_LE(member_age, most);
    EXPECT_GE(ownership_age, Duration(0));
    EXPECT_LE(ownership_age, most);
}

// --- odd and large

TEST_P(StoreContract, odd_members_and_ownerships_come_back_as_they_were) {
    const auto a = client();
    std::string odd("a'\"\n;:\\\xC3\xA4", 9);
    odd += std::string("\0b", 2);
    Member member{.id = odd,
                  .incarnation = std::string(10'000, 'i'),
                  .state = MemberState::leaving,
                  .since_ms = std::numeric_limits<std::int64_t>::min(),
                  .note = odd + odd,
                  .restarts = std::numeric_limits<std::uint32_t>::max(),
                  .generation = std::numeric_limits<std::uint64_t>::max(),
                  .expecting = true,
                  .offers = {{{0}, ""}, {{1}, "12:34;"}, {{4'294'967'295}, odd}}};
    Ownership ownership{.partition = {4'294'967'295},
                        .owner = odd,
                        .epoch = {std::numeric_limits<std::int64_t>::max()},
                        .since_ms = -1,
                        .load = 0.1};

    ASSERT_TRUE(a->write(member));
    ASSERT_TRUE(a->write(ownership));
    ASSERT_TRUE(a->write(Ownership{.partition = {0}, .load = std::nan("")}));

    const Member stored = a->members()->at(0);
    EXPECT_EQ(stored.id, member.id);
    EXPECT_EQ(stored.incarnation, member.incarnation);
    EXPECT_EQ(stored.state, member.state);
    EXPECT_EQ(stored.since_ms, member.since_ms);
    EXPECT_EQ(stored.note, member.note);
    EXPECT_EQ(stored.restarts, member.restarts);
    EXPECT_EQ(stored.generation, member.generation);
    EXPECT_EQ(stored.expecting, member.expecting);
    EXPECT_EQ(stored.offers, member.offers);
    member.state = MemberState::unable;
    member.version = stored.version;
    ASSERT_TRUE(a->write(member));
    EXPECT_EQ(a->members()->at(0).state, MemberState::unable);
    const Ownership claimed = a->ownerships()->at(1);
    EXPECT_EQ(claimed.partition, ownership.partition);
    EXPECT_EQ(claimed.owner, ownership.owner);
    EXPECT_EQ(claimed.epoch, ownership.epoch);
    EXPECT_EQ(claimed.since_ms, ownership.since_ms);
    EXPECT_EQ(claimed.load, ownership.load);
    EXPECT_EQ(a->ownerships()->at(0).owner, "") << "nobody's";
}

// STORE-9
TEST_P(StoreContract, an_unknown_state_of_a_member_reads_as_leaving) {
    const auto a = client();
    ASSERT_TRUE(a->write(a_member("m")));
    ASSERT_EQ(a->members()->at(0).state, MemberState::active);

    if (!backend_->store_unknown_state(a->members()->at(0))) {
        GTEST_SKIP() << "this store holds no state that could be unknown";
    }

    ASSERT_EQ(a->members()->size(), 1u);
    EXPECT_EQ(a->members()->at(0).state, MemberState::leaving);
}

TEST_P(StoreContract, names_of_groups_differ_by_more_than_case) {
    const auto a = client({"Localhost", "HOMES", "$default"});
    const auto same = client({"localhost", "homes", "$Default"});
    const auto other_group = client({"localhost", "homes", "other"});
    const auto other_hub = client({"localhost", "homes2", "$Default"});
    const auto shifted = client({"localhosthomes", "", "$Default"});

    ASSERT_TRUE(a->write(a_member("x")));
    ASSERT_TRUE(a->write(at(0, 1, 1)));
    ASSERT_TRUE(a->write(a_claim(0, 1)));

    EXPECT_EQ(same->members()->size(), 1u);
    EXPECT_EQ(same->checkpoints()->size(), 1u);
    EXPECT_EQ(code(same->write(a_claim(0, 1))), ErrorCode::conflict);
    for (const auto* other : {&other_group, &other_hub, &shifted}) {
        EXPECT_TRUE((*other)->members()->empty());
        EXPECT_TRUE((*other)->ownerships()->empty());
        EXPECT_TRUE((*other)->checkpoints()->empty());
    }
}

TEST_P(StoreContract, a_thousand_partitions_are_listed_in_full_and_in_order) {
    const std::uint32_t partitions = 1024 * backend_->effort() / 100;
    const auto a = client();
    std::vector<Ownership> wanted;
    for (std::uint32_t p = partitions; p-- > 0;) wanted.push_back(a_claim(p, 1));
    const auto results = a->write(wanted);
    ASSERT_TRUE(results) << to_string(results.error());
    for (std::uint32_t p = 0; p < partitions; ++p) {
        a->loop().post([&, p] { a->store().write_checkpoint(at(p, p, 1), [](auto) {}); });
    }
    for (std::uint32_t p = 0; p < 70; ++p) ASSERT_TRUE(a->write(a_member(std::to_string(p))));
    ASSERT_TRUE(a->write(at(0, 0, 1)));

    const auto owned = a->ownerships();
    const auto checkpoints = a->checkpoints();

    ASSERT_EQ(owned->size(), partitions);
    ASSERT_EQ(checkpoints->size(), partitions);
    EXPECT_EQ(a->members()->size(), 70u);
    for (std::uint32_t p = 0; p < partitions; ++p) {
        EXPECT_EQ(owned->at(p).partition, PartitionId{p});
        EXPECT_EQ(owned->at(p).version, *results->at(partitions - 1 - p));
        EXPECT_EQ(checkpoints->at(p).sequence, SequenceNumber{p});
    }
}

TEST_P(StoreContract, a_dead_letter_is_kept_once) {
    const auto a = client(), b = client();
    DeadLetter letter{.partition = {2},
                      .sequence = {7},
                      .offset = "700",
                      .enqueued_ms = 5,
                      .partition_key = "key",
                      .cause = "no such house",
                      .attempts = 5,
                      .at_ms = 9,
                      .sections = {std::byte{0}, std::byte{0x53}, std::byte{0xff}}};
    ASSERT_TRUE(a->add(letter));
    DeadLetter again = letter;
    again.cause = "another";

    ASSERT_TRUE(b->add(again));
    ASSERT_TRUE(b->add({.partition = {2}, .sequence = {3}}));
    ASSERT_TRUE(b->add({.partition = {1}, .sequence = {9}}));

    const auto listed = a->dead_letters(100);
    ASSERT_EQ(listed->size(), 3u);
    EXPECT_EQ(listed->at(0).partition, PartitionId{1});
    EXPECT_EQ(listed->at(1).sequence, SequenceNumber{3});
    EXPECT_TRUE(listed->at(1).sections.empty());
    EXPECT_EQ(listed->at(2).cause, "no such house");
    EXPECT_EQ(listed->at(2).offset, "700");
    EXPECT_EQ(listed->at(2).enqueued_ms, 5);
    EXPECT_EQ(listed->at(2).partition_key, "key");
    EXPECT_EQ(listed->at(2).attempts, 5u);
    EXPECT_EQ(listed->at(2).at_ms, 9);
    EXPECT_EQ(listed->at(2).sections, letter.sections);
    EXPECT_EQ(a->dead_letters(2)->size(), 2u);
    EXPECT_TRUE(a->dead_letters(0)->empty());
}

TEST_P(StoreContract, dead_letters_come_in_pages_in_order) {
    const auto a = client();
    const std::vector<DeadLetterId> ids = {
        {{0}, {9}}, {{0}, {10}}, {{2}, {3}}, {{2}, {100}}, {{10}, {1'000'000'000'000}},
        {{11}, {0}}};
    for (const DeadLetterId& id : ids) {
        ASSERT_TRUE(a->add({.partition = id.partition, .sequence = id.sequence}));
    }

    std::vector<DeadLetterId> seen;
    std::optional<DeadLetterId> after;
    for (std::size_t pages = 0; pages <= ids.size(); ++pages) {
        const auto page = a->dead_letters(2, after);
        ASSERT_TRUE(page) << to_string(page.error());
        ASSERT_LE(page->size(), 2u);
        for (const DeadLetter& each : *page) seen.push_back({each.partition, each.sequence});
        if (page->empty()) break;
        after = seen.back();
    }

    EXPECT_EQ(seen, ids);
    const auto from_two = a->dead_letters(10, DeadLetterId{{1}, {5}});
    ASSERT_TRUE(from_two);
    EXPECT_EQ(from_two->size(), 4u) << "after need not be there";
}

TEST_P(StoreContract, a_dead_letter_is_removed_once_and_counted) {
    const auto a = client(), b = client();
    EXPECT_TRUE(a->dead_letter_counts()->empty());
    for (const std::int64_t sequence : {1, 2, 3}) {
        ASSERT_TRUE(a->add({.partition = {4}, .sequence = {sequence}}));
    }
    ASSERT_TRUE(a->add({.partition = {10}, .sequence = {1}}));
    const std::map<PartitionId, std::uint64_t> all = {{{4}, 3}, {{10}, 1}};
    EXPECT_EQ(*b->dead_letter_counts(), all);

    EXPECT_TRUE(b->remove(DeadLetterId{{4}, {2}}));
    EXPECT_TRUE(b->remove(DeadLetterId{{4}, {2}})) << "success also if it is not there";
    EXPECT_TRUE(b->remove(DeadLetterId{{5}, {2}}));

    const std::map<PartitionId, std::uint64_t> left = {{{4}, 2}, {{10}, 1}};
    EXPECT_EQ(*a->dead_letter_counts(), left);
    EXPECT_EQ(a->dead_letters(10)->at(1).sequence, SequenceNumber{3});
    EXPECT_TRUE(a->add({.partition = {4}, .sequence = {2}})) << "it may come again";
    EXPECT_EQ(a->dead_letters(10)->size(), 4u);
}

// --- STORE-5, threads, watch

TEST_P(StoreContract, a_durable_store_has_everything_when_it_is_opened_again) {
    if (!backend_->is_durable()) GTEST_SKIP() << "this store is not durable";
    std::string version;
    {
        const auto a = client();
        version = *a->write(a_member("x"));
        ASSERT_TRUE(a->write(a_claim(5, 3)));
        ASSERT_TRUE(a->write(at(5, 42, 3)));
        ASSERT_TRUE(a->add({.partition = {5}, .sequence = {41}}));
        ASSERT_TRUE(a->write(Record{"request/pause", "all"}));
    }

    const auto a = client();

    ASSERT_EQ(a->members()->size(), 1u);
    EXPECT_EQ(a->members()->at(0).version, version);
    EXPECT_EQ(a->ownerships()->at(0).epoch, Epoch{3});
    EXPECT_EQ(a->checkpoints()->at(0).sequence, SequenceNumber{42});
    EXPECT_EQ(a->dead_letters(10)->size(), 1u);
    EXPECT_EQ(a->records()->size(), 1u);
    EXPECT_TRUE(a->write(a_member("x", version)));
}

TEST_P(StoreContract, answers_come_on_the_loop_and_never_within_the_call) {
    const auto a = client();
    Promise<bool> on_loop;
    bool within = false, calling = false;

    a->loop().post([&] {
        calling = true;
        a->store().list_members([&](auto) { within = within || calling; });
        a->store().seal(PartitionId{0}, Epoch{1}, [&](auto) { on_loop.set(a->loop().is_here()); });
        calling = false;
    });

    EXPECT_TRUE(on_loop.wait());
    EXPECT_FALSE(within);
}

TEST_P(StoreContract, a_store_that_is_gone_answers_no_more) {
    for (int i = 0; i < 20; ++i) {
        const auto a = client();
        std::atomic<bool> is_gone = false, answered_late = false;
        a->loop().post([&] {
            for (std::uint32_t p = 0; p < 20; ++p) {
                a->store().write_checkpoint(
                    at(p, 1, 1), [&](auto) { answered_late = answered_late || is_gone; });
            }
        });
        a->close();
        is_gone = true;
        io::system::run_and_wait(a->loop(), [] {});
        EXPECT_FALSE(answered_late);
    }
}

TEST_P(StoreContract, a_store_may_be_destroyed_by_its_answer) {
    io::system::LoopThread loop("client");
    auto store = *backend_->open({"localhost", "homes", "$Default"}, loop);
    loop.start();
    Promise<bool> gone;

    loop.post([&] {
        for (std::uint32_t p = 0; p < 5; ++p) {
            store->seal(PartitionId{p}, Epoch{1}, [&](auto) {
                store.reset();
                gone.set(true);
            });
        }
    });

    EXPECT_TRUE(gone.wait());
    loop.stop();
}

TEST_P(StoreContract, a_watch_tells_of_the_changes_of_others) {
    const auto a = client(), b = client();
    std::string version;
    Promise<bool> after_member, after_claim, after_removal;
    const auto watch = [&](Promise<bool>& heard) {
        Promise<bool> can;
        b->loop().post([&] { can.set(b->store().watch([&heard] { heard.set(true); })); });
        return can.wait();
    };
    if (!watch(after_member)) GTEST_SKIP() << "this store cannot tell";

    version = *a->write(a_member("a"));
    EXPECT_TRUE(after_member.wait());
    watch(after_claim);
    ASSERT_TRUE(a->write(a_claim(0, 1)));
    EXPECT_TRUE(after_claim.wait());
    watch(after_removal);
    ASSERT_TRUE(a->remove("a", version));
    EXPECT_TRUE(after_removal.wait());
    b->close();  // before what its watch refers to
}

}  // namespace evenkeel::checkpoint
