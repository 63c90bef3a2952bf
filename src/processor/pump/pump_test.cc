#include "processor/pump/pump.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/pump/pump_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sequences = std::vector<std::int64_t>;

TEST(Pump, hands_every_event_to_the_handler_once_and_in_order) {
    PumpRig rig;
    rig.workers.set_latency(milliseconds(1), milliseconds(9));
    rig.append(1000);
    rig.open();

    ASSERT_TRUE(rig.run_until_handled(999));
    rig.append(500);
    ASSERT_TRUE(rig.run_until_handled(1499));

    EXPECT_EQ(rig.sequences(), up_to(1499));
    EXPECT_TRUE(rig.failures.empty());
}

TEST(Pump, gathers_a_bounded_batch_while_the_handler_is_busy) {
    PumpRig rig;
    rig.options.batch_events_max = 10;
    rig.workers.set_latency(milliseconds(50), milliseconds(50));
    rig.open();

    for (int i = 0; i < 40; ++i) {
        rig.append(1);
        rig.run_for(milliseconds(3));
    }
    ASSERT_TRUE(rig.run_until_handled(39));

    EXPECT_LE(rig.calls.size(), 8u) << "events that wait together are handled together";
    for (const Call& call : rig.calls) EXPECT_LE(call.sequences.size(), 10u);
}

TEST(Pump, resumes_behind_the_checkpoint_of_the_owner_before) {
    PumpRig rig;
    rig.append(20);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(19));
    ASSERT_TRUE(rig.close(CloseReason::hand_over));

    rig.append(5);
    rig.open(0, 2);
    ASSERT_TRUE(rig.run_until_handled(24));

    EXPECT_EQ(rig.sequences(), up_to(24)) << "a hand-over repeats nothing";
    EXPECT_EQ(rig.closed, std::vector{Closed::handed_over});
    EXPECT_EQ(rig.stored().sequence.value, 19);
}

TEST(Pump, stores_progress_after_so_many_events_and_after_some_time) {
    PumpRig rig;
    rig.options.checkpoints = {.every_events = 100, .every = seconds(5)};
    rig.append(100);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(99));
    rig.run_for(seconds(1));
    EXPECT_EQ(rig.stored().sequence.value, 99);

    rig.append(7);
    ASSERT_TRUE(rig.run_until_handled(106));
    rig.run_for(seconds(2));
    EXPECT_EQ(rig.stored().sequence.value, 99);
    rig.run_for(seconds(4));

    EXPECT_EQ(rig.stored().sequence.value, 106);
    EXPECT_EQ(rig.stored().hub_created_ms, 77);
    EXPECT_GT(rig.stored().enqueued_ms, 0);
}

TEST(Pump, a_crash_repeats_only_events_after_the_last_checkpoint) {
    PumpRig rig;
    rig.options.checkpoints = {.every_events = 100, .every = milliseconds(0)};
    rig.append(100);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(99));
    rig.run_for(seconds(1));
    rig.append(5);
    ASSERT_TRUE(rig.run_until_handled(104));

    rig.crash();
    rig.open(0, 2);
    rig.run_for(seconds(1));

    Sequences expected = up_to(104);
    for (const auto repeated : up_to(104, 100)) expected.push_back(repeated);
    EXPECT_EQ(rig.sequences(), expected);
}

TEST(Pump, manual_checkpoints_never_pass_an_unfinished_event) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    rig.options.batch_events_max = 10;
    rig.behaviour = [](Partition& partition, Events events) -> Result<> {
        // The last event is asked for at once, while its handler still runs.
        partition.checkpoint(events.back());
        if (events.back().sequence_number >= 19) {
            return Error{ErrorCode::handler_failed, "this one fails after it was asked for"};
        }
        return {};
    };
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.run_for(seconds(1));
    EXPECT_EQ(rig.stored().sequence.value, 9);

    rig.behaviour = nullptr;
    rig.append(10);
    ASSERT_TRUE(rig.run_until_handled(19));
    rig.run_for(seconds(10));

    EXPECT_EQ(rig.stored().sequence.value, 9) << "nobody asked for more";
}

