#include "producer/numbering.h"

#include <limits>

#include <gtest/gtest.h>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "producer/batch_access.h"
#include <evenkeel/producer.h>

namespace evenkeel::producer {
namespace {

constexpr std::string_view number_name = "com.microsoft:producer-sequence-number";

TEST(Numbering, gives_each_event_of_a_batch_the_next_number) {
    SendBatch batch({.partition_key = "a key"}, 1 << 20);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(batch.try_add("event " + std::to_string(i)));

    const auto result = stamped(BatchAccess::message(batch), {77, 9});

    ASSERT_TRUE(result.ok()) << result.error().detail;
    EXPECT_EQ(result->events, 3u);
    EXPECT_LE(result->message.size(), BatchAccess::message(batch).size() + 3 * stamp_bytes_max);
    ByteView rest = result->message;
    EXPECT_EQ(amqp::next_section(rest)->kind, amqp::descriptor::message_annotations)
        << "the key stays in front";
    for (int i = 0; i < 3; ++i) {
        const auto section = amqp::next_section(rest);
        ASSERT_EQ(section->kind, amqp::descriptor::data);
        ByteView event = amqp::Decoder(section->value).binary().value();
        const auto numbers = amqp::next_section(event);
        ASSERT_EQ(numbers->kind, amqp::descriptor::message_annotations);
        EXPECT_EQ(amqp::integer_in(numbers->value, "com.microsoft:producer-id"), 77);
        EXPECT_EQ(amqp::integer_in(numbers->value, "com.microsoft:producer-epoch"), 0);
        EXPECT_EQ(amqp::integer_in(numbers->value, number_name), 10 + i);
        EXPECT_TRUE(as_text(event).ends_with("event " + std::to_string(i)));
    }
    EXPECT_TRUE(rest.empty());
}

TEST(Numbering, goes_on_from_zero_behind_the_largest_number) {
    EXPECT_EQ(number_after(std::numeric_limits<std::int32_t>::max(), 1), 0);
    EXPECT_EQ(number_after(5, 3), 8);
}

TEST(Numbering, leaves_room_in_a_batch_and_wastes_little) {
    const Numbering largest{std::numeric_limits<std::int64_t>::max(), 1 << 30};
    for (const std::size_t body : {1U, 100U, 200U, 300U}) {
        SendBatch batch({}, 100'000, stamp_bytes_max);
        while (batch.try_add(std::string(body, 'x'))) {
        }

        const auto result = stamped(BatchAccess::message(batch), largest);

        EXPECT_LE(result->message.size(), 100'000u) << body;
        EXPECT_GE(result->message.size(), 95'000u) << body;
    }
}

}  // namespace
}  // namespace evenkeel::producer
