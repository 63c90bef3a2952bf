// How pumps live with failures of the handler, the source and the store.
#include <chrono>

#include <gtest/gtest.h>

#include "processor/pump/pump_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sequences = std::vector<std::int64_t>;

PumpRig::Behaviour fails_at(std::int64_t poison) {
    return [poison](Partition&, Events events) -> Result<> {
        for (const auto& event : events) {
            if (event.sequence_number == poison) return Error{ErrorCode::handler_failed, "poison"};
        }
        return {};
    };
}

TEST(PumpRetry, tries_a_failed_batch_again_event_by_event) {
    PumpRig rig;
    rig.options.batch_events_max = 4;
    int failures = 1;
    rig.behaviour = [&](Partition&, Events) -> Result<> {
        if (failures-- > 0) return Error{ErrorCode::handler_failed, "once"};
        return {};
    };
    rig.append(4);
    rig.open();

    ASSERT_TRUE(rig.run_until([&] { return rig.calls.size() == 5; }));

    EXPECT_EQ(rig.sequences(), (Sequences{0, 1, 2, 3, 0, 1, 2, 3}));
    EXPECT_EQ(rig.calls[1].attempt, 1u);
    EXPECT_GE(rig.calls[1].at - rig.calls[0].at, milliseconds(80));
}

TEST(PumpRetry, puts_a_poisonous_event_aside_once_and_goes_on_behind_it) {
    PumpRig rig;
    rig.options.retry.attempts_max = 3;
    rig.behaviour = fails_at(5);
    rig.append(20);
    rig.open();

    ASSERT_TRUE(rig.run_until_handled(19));
    rig.run_for(seconds(5));

    const auto letters = rig.dead_letters();
    ASSERT_EQ(letters.size(), 1u);
    EXPECT_EQ(letters[0].sequence.value, 5);
    EXPECT_EQ(letters[0].attempts, 3u);
    EXPECT_EQ(letters[0].cause, "handler_failed: poison");
    EXPECT_FALSE(letters[0].sections.empty());
    EXPECT_EQ(rig.stored().sequence.value, 19);
    for (const auto sequence : up_to(19)) {
        const auto all = rig.sequences();
        EXPECT_GT(std::count(all.begin(), all.end(), sequence), 0) << "no event is skipped";
    }
}

TEST(PumpRetry, takes_an_exception_for_a_failure) {
    PumpRig rig;
    rig.options.retry.attempts_max = 1;
    rig.behaviour = [](Partition&, Events events) -> Result<> {
        if (events.back().sequence_number == 0) throw std::runtime_error("broken");
        return {};
    };
    rig.append(1);
    rig.open();

    ASSERT_TRUE(rig.run_until([&] { return rig.count_failures("dead letter") == 1; }));

    EXPECT_NE(rig.dead_letters()[0].cause.find("broken"), std::string::npos);
    EXPECT_EQ(rig.pumps[0]->status().dead_letters, 1u);
}

TEST(PumpRetry, continues_behind_what_the_handler_checkpointed) {
    PumpRig rig;
    rig.options.batch_events_max = 4;
    bool is_first = true;
    rig.behaviour = [&](Partition& partition, Events events) -> Result<> {
        if (!std::exchange(is_first, false)) return {};
        partition.done(events[1]);
        return Error{ErrorCode::handler_failed, "at the third"};
    };
    rig.append(4);
    rig.open();

    ASSERT_TRUE(rig.run_until([&] { return rig.calls.size() == 3; }));

    EXPECT_EQ(rig.sequences(), (Sequences{0, 1, 2, 3, 2, 3}));
}

TEST(PumpRetry, counts_attempts_in_the_store_so_that_they_survive_a_crash) {
    PumpRig rig;
    rig.options.retry = {.attempts_max = 4, .delay = seconds(10), .exponential = false};
    rig.behaviour = fails_at(2);
    rig.append(3);
    rig.open();
    // The batch, then 0 and 1, then twice the poisonous one.
    ASSERT_TRUE(rig.run_until([&] { return rig.calls.size() == 5; }));
    rig.run_for(seconds(1));
    EXPECT_EQ(rig.stored().sequence.value, 1);
    EXPECT_EQ(rig.stored().attempts, 2u);

    rig.crash();
    const std::size_t before = rig.calls.size();
    rig.open(0, 2);
    ASSERT_TRUE(rig.run_until([&] { return rig.count_failures("dead letter") == 1; }));

    EXPECT_EQ(rig.calls.size() - before, 2u) << "four attempts in all";
    EXPECT_EQ(rig.dead_letters()[0].attempts, 4u);
}

