#include "cli/text/event_filter.h"

#include <gtest/gtest.h>

#include "base/time_point.h"

namespace evenkeel::cli {
namespace {

constexpr std::string_view an_order =
    R"({"total": 129.5, "customer": "c-881", "paid": false, "notes": null,
        "count": 9007199254740993,
        "items": [{"sku": "a"}, {"sku": "b"}], "tags": ["new", "red"], "any name": 1})";

// Number 7 in partition 3, enqueued in 2026, with the property kind = "order" and n = 7.
class FilterTest : public ::testing::Test {
protected:
    bool is_met(std::string_view filter, std::string_view body = an_order) {
        auto parsed = EventFilter::parse(filter);
        EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().detail);
        if (!parsed.ok()) return false;
        std::string sections("\0\x53\x73\xc0\x0d\x07\x40\x40\x40\x40\x40\x40\xa3\x04text", 18);
        sections +=
            std::string("\0\x53\x74\xc1\x13\x04\xa1\x04kind\xa1\x05order\xa1\x01n\x54\x07", 24);
        sections += std::string("\0\x53\x75\xb0", 4);
        for (const int shift : {24, 16, 8, 0}) {
            sections += static_cast<char>(body.size() >> shift & 255);
        }
        sections += body;
        Event event;
        event.sequence_number = 7;
        event.offset = 4096;
        event.enqueued_time = time_point({1'773'051'751'118});  // 2026-03-09T10:22:31.118Z
        event.partition_key = key_;
        event.sections = std::as_bytes(std::span(sections));
        const bool met = parsed->matches({"orders", 3}, event);
        bad_bodies_ = parsed->bodies_without_json();
        return met;
    }
    static std::string wrong(std::string_view filter) {
        const auto parsed = EventFilter::parse(filter);
        return parsed.ok() ? "" : parsed.error().detail;
    }

    std::string key_ = "c-881";
    std::uint64_t bad_bodies_ = 0;
};

TEST_F(FilterTest, compares_members_of_a_json_body) {
    EXPECT_TRUE(is_met("body.total > 100"));
    EXPECT_FALSE(is_met("body.total > 129.5"));
    EXPECT_TRUE(is_met("body.total >= 129.5 and body.total <= 129.5"));
    EXPECT_TRUE(is_met("body.customer == 'c-881'"));
    EXPECT_TRUE(is_met("\"c-881\" = body.customer"));
    EXPECT_TRUE(is_met("body.items[1].sku == 'b'"));
    EXPECT_TRUE(is_met("body['any name'] == 1"));
    EXPECT_TRUE(is_met("body.count == 9007199254740993"));
    EXPECT_FALSE(is_met("body.count == 9007199254740992")) << "whole numbers are exact";
    EXPECT_TRUE(is_met("body.customer > 'c-1'"));
}

TEST_F(FilterTest, knows_the_fields_of_an_event) {
    EXPECT_TRUE(is_met("key == 'c-881' && partition == 3 && seq == 7 && offset == 4096"));
    EXPECT_TRUE(is_met("size == 5 and body == 'hello'", "hello"));
    EXPECT_TRUE(is_met("content_type == 'text'"));
    EXPECT_TRUE(is_met("properties.kind == 'order' and properties['n'] < 8"));
    EXPECT_TRUE(is_met("enqueued >= '2026-03-09T10:22:31.118Z' and enqueued < '2026-03-10'"));
    EXPECT_FALSE(is_met("enqueued > '2026-03-09T10:22:31.118Z'"));
}

TEST_F(FilterTest, finds_parts_of_texts_and_elements_of_lists) {
    EXPECT_TRUE(is_met("body.customer contains '-88'"));
    EXPECT_TRUE(is_met("body.tags contains 'red'"));
    EXPECT_FALSE(is_met("body.tags contains 're'"));
    EXPECT_TRUE(is_met("body contains 'lo wo'", "hello world"));
    EXPECT_FALSE(is_met("body.total contains '1'"));
}