TEST(Pump, takes_a_checkpoint_that_is_asked_for_later_from_elsewhere) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    Partition* partition = nullptr;
    Event last;
    rig.behaviour = [&](Partition& given, Events events) -> Result<> {
        partition = &given;
        last = events.back();
        return {};
    };
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.run_for(seconds(1));

    partition->checkpoint(last);
    rig.run_for(seconds(1));

    EXPECT_EQ(rig.stored().sequence.value, 9);
}

TEST(Pump, does_not_let_a_slow_handler_hold_up_other_partitions) {
    PumpRig rig(3);
    rig.append(1, 0);
    rig.append(300, 1);
    rig.append(300, 2);
    rig.workers.set_latency(std::chrono::hours(1), std::chrono::hours(1));
    rig.open(0);
    // Only partition 0's handler has been given to a worker by now.
    rig.run_for(milliseconds(1));
    rig.workers.set_latency(milliseconds(1), milliseconds(1));

    rig.open(1);
    rig.open(2);

    EXPECT_TRUE(rig.run_until_handled(299, 1));
    EXPECT_TRUE(rig.run_until_handled(299, 2));
    EXPECT_EQ(rig.last_of(0), -1);
}

TEST(Pump, ticks_when_nothing_comes) {
    PumpRig rig;
    rig.options.max_wait = seconds(10);
    rig.open();

    rig.run_for(seconds(35));

    ASSERT_EQ(rig.calls.size(), 3u);
    EXPECT_TRUE(rig.calls[0].sequences.empty());
}

TEST(Pump, waits_for_the_smallest_batch_but_not_for_ever) {
    PumpRig rig;
    rig.options.max_wait = seconds(10);
    rig.options.batch_events_min = 5;
    rig.open();
    rig.run_for(seconds(1));

    rig.append(3);
    rig.run_for(seconds(2));
    EXPECT_EQ(rig.last_of(0), -1);
    rig.append(2);
    rig.run_for(seconds(1));
    EXPECT_EQ(rig.last_of(0), 4) << "the fifth event is enough";
    rig.append(1);
    rig.run_for(seconds(9));
    EXPECT_EQ(rig.last_of(0), 4);
    rig.run_for(seconds(2));

    EXPECT_EQ(rig.last_of(0), 5) << "after ten seconds it is given what there is";
}

TEST(Pump, begins_nothing_without_the_permit) {
    PumpRig rig;
    rig.permit.is_there = false;
    rig.append(10);
    rig.open();

    rig.run_for(seconds(10));
    EXPECT_TRUE(rig.calls.empty());
    rig.permit.is_there = true;

    EXPECT_TRUE(rig.run_until_handled(9));
}

TEST(Pump, writes_no_checkpoint_without_the_permit) {
    PumpRig rig;
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));

    rig.permit.is_there = false;
    rig.run_for(seconds(10));
    EXPECT_EQ(rig.stored().sequence.value, -1);
    rig.permit.is_there = true;
    rig.run_for(seconds(1));

    EXPECT_EQ(rig.stored().sequence.value, 9);
}

TEST(Pump, hand_over_waits_for_the_handler_and_stores_its_progress) {
    PumpRig rig;
    rig.workers.set_latency(seconds(5), seconds(5));
    rig.options.batch_events_max = 10;
    rig.append(30);
    rig.open();
    rig.run_for(seconds(8));  // the handler has been opened and has got its first batch

    ASSERT_TRUE(rig.close(CloseReason::hand_over));

    EXPECT_EQ(rig.sequences(), up_to(9)) << "nothing begins after the close";
    EXPECT_EQ(rig.stored().sequence.value, 9);
}