TEST(PumpRetry, counts_no_attempt_for_a_handler_that_ends_early_as_asked) {
    PumpRig rig;
    rig.append(1);
    Pump& pump = rig.open();
    ASSERT_TRUE(rig.run_until([&] { return pump.status().handled_sequence == 0; }));
    rig.workers.set_latency(seconds(5), seconds(5));
    std::optional<Closed> seen;
    rig.behaviour = [&](Partition& partition, Events events) -> Result<> {
        seen = partition.closing();
        partition.done(events[0]);
        return Error{ErrorCode::cancelled, "as asked"};
    };
    rig.append(3);
    ASSERT_TRUE(rig.run_until([&] { return pump.status().state == "handling"; }));

    EXPECT_TRUE(rig.close(CloseReason::hand_over));

    EXPECT_EQ(seen, Closed::handed_over);
    EXPECT_EQ(rig.stored().sequence.value, 1) << "what it said is done is done";
    EXPECT_EQ(rig.stored().attempts, 0u);
    EXPECT_EQ(rig.count_failures("handle"), 0u);
}

TEST(PumpRetry, skips_or_parks_or_stops_as_it_was_told) {
    for (const Poison choice : {Poison::skip, Poison::park, Poison::stop}) {
        PumpRig rig;
        rig.options.retry.attempts_max = 2;
        rig.options.poison = choice;
        rig.behaviour = fails_at(1);
        rig.append(3);
        Pump& pump = rig.open();

        rig.run_for(seconds(30));

        EXPECT_EQ(rig.last_of(0), choice == Poison::skip ? 2 : 1);
        EXPECT_EQ(rig.stop_wanted.has_value(), choice == Poison::stop);
        EXPECT_EQ(pump.status().state, choice == Poison::skip ? "reading" : "parked");
        EXPECT_EQ(rig.stored().sequence.value, choice == Poison::skip ? 2 : 0);
        EXPECT_TRUE(rig.dead_letters().empty());
        EXPECT_TRUE(rig.close(CloseReason::shutdown));
    }
}

TEST(PumpRetry, keeps_a_poisonous_event_until_the_store_has_it) {
    PumpRig rig;
    rig.options.retry.attempts_max = 1;
    rig.behaviour = [&](Partition&, Events events) -> Result<> {
        if (events[0].sequence_number > 0) return {};
        rig.faults.outage = true;
        return Error{ErrorCode::handler_failed, "poison"};
    };
    rig.append(1);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(0));
    rig.append(1);
    rig.run_for(seconds(60));
    EXPECT_EQ(rig.sequences(), up_to(0)) << "it does not go on before that";

    rig.faults.outage = false;
    rig.run_for(seconds(20));

    EXPECT_EQ(rig.sequences(), up_to(1));
    EXPECT_EQ(rig.dead_letters().size(), 1u);
    EXPECT_EQ(rig.stored().sequence.value, 1);
}

TEST(PumpRetry, tells_of_a_handler_that_takes_too_long) {
    PumpRig rig;
    rig.options.handler_slow = seconds(20);
    rig.append(1);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(0));
    rig.workers.set_latency(seconds(50), seconds(50));
    bool is_ending = false;
    rig.behaviour = [&](Partition& partition, Events) -> Result<> {
        is_ending = partition.is_ending();
        return {};
    };
    rig.append(1);

    ASSERT_TRUE(rig.run_until_handled(1));

    EXPECT_TRUE(is_ending);
    EXPECT_GE(rig.count_failures("handle"), 1u);
}

TEST(PumpRetry, opens_the_handler_again_when_it_could_not_be_opened) {
    PumpRig rig;
    int failures = 3;
    rig.on_opened = [&](Partition&) -> Result<> {
        if (failures-- > 0) return Error{ErrorCode::handler_failed, "not yet"};
        return {};
    };
    rig.append(3);
    rig.open();

    EXPECT_TRUE(rig.run_until_handled(2));

    EXPECT_EQ(rig.count_failures("open handler"), 3u);
}

