#include "processor/ownership/journal.h"

#include <chrono>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/golden.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;

OwnerMove a_move(std::int64_t epoch, std::string to = "b", std::uint32_t partition = 3) {
    return {.partition = {partition},
            .epoch = {epoch},
            .at_ms = 1000 + epoch,
            .from = "a",
            .to = std::move(to),
            .reason = "because"};
}

TEST(OwnerMoves, survive_what_they_are_written_as) {
    const std::vector<OwnerMove> moves = {a_move(1), a_move(2, "")};

    EXPECT_EQ(decode_moves({3}, encode_moves(moves)), moves);
}

TEST(OwnerMoves, have_a_gap_and_repeats_once_they_are_known) {
    OwnerMove known = a_move(1);
    known.gap_ms = 38;
    known.repeated = 0;
    OwnerMove half = a_move(2);
    half.gap_ms = 6800;
    const std::vector<OwnerMove> moves = {known, half, a_move(3)};

    EXPECT_EQ(decode_moves({3}, encode_moves(moves)), moves);
    EXPECT_EQ(decode_moves({3}, "5\t7\ta\tb\tc\n").front().gap_ms, std::nullopt)
        << "as earlier versions wrote it";
}

TEST(OwnerMoves, are_the_golden_text) {
    auto golden = test::golden_texts("records_v1");
    const std::vector<OwnerMove> moves = {{.partition = {3},
                                           .epoch = {7},
                                           .at_ms = 1'767'225'600'123,
                                           .from = "alice",
                                           .to = "bob",
                                           .reason = "balance: bob joined"},
                                          {.partition = {3},
                                           .epoch = {8},
                                           .at_ms = 1'767'225'600'456,
                                           .from = "bob",
                                           .to = "carol",
                                           .reason = "bob is gone",
                                           .gap_ms = 6800},
                                          {.partition = {3},
                                           .epoch = {9},
                                           .at_ms = 1'767'225'600'789,
                                           .from = "carol",
                                           .to = "alice",
                                           .reason = "handed over",
                                           .gap_ms = 38,
                                           .repeated = 0}};

    EXPECT_EQ(encode_moves(moves), golden["moves"]);
    EXPECT_EQ(decode_moves({3}, golden["moves"]), moves);
    EXPECT_EQ(decode_moves({3}, golden["moves without gaps"]), std::vector(1, moves.front()));
}

TEST(OwnerMoves, keep_the_last_ones_and_stay_within_a_record) {
    std::vector<OwnerMove> moves;
    for (int i = 0; i < 100; ++i) moves.push_back(a_move(i, std::string(5000, '\n')));

    const std::string text = encode_moves(moves);

    EXPECT_LE(text.size(), checkpoint::record_value_bytes_max);
    const auto kept = decode_moves({3}, text);
    ASSERT_EQ(kept.size(), moves_max);
    EXPECT_EQ(kept.back().epoch, Epoch{99});
}

TEST(OwnerMoves, that_cannot_be_read_are_left_out) {
    EXPECT_TRUE(decode_moves({3}, "nonsense\n\n1\tx\ta\n").empty());
    EXPECT_EQ(decode_moves({3}, "x\n5\t7\ta\tb\tc").size(), 1u);
}

TEST(OwnerMoves, are_in_the_order_of_their_epochs_and_none_twice) {
    const auto merged = merge_moves({a_move(1), a_move(4)}, {a_move(4), a_move(2)});

    ASSERT_EQ(merged.size(), 3u);
    EXPECT_EQ(merged[1].epoch, Epoch{2});
}

struct JournalWorld : testing::Test {
    std::vector<OwnerMove> stored(std::uint32_t partition = 3) {
        const auto records = server.snapshot(group).records(moves_key({partition}));
        return records.empty() ? std::vector<OwnerMove>()
                               : decode_moves({partition}, records[0].value);
    }

