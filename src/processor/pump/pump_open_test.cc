// Pumps that meet a hub which was restored from a back-up, and others that are as they were.
#include "processor/pump/pump_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::seconds;

// Handles `count` events, and stores that.
void handle_first(PumpRig& rig, std::int64_t count) {
    rig.append(static_cast<std::size_t>(count));
    rig.open(0, 1);
    ASSERT_TRUE(rig.run_until_handled(count - 1));
    ASSERT_TRUE(rig.close(CloseReason::shutdown));
    ASSERT_EQ(rig.stored().sequence.value, count - 1);
    rig.calls.clear();
}

void restore_and_write_on(PumpRig& rig, std::int64_t last, std::size_t more) {
    rig.run_for(seconds(1));
    rig.hub.restore({0}, {last});
    rig.append(more);
}

TEST(PumpRestoredHub, is_not_read_behind_an_event_that_was_never_handled) {
    PumpRig rig;
    handle_first(rig, 200);
    restore_and_write_on(rig, 49, 210);

    rig.open(0, 2);
    rig.run_for(seconds(60));

    EXPECT_TRUE(rig.calls.empty());
    ASSERT_GE(rig.count_failures("resume"), 1u);
    EXPECT_NE(rig.failures[0].error.detail.find("event 199 is not the one that was handled"),
              std::string::npos)
        << rig.failures[0].error.detail;
    EXPECT_NE(rig.failures[0].error.detail.find("evenkeel checkpoint set homes --group"),
              std::string::npos);
}

TEST(PumpRestoredHub, is_read_once_its_position_was_set_by_hand) {
    PumpRig rig;
    handle_first(rig, 200);
    restore_and_write_on(rig, 49, 210);
    rig.open(0, 2);
    ASSERT_TRUE(rig.run_until([&] { return rig.count_failures("resume") > 0; }));

    rig.store_by_hand({.partition = {0}, .sequence = {49}, .epoch = {2}, .hub_created_ms = 77});

    ASSERT_TRUE(rig.run_until_handled(259));
    EXPECT_EQ(rig.sequences(), up_to(259, 50));
}

TEST(PumpRestoredHub, stops_the_owner_that_was_reading_it) {
    PumpRig rig;
    rig.append(200);
    rig.open(0, 1);
    ASSERT_TRUE(rig.run_until_handled(199));
    rig.calls.clear();

    restore_and_write_on(rig, 49, 210);
    rig.run_for(seconds(60));

    EXPECT_TRUE(rig.calls.empty());
    EXPECT_GE(rig.count_failures("resume"), 1u);
}

TEST(PumpRestoredHub, is_not_overtaken_from_a_pinned_position) {
    PumpRig rig;
    rig.options.start = Position::latest();
    rig.append(200);
    rig.open(0, 1);
    ASSERT_TRUE(rig.run_until([&] { return rig.stored().sequence.value == 199; }));
    ASSERT_TRUE(rig.close(CloseReason::shutdown));

    restore_and_write_on(rig, 49, 210);
    rig.open(0, 2);
    rig.run_for(seconds(60));

    EXPECT_TRUE(rig.calls.empty());
    EXPECT_GE(rig.count_failures("resume"), 1u);
}

TEST(PumpSameHub, is_known_again_by_its_last_handled_event) {
    PumpRig rig;
    handle_first(rig, 200);
    rig.run_for(seconds(1));

    rig.open(0, 2);
    rig.run_for(seconds(2));
    EXPECT_TRUE(rig.calls.empty()) << "the event itself is not handled again";
    rig.append(10);

    ASSERT_TRUE(rig.run_until_handled(209));
    EXPECT_EQ(rig.sequences(), up_to(209, 200));
    EXPECT_TRUE(rig.failures.empty());
}

TEST(PumpSameHub, is_read_on_where_retention_took_that_event) {
    PumpRig rig;
    handle_first(rig, 200);
    rig.append(10);
    rig.hub.remove_before({0}, {200});

    rig.open(0, 2);

    ASSERT_TRUE(rig.run_until_handled(209));
    EXPECT_EQ(rig.sequences(), up_to(209, 200));
    EXPECT_TRUE(rig.failures.empty());
}

TEST(PumpSameHub, is_read_on_where_that_event_was_damaged_since) {
    PumpRig rig;
    handle_first(rig, 200);
    rig.append(10);
    rig.hub.damage({0}, {199});

    rig.open(0, 2);

    ASSERT_TRUE(rig.run_until_handled(209));
    EXPECT_EQ(rig.sequences(), up_to(209, 200));
}

}  // namespace
}  // namespace evenkeel::processor