TEST(PumpStore, reads_nothing_before_the_checkpoint_is_known) {  // PUMP-1
    PumpRig rig;
    rig.store_by_hand({.partition = {0}, .sequence = {6}, .epoch = {1}, .hub_created_ms = 77});
    rig.append(10);
    rig.faults.outage = true;
    rig.open(0, 2);

    rig.run_for(std::chrono::minutes(5));
    EXPECT_TRUE(rig.calls.empty());
    EXPECT_GE(rig.count_failures("seal"), 5u);
    rig.faults.outage = false;

    ASSERT_TRUE(rig.run_until_handled(9));
    EXPECT_EQ(rig.sequences(), up_to(9, 7));
}

TEST(PumpStore, keeps_handling_while_checkpoints_fail_and_stores_them_later) {
    PumpRig rig;
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.faults.outage = true;

    rig.append(10);
    ASSERT_TRUE(rig.run_until_handled(19));
    rig.run_for(seconds(30));
    EXPECT_EQ(rig.pumps[0]->status().checkpoint_sequence, -1) << "not stored is not stored";
    rig.faults.outage = false;
    rig.run_for(seconds(10));

    EXPECT_EQ(rig.stored().sequence.value, 19);
    EXPECT_EQ(rig.sequences(), up_to(19));
}

TEST(PumpStore, says_when_the_last_checkpoint_was_not_stored_in_time) {
    PumpRig rig;
    rig.options.drain_max = seconds(10);
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.faults.outage = true;

    EXPECT_TRUE(rig.close(CloseReason::hand_over));

    EXPECT_EQ(rig.count_failures("last checkpoint"), 1u);
    rig.faults.outage = false;
    EXPECT_EQ(rig.stored().sequence.value, -1);
}

TEST(PumpSource, is_read_at_owner_level_0_where_other_sdks_take_part) {
    for (const bool is_with_others : {false, true}) {
        PumpRig rig;
        rig.permit.is_with_others = is_with_others;
        rig.append(10);
        rig.open(0, 7);
        ASSERT_TRUE(rig.run_until_handled(9));

        std::optional<bool> is_let_in;
        std::unique_ptr<source::Reader> other;
        source::SimSource elsewhere(rig.hub, rig.loop);
        elsewhere.open({0}, Position::earliest(), {.epoch = Epoch{0}}, [&](auto reader) {
            is_let_in = reader.ok();
            if (reader.ok()) other = std::move(*reader);
        });
        ASSERT_TRUE(rig.run_until([&] { return is_let_in.has_value(); }));

        EXPECT_EQ(*is_let_in, is_with_others) << "an official processor takes over at level 0";
    }
}

TEST(PumpStore, stops_at_once_when_a_newer_owner_has_sealed_the_checkpoint) {
    PumpRig rig;
    rig.append(10);
    rig.open(0, 1);
    ASSERT_TRUE(rig.run_until_handled(9));
    bool is_sealed = false;
    rig.store.seal({0}, {2}, [&](auto) { is_sealed = true; });
    ASSERT_TRUE(rig.run_until([&] { return is_sealed; }));

    rig.append(10);
    rig.run_for(seconds(10));

    EXPECT_EQ(rig.permit.fenced, std::set<std::uint32_t>{0});
    EXPECT_EQ(rig.stored().sequence.value, -1);
    EXPECT_EQ(rig.stored().epoch.value, 2);
    EXPECT_TRUE(rig.close(CloseReason::lost));
}

TEST(PumpStore, never_lowers_what_is_stored_whatever_the_store_answers) {  // PUMP-9
    PumpRig rig;
    rig.options.checkpoints = {.every_events = 1, .every = milliseconds(0)};
    rig.options.batch_events_max = 1;
    rig.faults = checkpoint::Faults();
    rig.faults.lost_per_thousand = 300;
    rig.faults.refused_per_thousand = 200;
    rig.open();
    std::int64_t highest = -1;

    for (int i = 0; i < 200; ++i) {
        rig.append(1);
        rig.run_for(milliseconds(20));
        const auto table = rig.server.snapshot({"sim", "homes", "$Default"});
        for (const auto& each : table.checkpoints()) {
            EXPECT_GE(each.sequence.value, highest);
            EXPECT_LE(each.sequence.value, rig.last_of(0)) << "never ahead of what was handled";
            highest = each.sequence.value;
        }
    }
    rig.run_for(std::chrono::minutes(1));

    EXPECT_EQ(rig.sequences(), up_to(199));
}