TEST(Pump, discards_everything_once_the_partition_is_lost) {
    PumpRig rig;
    rig.workers.set_latency(seconds(5), seconds(5));
    rig.options.batch_events_max = 10;
    rig.append(30);
    rig.open();
    rig.run_for(seconds(8));

    ASSERT_TRUE(rig.close(CloseReason::lost));

    EXPECT_EQ(rig.sequences(), up_to(9));
    EXPECT_EQ(rig.stored().sequence.value, -1) << "the result of a lost partition does not count";
    EXPECT_EQ(rig.closed, std::vector{Closed::lost});
}

TEST(Pump, a_loss_during_a_hand_over_ends_it_immediately) {
    PumpRig rig;
    rig.append(5);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(4));
    rig.faults.outage = true;
    int answers = 0;
    rig.pumps[0]->close(CloseReason::hand_over, [&] { ++answers; });
    rig.run_for(seconds(3));
    ASSERT_EQ(answers, 0) << "the store does not take the last checkpoint";

    rig.pumps[0]->close(CloseReason::lost, [&] { ++answers; });
    rig.run_for(milliseconds(1));

    EXPECT_EQ(answers, 2);
}

TEST(Pump, gives_up_a_handler_that_does_not_end_and_says_so) {
    PumpRig rig;
    rig.options.drain_max = seconds(10);
    rig.append(5);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(4));
    rig.workers.set_latency(seconds(50), seconds(50));
    rig.append(5);
    rig.run_for(seconds(1));

    EXPECT_TRUE(rig.close(CloseReason::shutdown));

    EXPECT_EQ(rig.undrained, std::set<std::uint32_t>{0});
    EXPECT_EQ(rig.count_failures("close"), 1u);
    EXPECT_EQ(rig.stored().sequence.value, 4);
    rig.run_for(std::chrono::minutes(5));
    EXPECT_TRUE(rig.undrained.empty());
    EXPECT_EQ(rig.closed, std::vector{Closed::shutdown});
    EXPECT_EQ(rig.stored().sequence.value, 4) << "its result came too late";
}

TEST(Pump, takes_a_last_checkpoint_that_is_asked_for_while_it_closes) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    Event last;
    rig.behaviour = [&](Partition&, Events events) -> Result<> {
        last = events.back();
        return {};
    };
    rig.on_closed = [&](Partition& partition) { partition.checkpoint(last); };
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));

    ASSERT_TRUE(rig.close(CloseReason::shutdown));

    EXPECT_EQ(rig.stored().sequence.value, 9);
}

TEST(Pump, stands_still_while_it_is_paused) {
    PumpRig rig;
    Partition* partition = nullptr;
    rig.behaviour = [&](Partition& given, Events) -> Result<> {
        partition = &given;
        given.pause();
        return {};
    };
    rig.append(1);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(0));
    rig.append(10);
    rig.run_for(seconds(10));
    EXPECT_EQ(rig.last_of(0), 0);
    EXPECT_EQ(rig.pumps[0]->status().state, "paused");

    rig.behaviour = nullptr;
    partition->resume();

    EXPECT_TRUE(rig.run_until_handled(10));
}

TEST(Pump, seek_moves_the_reader_but_never_lowers_the_checkpoint) {
    PumpRig rig;
    bool is_first = true;
    rig.behaviour = [&](Partition& partition, Events events) -> Result<> {
        if (events.back().sequence_number == 9 && std::exchange(is_first, false)) {
            partition.seek(Position::at_sequence(7));
        }
        return {};
    };
    rig.append(10);
    rig.open();

    EXPECT_TRUE(rig.run_until([&] { return rig.sequences().size() == 13; }));
    rig.run_for(seconds(5));

    Sequences expected = up_to(9);
    for (const auto again : up_to(9, 7)) expected.push_back(again);
    EXPECT_EQ(rig.sequences(), expected);
    EXPECT_EQ(rig.stored().sequence.value, 9);
    EXPECT_EQ(rig.count_failures("checkpoint"), 0u);
}

