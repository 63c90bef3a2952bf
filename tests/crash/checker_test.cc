// The checker against histories that are wrong on purpose: each anomaly must be flagged.
#include "crash/checker.h"

#include <gtest/gtest.h>

namespace evenkeel::crash {
namespace {

// Two acknowledged batches, values 1.1 1.2 and 1.3, and one that is still open, 1.4 1.5.
struct CheckerTest : testing::Test {
    CheckerTest() {
        acknowledge({{1, 1}, {1, 2}}, 0, 100, 5);
        acknowledge({{1, 3}}, 2, 200, 6);
        history.invoke({{1, 4}, {1, 5}});
        reading.next = 3;
        reading.events = {
            {0, 0, 5, Value{1, 1}}, {1, 100, 5, Value{1, 2}}, {2, 200, 6, Value{1, 3}}};
    }
    void acknowledge(std::vector<Value> values, std::int64_t first, std::int64_t last_offset,
                     std::int64_t time) {
        const auto last = first + static_cast<std::int64_t>(values.size()) - 1;
        const auto batch = history.invoke(std::move(values));
        history.acknowledge(batch, {{first}, {last}, {last_offset}, {time}});
    }
    void add(const Observed& event) {
        reading.events.push_back(event);
        reading.next = event.sequence + 1;
    }
    std::string found(const Rules& rules = {}) const { return check(history, reading, rules); }
    testing::AssertionResult finds(const std::string& part, const Rules& rules = {}) const {
        const auto text = found(rules);
        if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
        return testing::AssertionFailure() << "found: " << text;
    }

    History history;
    Reading reading;
};

TEST_F(CheckerTest, a_good_history_passes_with_and_without_what_is_open) {
    EXPECT_EQ(found(), "");
    add({3, 300, 7, Value{1, 4}});
    add({4, 400, 7, Value{1, 5}});
    EXPECT_EQ(found(), "");
}

TEST_F(CheckerTest, an_empty_history_is_invalid) {
    EXPECT_NE(check({}, {}, {}), "");
}

TEST_F(CheckerTest, a_lost_acknowledged_event_is_found) {
    reading.events.pop_back();
    reading.next = 2;
    EXPECT_TRUE(finds("LOG-4"));
    reading.next = 3;
    EXPECT_TRUE(finds("skipped without a word"));
}

TEST_F(CheckerTest, an_acknowledged_event_that_became_another_is_found) {
    history.invoke({{1, 6}});
    reading.events[2].value = Value{1, 6};
    EXPECT_TRUE(finds("LOG-2"));
}

TEST_F(CheckerTest, an_event_that_was_never_sent_is_found) {
    add({3, 300, 7, Value{2, 1}});
    EXPECT_TRUE(finds("never sent"));
}

TEST_F(CheckerTest, wrong_bytes_are_found) {
    reading.events[1].value.reset();
    EXPECT_TRUE(finds("wrong bytes"));
}

TEST_F(CheckerTest, a_value_that_is_stored_twice_is_found) {
    add({3, 300, 7, Value{1, 3}});
    EXPECT_TRUE(finds("twice"));
}

TEST_F(CheckerTest, half_a_batch_is_found) {
    add({3, 300, 7, Value{1, 4}});
    EXPECT_TRUE(finds("not whole"));
}

TEST_F(CheckerTest, a_batch_with_another_event_inside_is_found) {
    history.invoke({{1, 6}});
    add({3, 300, 7, Value{1, 4}});
    add({4, 400, 7, Value{1, 6}});
    add({5, 500, 7, Value{1, 5}});
    EXPECT_TRUE(finds("not whole"));
}

TEST_F(CheckerTest, a_gap_and_a_step_back_in_the_numbers_are_found) {
    reading.events[2].sequence = 3;
    reading.next = 4;
    EXPECT_TRUE(finds("event 2 was skipped"));
    reading.events[2].sequence = 1;
    EXPECT_TRUE(finds("LOG-1: event 1 after event 1"));
}

TEST_F(CheckerTest, an_offset_that_does_not_rise_is_found) {
    reading.events[2].offset = 100;
    EXPECT_TRUE(finds("offset does not rise"));
}

TEST_F(CheckerTest, a_time_that_falls_is_found) {
    reading.events[2].time = 4;
    EXPECT_TRUE(finds("LOG-5"));
}

TEST_F(CheckerTest, an_acknowledgement_with_another_offset_or_time_is_found) {
    reading.events[2].offset = 208;
    EXPECT_TRUE(finds("another offset or time"));
}

TEST_F(CheckerTest, an_event_that_was_seen_and_is_gone_or_another_is_found) {
    history.see({3, 300, 7, Value{1, 4}});
    EXPECT_TRUE(finds("LOG-4"));  // its number may be given out again
    history.invoke({{1, 6}});
    add({3, 300, 7, Value{1, 6}});
    EXPECT_TRUE(finds("seen and is another"));
    EXPECT_NE(history.see({3, 300, 7, Value{1, 6}}), "");
}

TEST_F(CheckerTest, a_number_that_may_be_given_out_again_is_found) {
    reading.events.clear();
    reading.begin = reading.next = 2;
    history.begin_asked = 2;
    EXPECT_TRUE(finds("LOG-4: the next number is 2"));
}

TEST_F(CheckerTest, a_refused_event_is_found_unless_a_crash_excuses_it) {
    history.refuse(2);
    add({3, 300, 7, Value{1, 4}});
    add({4, 400, 7, Value{1, 5}});
    EXPECT_TRUE(finds("LOG-6"));
    EXPECT_EQ(found({.refused_allowed = true}), "");
}

TEST_F(CheckerTest, removed_events_may_be_gone_but_not_more_and_do_not_come_back) {
    reading.events.erase(reading.events.begin());
    reading.begin = 1;
    EXPECT_TRUE(finds("asked for only up to 0"));
    history.begin_asked = 1;
    EXPECT_EQ(found(), "");
    history.begin_asked = history.begin_done = 2;
    EXPECT_TRUE(finds("begin fell to 1"));
}

TEST_F(CheckerTest, damage_counts_only_where_it_was_put_and_told) {
    reading.events.erase(reading.events.begin() + 1);
    EXPECT_TRUE(finds("skipped", {.gaps_allowed = true}));
    reading.gaps = {{1, 2}};
    EXPECT_TRUE(finds("nothing was damaged"));
    EXPECT_EQ(found({.gaps_allowed = true}), "");
}

TEST(Content, a_changed_byte_is_no_value_any_more) {
    Random random(1);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{11}, std::size_t{12}, std::size_t{500}}) {
        auto content = content_of({7, 9}, 5, size, random);
        EXPECT_EQ(value_of(content.key, content.body), (Value{7, 9}));
        auto& bytes = content.body.empty() ? content.key : content.body;
        bytes.back() ^= std::byte{1};
        EXPECT_EQ(value_of(content.key, content.body), std::nullopt);
    }
}

}  // namespace
}  // namespace evenkeel::crash