    const checkpoint::GroupName group{"a", "b", "c"};
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"}, server_loop{scheduler, "store"};
    checkpoint::Faults faults;
    checkpoint::FaultyStore store{
        loop, server_loop, std::make_shared<checkpoint::MemoryStore>(server_loop, server, group),
        faults, scheduler.fork_random()};
    checkpoint::FaultyStore other_store{
        loop, server_loop, std::make_shared<checkpoint::MemoryStore>(server_loop, server, group),
        faults, scheduler.fork_random()};
    Journal journal{loop, store}, other{loop, other_store};
};

TEST_F(JournalWorld, the_new_owner_adds_the_gap_to_the_line_of_the_one_before) {
    OwnerMove given = a_move(7);
    given.at_ms = loop.clock().wall().milliseconds;
    other.note_read({3}, {7});  // before the line is there
    scheduler.run_for(300ms);
    EXPECT_TRUE(stored().empty());
    journal.add(given);
    scheduler.run_for(10s);

    ASSERT_EQ(stored().size(), 1u);
    EXPECT_EQ(stored()[0].gap_ms, 0) << "it was read when it was given, by the clocks of both";
    EXPECT_EQ(stored()[0].reason, "because");
}

TEST_F(JournalWorld, a_gap_begins_when_the_one_before_fell_silent) {
    OwnerMove taken = a_move(7);
    taken.at_ms = loop.clock().wall().milliseconds;
    taken.gap_ms = 6000;
    journal.add(taken);
    scheduler.run_for(500ms);
    journal.note_read({3}, {7});
    scheduler.run_for(10s);

    ASSERT_EQ(stored().size(), 1u);
    EXPECT_GE(*stored()[0].gap_ms, 6500);
    EXPECT_LT(*stored()[0].gap_ms, 6600);
}

TEST_F(JournalWorld, a_first_start_has_no_gap_and_an_unknown_move_gets_no_line) {
    OwnerMove first = a_move(1);
    first.from = "";
    journal.add(first);
    journal.note_read({3}, {1});
    journal.note_read({9}, {4});
    bool is_flushed = false;
    scheduler.run_for(10s);
    journal.flush(1s, [&] { is_flushed = true; });
    scheduler.run_for(10ms);

    EXPECT_TRUE(is_flushed);
    ASSERT_EQ(stored().size(), 1u);
    EXPECT_FALSE(stored()[0].gap_ms);
    EXPECT_TRUE(stored(9).empty());
}

TEST_F(JournalWorld, two_who_write_at_once_lose_nothing) {
    for (int i = 0; i < 4; ++i) (i % 2 == 0 ? journal : other).add(a_move(i));
    journal.add(a_move(0, "c", 9));
    scheduler.run_for(10s);

    ASSERT_EQ(stored().size(), 4u);
    EXPECT_EQ(stored()[3], a_move(3));
    EXPECT_EQ(stored(9).size(), 1u);
}

TEST_F(JournalWorld, an_answer_that_was_lost_makes_no_second_line) {
    faults.lost_per_thousand = 400;
    for (int i = 0; i < 10; ++i) {
        journal.add(a_move(i));
        scheduler.run_for(5s);
    }

    const auto moves = stored();
    for (std::size_t i = 1; i < moves.size(); ++i) EXPECT_LT(moves[i - 1].epoch, moves[i].epoch);
    EXPECT_GE(moves.size(), 5u);
}

TEST_F(JournalWorld, waits_for_what_is_under_way_but_not_for_ever) {
    bool is_flushed = false;
    journal.add(a_move(1));
    journal.flush(2s, [&] { is_flushed = true; });
    scheduler.run_for(1s);
    EXPECT_TRUE(is_flushed);
    EXPECT_EQ(stored().size(), 1u);

    faults.outage = true;
    is_flushed = false;
    other.add(a_move(2));
    other.flush(500ms, [&] { is_flushed = true; });
    scheduler.run_for(600ms);
    EXPECT_TRUE(is_flushed);
}

}  // namespace
}  // namespace evenkeel::processor
