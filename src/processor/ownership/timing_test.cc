#include "processor/ownership/timing.h"

#include <gtest/gtest.h>

#include "support/golden.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;

TEST(Timing, all_profiles_are_sound) {
    EXPECT_TRUE(validate(standard_timing()).ok());
    EXPECT_TRUE(validate(fast_timing()).ok());
    EXPECT_TRUE(validate(thrifty_timing()).ok());
    EXPECT_LT(fast_timing().dead, standard_timing().dead);
    EXPECT_LT(standard_timing().dead, thrifty_timing().dead);
}

// OWN-11: pairs with which a healthy owner would lose its partitions, or two would read one.
TEST(Timing, refuses_bad_pairs_and_names_them) {
    const auto refusal = [](auto change) {
        Timing timing = standard_timing();
        change(timing);
        const Result<> result = validate(timing);
        return result.ok() ? std::string("accepted") : to_string(result.error());
    };
    const auto expect_names = [](const std::string& text, std::string_view a, std::string_view b) {
        EXPECT_NE(text.find("invalid_argument"), std::string::npos) << text;
        EXPECT_NE(text.find(a), std::string::npos) << text;
        EXPECT_NE(text.find(b), std::string::npos) << text;
    };
    expect_names(refusal([](Timing& timing) { timing.dead = 5999ms; }), "dead (5999 ms)",
                 "at least 6000 ms");
    expect_names(refusal([](Timing& timing) { timing.lease = 6s; }), "lease (6000 ms)",
                 "at most 5900 ms");
    expect_names(refusal([](Timing& timing) { timing.lease = 3s; }), "lease (3000 ms)",
                 "at least 4000 ms");
    expect_names(refusal([](Timing& timing) { timing.poll_fast = 3s; }), "poll_fast", "heartbeat");
    expect_names(refusal([](Timing& timing) { timing.poll = 3001ms; }), "poll (3001 ms)", "dead");
    expect_names(refusal([](Timing& timing) { timing.heartbeat = 0s; }), "heartbeat", "1 ms");
    expect_names(refusal([](Timing& timing) { timing.settle = -1s; }), "settle", "negative");
    expect_names(refusal([](Timing& timing) { timing.foreign_expiry = 5s; }), "foreign_expiry",
                 "three heartbeats");
}

TEST(MemberNote, tells_those_who_watch_when_a_member_counts_as_dead) {
    const MemberNote note = read_note(note_with_profile("host-1:4711", "fast"));
    EXPECT_EQ(note.host, "host-1:4711");
    EXPECT_EQ(note.profile, "fast");
    ASSERT_TRUE(note.timing);
    EXPECT_EQ(note.timing->dead, fast_timing().dead);
    EXPECT_EQ(read_note("h:1 standard").timing->dead, standard_timing().dead);
    EXPECT_EQ(read_note("h:1 thrifty").timing->dead, thrifty_timing().dead);
}

TEST(MemberNote, is_the_golden_text) {
    auto golden = test::golden_texts("records_v1");

    EXPECT_EQ(note_with_profile("host-1:4711", "fast"), golden["note"]);
    EXPECT_EQ(read_note(golden["note"]).profile, "fast");
    EXPECT_EQ(read_note(golden["note without a profile"]).host, "host-1:4711");
}

TEST(MemberNote, of_earlier_versions_and_of_others_has_no_profile) {
    for (const std::string text : {"", "host-1:4711", "my host", "host fast "}) {
        EXPECT_EQ(read_note(text).host, text);
        EXPECT_FALSE(read_note(text).timing) << text;
    }
}

}  // namespace
}  // namespace evenkeel::processor