TEST_F(FilterTest, a_value_alone_matches_unless_false_or_null) {
    EXPECT_TRUE(is_met("body.total"));
    EXPECT_TRUE(is_met("key"));
    EXPECT_FALSE(is_met("body.paid"));
    EXPECT_FALSE(is_met("body.notes"));
    EXPECT_FALSE(is_met("body.nothing"));
    EXPECT_FALSE(is_met("body.items[2]"));
    EXPECT_FALSE(is_met("properties.nothing"));
    key_.clear();
    EXPECT_FALSE(is_met("key"));
    EXPECT_TRUE(is_met("not key and key == null"));
}

TEST_F(FilterTest, binds_not_before_and_before_or) {
    EXPECT_TRUE(is_met("true or false and false"));
    EXPECT_FALSE(is_met("(true or false) and false"));
    EXPECT_TRUE(is_met("not false and true"));
    EXPECT_FALSE(is_met("not (false or true)"));
    EXPECT_TRUE(is_met("!body.paid && !(partition != 3)"));
}

TEST_F(FilterTest, values_of_different_types_are_unequal) {
    EXPECT_FALSE(is_met("body.total == '129.5'"));
    EXPECT_TRUE(is_met("body.total != '129.5'"));
    EXPECT_FALSE(is_met("body.total < 'x' or body.total >= 'x'"));
    EXPECT_FALSE(is_met("body.nothing < 5 or body.nothing >= 5 or body.nothing <= null"));
    EXPECT_TRUE(is_met("body.nothing == null and body.notes == null"));
}

TEST_F(FilterTest, a_body_without_json_has_no_members_and_is_counted) {
    EXPECT_FALSE(is_met("body.total > 100", "total 129"));
    EXPECT_EQ(bad_bodies_, 1u);
    EXPECT_TRUE(is_met("body contains 'total'", "total 129"));
    EXPECT_EQ(bad_bodies_, 0u) << "nobody asked for JSON";
    EXPECT_FALSE(is_met("body.total.deeper[1]")) << "a number has no members";
}

TEST_F(FilterTest, reports_syntax_errors_with_their_position) {
    EXPECT_EQ(wrong("body.total >"), "it ends, but a value was expected");
    EXPECT_EQ(wrong(""), "it ends, but a value was expected");
    EXPECT_EQ(wrong("key == 'x"), "the string that begins at character 8 is not closed");
    EXPECT_EQ(wrong("key 'x'"), "'x' at character 5, but 'and', 'or' or the end was expected");
    EXPECT_EQ(wrong("(key"), "it ends, but ')' was expected");
    EXPECT_EQ(wrong("seq > 1x"), "'1x' at character 7 is not a number");
    EXPECT_EQ(wrong("seq # 1"), "unexpected '#' at character 5");
    EXPECT_TRUE(wrong("total > 1").starts_with("an event has no 'total', but body, key"));
    EXPECT_EQ(wrong("key.x"), "'key' has no members; body and properties have");
    EXPECT_EQ(wrong("properties == 1"), "'==' at character 12, but '.NAME' was expected");
    EXPECT_EQ(wrong("body[x]"),
              "'x' at character 6, but a number or a name in quotes was expected");
    EXPECT_EQ(wrong("body[-1]"),
              "'-1' at character 6, but a number or a name in quotes was expected");
    EXPECT_EQ(wrong("enqueued > 'noon'"), "'noon' is not a time such as '2026-03-02T09:14:00Z'");
    EXPECT_EQ(wrong(std::string(100, '(')), "it is nested more than 64 deep");
}

TEST_F(FilterTest, has_at_most_100_conditions) {
    const auto conditions = [](int count) {
        std::string filter = "body contains 'absent'";
        for (int i = 1; i < count; ++i)
            filter += " or (key == 'absent' and not body contains 'absent')";
        return filter;
    };
    EXPECT_FALSE(is_met(conditions(1)));
    EXPECT_TRUE(is_met("not (" + conditions(50) + ")"));
    EXPECT_EQ(wrong(conditions(50)), "");
    EXPECT_EQ(wrong(conditions(51)), "it has more than 100 conditions");
}

}  // namespace
}  // namespace evenkeel::cli