TEST(PumpSource, goes_on_in_order_after_cuts_and_restarts_of_the_hub) {  // PUMP-2
    PumpRig rig;
    rig.options.batch_events_max = 7;
    rig.workers.set_latency(milliseconds(0), milliseconds(30));
    rig.open();
    Random random(test::test_seed());

    for (int i = 0; i < 300; ++i) {
        rig.append(random.below(5));
        if (random.chance(1, 10)) rig.hub.cut({0});
        if (random.chance(1, 30)) rig.hub.stop();
        if (random.chance(1, 5)) rig.hub.start();
        rig.run_for(milliseconds(random.below(200)));
    }
    rig.hub.start();
    const std::int64_t last = rig.hub.last({0}).value;
    ASSERT_TRUE(rig.run_until_handled(last));

    EXPECT_EQ(rig.sequences(), up_to(last));
}

TEST(PumpSource, drops_read_events_when_another_reader_takes_over) {
    PumpRig rig;
    rig.options.batch_events_max = 10;
    rig.workers.set_latency(seconds(1), seconds(1));
    rig.append(1000);
    rig.open(0, 1);
    ASSERT_TRUE(rig.run_until_handled(9));

    std::unique_ptr<source::Reader> other;
    source::SimSource elsewhere(rig.hub, rig.loop);
    elsewhere.open({0}, Position::earliest(), {.epoch = Epoch{2}},
                   [&](auto reader) { other = std::move(*reader); });
    rig.run_for(milliseconds(1));
    const std::int64_t last = rig.last_of(0);
    rig.run_for(seconds(30));

    EXPECT_LE(rig.last_of(0), last + 20) << "what a worker had, and no more";
    EXPECT_EQ(rig.permit.fenced, std::set<std::uint32_t>{0});
    other.reset();
}

TEST(PumpSource, tells_of_damage_and_goes_on_behind_it) {
    PumpRig rig;
    rig.append(5);
    rig.hub.damage({0}, {2});
    rig.open();

    ASSERT_TRUE(rig.run_until_handled(4));

    EXPECT_EQ(rig.sequences(), (Sequences{0, 1, 3, 4}));
    EXPECT_EQ(rig.count_failures("read"), 1u);
}

TEST(PumpSource, opens_the_reader_again_when_events_are_there_but_none_come) {
    PumpRig rig;
    rig.options.progress_slow = seconds(30);
    rig.append(1);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(0));
    rig.hub.stall({0});
    rig.append(5);

    EXPECT_TRUE(rig.run_until_handled(5));

    EXPECT_EQ(rig.count_failures("read"), 1u);
    EXPECT_EQ(rig.sequences(), up_to(5));
}

TEST(PumpSource, tells_how_many_events_retention_took_before_it_began) {
    PumpRig rig;
    rig.store_by_hand({.partition = {0}, .sequence = {9}, .epoch = {1}, .hub_created_ms = 77});
    rig.append(100);
    rig.hub.remove_before({0}, {50});
    rig.open(0, 2);

    ASSERT_TRUE(rig.run_until_handled(99));

    EXPECT_EQ(rig.sequences(), up_to(99, 50));
    ASSERT_EQ(rig.count_failures("resume"), 1u);
    EXPECT_NE(rig.failures[0].error.detail.find("40 events"), std::string::npos);
}

TEST(PumpSource, tells_when_retention_overtakes_it) {
    PumpRig rig;
    rig.options.batch_events_max = 5;
    rig.workers.set_latency(seconds(5), seconds(5));
    rig.append(100);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(4));

    rig.hub.remove_before({0}, {50});
    ASSERT_TRUE(rig.run_until_handled(99));

    ASSERT_EQ(rig.count_failures("read"), 1u);
    EXPECT_NE(rig.failures[0].error.detail.find("events are missing"), std::string::npos);
}

