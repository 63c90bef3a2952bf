#include "hub/folder_clock.h"

#include <fstream>

#include "hub/hub_fixture.h"
#include "support/paths.h"

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;
using commitlog::ClockGap;

constexpr auto ten_years = std::chrono::hours(24 * 3652);
constexpr WallTime noon{1'767'225'600'000};

ClockWitnesses witnesses(std::chrono::milliseconds ahead, std::string_view boot = "b") {
    return {ClockRecord{noon, "b", Instant{1000}, {}}, noon, noon + 1h + ahead,
            Instant{1000} + Duration(1h), std::string(boot)};
}

TEST(FolderClock, is_believed_as_far_as_the_steady_clock_confirms_it) {
    EXPECT_TRUE(judge_clock(witnesses(0s)).gaps.empty());
    EXPECT_TRUE(judge_clock(witnesses(1min)).gaps.empty());
    EXPECT_TRUE(judge_clock(witnesses(-30min)).gaps.empty());

    EXPECT_EQ(judge_clock(witnesses(ten_years)).gaps,
              (std::vector<ClockGap>{{noon + 1h, ten_years}}));
}

TEST(FolderClock, is_doubted_when_the_machine_was_started_again) {
    EXPECT_EQ(judge_clock(witnesses(0s, "c")).gaps, (std::vector<ClockGap>{{noon, 1h}}));
    auto later = witnesses(0s, "c");
    later.last_event = noon + 5min;
    EXPECT_EQ(judge_clock(later).gaps, (std::vector<ClockGap>{{noon + 5min, 1h}}));
    EXPECT_EQ(judge_clock({std::nullopt, noon, noon + 2h, {}, "b"}).gaps,
              (std::vector<ClockGap>{{noon, 2h}}))
        << "without the file the last event tells";
    EXPECT_TRUE(judge_clock({std::nullopt, {}, noon, {}, "b"}).gaps.empty()) << "a new folder";
}

TEST(FolderClock, forgets_a_gap_when_the_clock_goes_back_again) {
    auto wrong = witnesses(ten_years);
    ClockRecord saved{wrong.wall, "b", wrong.steady, judge_clock(wrong).gaps};
    auto right = witnesses(0s);
    right.saved = saved;

    EXPECT_TRUE(judge_clock(right).gaps.empty());
}

TEST(FolderClock, bounds_its_gaps_and_keeps_no_event_shorter_for_it) {
    auto at = witnesses(0s, "c");
    for (int i = 0; i < 40; ++i) {
        at.saved->gaps = judge_clock(at).gaps;
        ASSERT_LE(at.saved->gaps.size(), 16u);
    }
    EXPECT_EQ(commitlog::lag_of(noon, at.saved->gaps), 40h);
}

TEST(FolderClock, of_version_1_is_read) {
    std::ifstream file(test::data_path("clock_v1"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};

    const auto record = decode_clock(text);

    ASSERT_TRUE(record.ok()) << record.error().detail;
    EXPECT_EQ(*record, (ClockRecord{noon, "b", Instant{1000}, {{noon - 1h, 2h}}}));
    EXPECT_EQ(encode(*record), text);
    EXPECT_EQ(decode_clock(text.substr(0, 40)).error().code, ErrorCode::corrupt);
}

// Segments of four events; retention of an hour.
class ClockAtStart : public testing::Test, public HubFixture {
protected:
    ClockAtStart() : HubFixture(HubOptions{.segment_bytes_max = 4 * 64}) {
        begin();
        EXPECT_TRUE(create("h", {.partitions = 1, .retention = 1h}).ok());
        for (int i = 0; i < 6; ++i) EXPECT_TRUE(append("h", 0, {"e" + std::to_string(i)}).ok());
        run_for(5min);
    }
    void begin() {
        EXPECT_TRUE(open().ok());
        hub->start();
    }
    // Another process, whose wall clock is ahead of the true one.
    void restart(Duration ahead) {
        close();
        skew = std::chrono::duration_cast<std::chrono::milliseconds>(ahead);
        begin();
    }
    std::size_t count() { return read("h", 0)->size(); }
};

TEST_F(ClockAtStart, far_ahead_removes_nothing_that_is_young) {
    for (const bool rebooted : {false, true}) {
        boot = rebooted ? "second" : boot;
        restart(ten_years);

        run_for(20min);
        EXPECT_EQ(count(), 6u);
    }
    run_for(30min);
    EXPECT_EQ(count(), 2u) << "its hour, as far as the hub has seen it, is over";
}

TEST_F(ClockAtStart, far_ahead_removes_nothing_without_a_clock_file) {
    close();
    ASSERT_TRUE(disk->remove(test_folder + "/clock").ok());
    skew = std::chrono::duration_cast<std::chrono::milliseconds>(Duration(ten_years));
    begin();

    run_for(50min);

    EXPECT_EQ(count(), 6u);
}

TEST_F(ClockAtStart, that_goes_right_again_lets_events_age_as_ever) {
    restart(ten_years);
    run_for(10min);
    restart(0s);

    run_for(40min);
    EXPECT_EQ(count(), 6u);
    run_for(10min);
    EXPECT_EQ(count(), 2u);
}

TEST_F(ClockAtStart, is_believed_when_an_operator_says_so) {
    options.trust_clock = true;
    restart(ten_years);

    run_for(1min);

    EXPECT_EQ(count(), 2u);
}

TEST_F(ClockAtStart, after_an_hour_away_in_one_boot_lets_old_events_go) {
    close();
    run_for(2h);
    begin();

    run_for(1min);

    EXPECT_EQ(count(), 2u);
}

TEST_F(ClockAtStart, ahead_does_not_keep_new_events_longer) {
    restart(ten_years);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(append("h", 0, {"n"}).ok());
    run_for(1h + 5min);

    EXPECT_EQ(properties("h", 0).begin_sequence.value, 8);
}

}  // namespace
}  // namespace evenkeel::hub
