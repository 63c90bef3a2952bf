#include "door/amqp/filter.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"
#include "door/door_fixture.h"
#include "support/seed.h"

namespace evenkeel::door {
namespace {

Position parsed(std::string_view text) {
    const auto position = parse_filter(text);
    EXPECT_TRUE(position.ok()) << text << ": " << (position.ok() ? "" : position.error().detail);
    return position.ok() ? *position : Position{};
}

TEST(Filter, is_read_with_and_without_blanks_and_quotes) {
    for (const char* const text :
         {"amqp.annotation.x-opt-offset > '123'", "amqp.annotation.x-opt-offset > 123",
          "amqp.annotation.x-opt-offset >'123'", "amqp.annotation.x-opt-offset>'123'",
          "  amqp.annotation.x-opt-offset\t>\t123  "}) {
        const Position position = parsed(text);

        EXPECT_EQ(position.kind, Position::Kind::offset) << text;
        EXPECT_EQ(position.value, 123) << text;
        EXPECT_FALSE(position.inclusive) << text;
    }
    EXPECT_TRUE(parsed("amqp.annotation.x-opt-offset >= '123'").inclusive);
    EXPECT_TRUE(parsed("amqp.annotation.x-opt-offset>=123").inclusive);
}

TEST(Filter, knows_sequence_numbers_times_the_start_and_the_end) {
    EXPECT_EQ(parsed("amqp.annotation.x-opt-sequence-number >= '5'").kind,
              Position::Kind::sequence_number);
    EXPECT_EQ(parsed("amqp.annotation.x-opt-enqueued-time > '1700000000000'").value, 1700000000000);
    EXPECT_EQ(parsed("amqp.annotation.x-opt-offset > '-1'").value, -1);
    EXPECT_EQ(parsed("amqp.annotation.x-opt-offset > '@latest'").kind, Position::Kind::latest);
    EXPECT_EQ(parsed("amqp.annotation.x-opt-offset >@latest").kind, Position::Kind::latest);
}

TEST(Filter, of_the_end_of_time_does_not_wrap_around) {
    const Position position = parsed("amqp.annotation.x-opt-enqueued-time > '9223372036854775807'");

    EXPECT_LT(position.value, std::numeric_limits<std::int64_t>::max());
}

TEST(Filter, that_is_something_else_is_refused) {
    for (const char* const text :
         {"", " ", "amqp.annotation.", "amqp.annotation.x-opt-offset", "x-opt-offset > '1'",
          "amqp.annotation.x-opt-offset < '1'", "amqp.annotation.x-opt-offset = '1'",
          "amqp.annotation.x-opt-offset > ''", "amqp.annotation.x-opt-offset >",
          "amqp.annotation.x-opt-offset > '1", "amqp.annotation.x-opt-offset > 1'",
          "amqp.annotation.x-opt-offset > '1' OR 1=1", "amqp.annotation.x-opt-offset >> '1'",
          "amqp.annotation.x-opt-sequence-number > '@latest'",
          "amqp.annotation.x-opt-publisher > '1'", "amqp.annotation.x-opt-offset > '0x10'",
          "amqp.annotation.x-opt-offset > '9223372036854775808'",
          "amqp.annotation.x-opt-offset > '1.5'", "amqp.annotation.x-opt-offset > ' 1'"}) {
        EXPECT_FALSE(parse_filter(text).ok()) << text;
    }
}

TEST(Filter, of_more_than_four_kilobytes_is_refused) {
    const std::string core = "amqp.annotation.x-opt-offset > '1'";

    EXPECT_TRUE(parse_filter(std::string(filter_bytes_max - core.size(), ' ') + core).ok());
    EXPECT_FALSE(parse_filter(std::string(filter_bytes_max - core.size() + 1, ' ') + core).ok());
}

TEST(FilterSet, is_read_with_every_descriptor) {
    for (const int descriptor : {0, 1, 2}) {
        const Buffer filter = a_filter("amqp.annotation.x-opt-offset > '7'", descriptor);

        const auto position = position_of_filter(filter);

        ASSERT_TRUE(position.ok()) << descriptor;
        EXPECT_EQ(position->value, 7) << descriptor;
    }
}

TEST(FilterSet, without_a_selector_means_the_earliest) {
    EXPECT_EQ(position_of_filter({})->kind, Position::Kind::earliest);
    EXPECT_EQ(position_of_filter(a_map({}))->kind, Position::Kind::earliest);
    EXPECT_EQ(position_of_filter(a_map({{"other", a_string("x")}}))->kind,
              Position::Kind::earliest);
}

TEST(FilterSet, that_is_no_map_of_text_is_refused) {
    EXPECT_FALSE(position_of_filter(a_string("x")).ok());
    EXPECT_FALSE(
        position_of_filter(a_map({{"apache.org:selector-filter:string", a_long(1)}})).ok());
}

TEST(FilterSet, of_random_bytes_is_answered_or_refused) {
    Random random(test::test_seed());
    for (int i = 0; i < 20'000; ++i) {
        Buffer bytes = a_filter("amqp.annotation.x-opt-offset > '7'", i % 3);
        for (std::uint64_t changes = random.below(4) + 1; changes > 0; --changes) {
            bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
        }
        bytes.resize(random.below(bytes.size()) + 1);
        (void)position_of_filter(bytes);
    }
}

}  // namespace
}  // namespace evenkeel::door
