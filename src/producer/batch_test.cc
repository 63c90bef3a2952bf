#include <gtest/gtest.h>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "producer/batch_access.h"
#include "producer/route.h"
#include <evenkeel/producer.h>

namespace evenkeel {
namespace {

namespace descriptor = amqp::descriptor;

std::vector<amqp::Section> sections_of(ByteView message) {
    std::vector<amqp::Section> sections;
    while (!message.empty()) sections.push_back(amqp::next_section(message).value());
    return sections;
}

ByteView binary_of(const amqp::Section& section) {
    return amqp::Decoder(section.value).binary().value();
}

TEST(SendBatch, holds_each_event_as_a_whole_message_in_a_data_section) {
    SendBatch batch({.partition_key = "home-17"}, 10'000);
    const std::vector<Property> properties = {
        {"room", "hall"}, {"level", std::int64_t{-3}}, {"warm", true}, {"degrees", 21.5}};
    ASSERT_TRUE(batch.try_add({.body = "one",
                               .content_type = "text/plain",
                               .message_id = "m1",
                               .properties = properties}));
    ASSERT_TRUE(batch.try_add(std::string(300, 'x')));

    const auto outer = sections_of(producer::BatchAccess::message(batch));

    ASSERT_EQ(outer.size(), 3u);
    EXPECT_EQ(outer[0].kind, descriptor::message_annotations);
    EXPECT_EQ(amqp::text_in(outer[0].value, "x-opt-partition-key"), "home-17");
    const auto first = sections_of(binary_of(outer[1]));
    ASSERT_EQ(first.size(), 3u);
    EXPECT_EQ(first[0].kind, descriptor::properties);
    EXPECT_EQ(amqp::text_in(first[1].value, "room"), "hall");
    EXPECT_EQ(amqp::integer_in(first[1].value, "level"), -3);
    EXPECT_EQ(as_text(binary_of(first[2])), "one");
    const auto second = sections_of(binary_of(outer[2]));
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(binary_of(second[0]).size(), 300u);
    EXPECT_EQ(batch.size(), 2u);
}

TEST(SendBatch, takes_events_up_to_its_size_limit) {
    SendBatch probe({.partition = 0}, 1000);
    ASSERT_TRUE(probe.try_add("x"));
    SendBatch batch({.partition = 0}, probe.size_bytes() * 3);

    EXPECT_TRUE(batch.try_add("x"));
    EXPECT_TRUE(batch.try_add("x"));
    EXPECT_FALSE(batch.try_add("xx"));
    EXPECT_TRUE(batch.try_add("x"));

    EXPECT_EQ(batch.size_bytes(), batch.bytes_max());
    EXPECT_FALSE(batch.try_add(""));
    EXPECT_EQ(batch.size(), 3u);
    EXPECT_EQ(sections_of(producer::BatchAccess::message(batch)).size(), 3u);
}

TEST(SendBatch, refuses_oversized_texts_without_reading_them) {
    SendBatch batch({.partition = 0}, 1000);
    const std::string text = "x";
    // Nothing of it may be looked at: there are not so many bytes.
    const std::string_view huge(text.data(), std::size_t{5} << 30);
    const Property named{huge, std::int64_t{1}};
    const Property valued{"a", huge};

    EXPECT_FALSE(batch.try_add({.body = huge}));
    EXPECT_FALSE(batch.try_add({.message_id = huge}));
    EXPECT_FALSE(batch.try_add({.properties = {&named, 1}}));
    EXPECT_FALSE(batch.try_add({.properties = {&valued, 1}}));
    EXPECT_TRUE(batch.empty());
}

TEST(SendBatch, is_empty_with_its_key_after_clear) {
    SendBatch batch({.partition_key = "k"}, 1000);
    const auto before = producer::BatchAccess::message(batch);
    ASSERT_TRUE(batch.try_add("x"));

    batch.clear();

    EXPECT_TRUE(batch.empty());
    EXPECT_EQ(producer::BatchAccess::message(batch), before);
}

TEST(Route, is_a_partition_or_a_key_of_up_to_128_characters) {
    using producer::check_route;
    std::string umlauts;
    for (int i = 0; i < 128; ++i) umlauts += "ü";

    EXPECT_TRUE(check_route({}).ok());
    EXPECT_TRUE(check_route({.partition = 3}).ok());
    EXPECT_TRUE(check_route({.partition_key = umlauts}).ok());
    umlauts += "x";
    EXPECT_EQ(check_route({.partition_key = umlauts}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(check_route({.partition = 3, .partition_key = "k"}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(check_route({.partition_key = "k\xe4se"}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