TEST(PumpSource, begins_anew_with_a_hub_that_was_created_again) {
    PumpRig rig;
    rig.append(50);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(49));
    rig.run_for(seconds(2));
    ASSERT_EQ(rig.stored().sequence.value, 49);

    rig.hub.recreate(99);
    rig.append(3);
    ASSERT_TRUE(rig.run_until([&] { return rig.last_of(0) == 2; }));
    rig.run_for(seconds(2));

    EXPECT_EQ(rig.stored().sequence.value, 2);
    EXPECT_EQ(rig.stored().hub_created_ms, 99);
    EXPECT_GE(rig.count_failures("resume"), 1u);
}

TEST(PumpSource, says_again_and_again_that_a_checkpoint_is_beyond_the_end) {
    PumpRig rig;
    rig.store_by_hand({.partition = {0}, .sequence = {500}, .epoch = {1}, .hub_created_ms = 77});
    rig.append(10);
    rig.open(0, 2);

    rig.run_for(seconds(60));
    EXPECT_TRUE(rig.calls.empty());
    EXPECT_GE(rig.count_failures("resume"), 5u);
    rig.append(495);

    EXPECT_TRUE(rig.run_until_handled(504)) << "it goes on once the checkpoint makes sense";
    EXPECT_EQ(rig.sequences(), up_to(504, 501));
}

TEST(PumpFence, without_a_lease_handling_needs_an_attached_reader) {
    PumpRig rig;
    rig.options.batch_events_max = 2;
    rig.behaviour = [&](Partition&, Events events) -> Result<> {
        if (events.back().sequence_number == 3) rig.hub.stop();
        return {};
    };
    rig.permit.is_by_reader = true;
    rig.append(20);
    rig.open();

    ASSERT_TRUE(rig.run_until_handled(3));
    rig.run_for(seconds(30));
    EXPECT_EQ(rig.last_of(0), 3) << "what was read ahead waits";

    rig.hub.start();
    EXPECT_TRUE(rig.run_until_handled(19));
    EXPECT_EQ(rig.sequences(), up_to(19));
}

TEST(PumpFence, a_call_queued_past_the_end_of_its_lease_does_not_begin) {
    for (const auto delivery : {Delivery::at_least_once, Delivery::at_most_once}) {
        PumpRig rig;
        rig.options.delivery = delivery;
        rig.options.batch_events_max = 2;
        Lease& lease = rig.permit.lease.emplace(seconds(3600));
        const auto renew = [&] {
            const Instant now = rig.scheduler.clock().now();
            lease.renewed(now, now);
            rig.permit.is_there = true;
        };
        int terms = 0;
        rig.permit.on_term = [&] {
            if (++terms != 3) return;
            lease.end();
            rig.permit.is_there = false;
        };
        renew();
        rig.append(10);
        rig.open();

        rig.run_for(seconds(30));
        EXPECT_EQ(rig.sequences(), up_to(3)) << "the third call has not begun";

        renew();
        EXPECT_TRUE(rig.run_until_handled(9));
        EXPECT_EQ(rig.sequences(), up_to(9));
    }
}

TEST(PumpClose, reports_a_loss_before_the_last_checkpoint_is_stored) {
    PumpRig rig;
    rig.options.checkpoints = {.every_events = 1000, .every = seconds(100)};
    rig.append(5);
    Pump& pump = rig.open();
    ASSERT_TRUE(rig.run_until_handled(4));
    rig.faults.outage = true;
    int answers = 0;

    pump.close(CloseReason::hand_over, [&] { ++answers; });
    rig.run_for(seconds(1));
    EXPECT_EQ(answers, 0);
    pump.close(CloseReason::lost, [&] { ++answers; });
    rig.run_for(seconds(1));

    EXPECT_EQ(answers, 2);
    EXPECT_EQ(rig.count_failures("last checkpoint"), 1u);
}

TEST(PumpClose, by_hand_before_its_handler_is_open) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    rig.hub.stop();
    rig.open();
    rig.run_for(seconds(1));

    EXPECT_TRUE(rig.close(CloseReason::shutdown));
}

}  // namespace
}  // namespace evenkeel::processor