TEST(Pump, lets_the_handler_choose_where_to_begin) {
    PumpRig rig;
    rig.on_opened = [](Partition& partition) -> Result<> {
        partition.seek(Position::at_sequence(7));
        return {};
    };
    rig.append(10);
    rig.open();

    ASSERT_TRUE(rig.run_until_handled(9));

    EXPECT_EQ(rig.sequences(), up_to(9, 7));
}

TEST(Pump, stores_first_and_handles_then_if_at_most_once_is_asked_for) {
    PumpRig rig;
    rig.options.delivery = Delivery::at_most_once;
    rig.options.batch_events_max = 10;
    rig.workers.set_latency(seconds(1), seconds(1));
    rig.append(10);
    rig.open();
    rig.run_for(milliseconds(1500));  // opened, and the batch is with the handler
    EXPECT_EQ(rig.stored().sequence.value, 9);
    EXPECT_TRUE(rig.calls.empty());

    rig.crash();
    rig.workers.set_latency(milliseconds(0), milliseconds(0));
    rig.run_for(seconds(10));
    rig.calls.clear();
    rig.append(5);
    rig.open(0, 2);
    ASSERT_TRUE(rig.run_until_handled(14));

    EXPECT_EQ(rig.sequences(), up_to(14, 10)) << "what a crash cut off is not repeated";
}

TEST(Pump, at_most_once_repeats_nothing_after_a_handler_failure) {
    PumpRig rig;
    rig.options.delivery = Delivery::at_most_once;
    rig.options.batch_events_max = 10;
    rig.behaviour = [](Partition&, Events) -> Result<> {
        return Error{ErrorCode::handler_failed, "always"};
    };
    rig.append(30);
    rig.open();

    ASSERT_TRUE(rig.run_until_handled(29));
    rig.run_for(seconds(1));

    EXPECT_EQ(rig.sequences(), up_to(29));
    EXPECT_GE(rig.count_failures("handle"), 3u);
}

TEST(Pump, handles_what_it_has_stored_before_it_hands_over_at_most_once) {
    PumpRig rig;
    rig.options.delivery = Delivery::at_most_once;
    rig.options.batch_events_max = 10;
    rig.faults.write_half = seconds(1);
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until([&] { return rig.pumps[0]->status().state == "handling"; }));
    ASSERT_TRUE(rig.calls.empty());

    ASSERT_TRUE(rig.close(CloseReason::hand_over));

    EXPECT_EQ(rig.sequences(), up_to(9)) << "graceful moves lose nothing";
}

TEST(Pump, pins_the_end_so_that_the_next_owner_begins_there_too) {
    PumpRig rig;
    rig.options.start = Position::latest();
    rig.append(10);
    rig.open();
    rig.run_for(seconds(1));
    rig.crash();
    rig.append(5);  // nobody is there

    rig.open(0, 2);
    ASSERT_TRUE(rig.run_until_handled(14));

    EXPECT_EQ(rig.sequences(), up_to(14, 10));
}

TEST(Pump, pins_the_end_of_a_partition_without_events) {
    PumpRig rig;
    rig.options.start = Position::latest();
    rig.open();
    rig.run_for(seconds(1));
    rig.crash();
    rig.append(5);

    rig.open(0, 2);
    ASSERT_TRUE(rig.run_until_handled(4));

    EXPECT_EQ(rig.sequences(), up_to(4));
}

TEST(Pump, knows_how_far_it_is_behind) {
    PumpRig rig;
    rig.append(100);
    rig.permit.is_there = false;
    Pump& pump = rig.open();
    rig.run_for(seconds(1));

    EXPECT_EQ(pump.status().handled_sequence, -1);
    EXPECT_EQ(pump.status().last_enqueued_sequence, 99);
}

}  // namespace
}  // namespace evenkeel::processor
