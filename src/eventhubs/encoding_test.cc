#include "eventhubs/encoding.h"

#include <gtest/gtest.h>

#include "amqp/message.h"
#include "amqp/performatives.h"

namespace evenkeel::eventhubs {
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

TEST(EventEncoding, is_a_data_section_that_holds_a_message) {
    const std::vector<Property> properties = {
        {"room", "hall"}, {"level", std::int64_t{-3}}, {"warm", true}, {"degrees", 21.5}};
    amqp::Buffer bytes;

    append_event({.body = "one", .message_id = "m1", .properties = properties}, bytes);

    const auto outer = sections_of(bytes);
    ASSERT_EQ(outer.size(), 1u);
    EXPECT_EQ(outer[0].kind, descriptor::data);
    const auto inner = sections_of(binary_of(outer[0]));
    ASSERT_EQ(inner.size(), 3u);
    EXPECT_EQ(inner[0].kind, descriptor::properties);
    EXPECT_EQ(inner[1].kind, descriptor::application_properties);
    EXPECT_EQ(amqp::text_in(inner[1].value, "room"), "hall");
    EXPECT_EQ(amqp::integer_in(inner[1].value, "level"), -3);
    EXPECT_EQ(as_text(binary_of(inner[2])), "one");
}

TEST(EventEncoding, has_only_a_body_if_nothing_else_was_given) {
    amqp::Buffer bytes;

    append_event({.body = "x"}, bytes);
    append_event({}, bytes);

    const auto outer = sections_of(bytes);
    ASSERT_EQ(outer.size(), 2u);
    EXPECT_EQ(sections_of(binary_of(outer[0])).size(), 1u);
    EXPECT_EQ(sections_of(binary_of(outer[1])).size(), 1u);
}

TEST(EventEncoding, content_bytes_is_a_lower_bound_of_its_size) {
    const Property properties[] = {{"name", "value"}, {"number", std::int64_t{1}}};
    const EventData event{.body = "body",
                          .content_type = "text/plain",
                          .message_id = "m",
                          .correlation_id = "c",
                          .properties = properties};
    amqp::Buffer bytes;

    append_event(event, bytes);

    EXPECT_EQ(content_bytes(event), 4u + 10 + 1 + 1 + 4 + 5 + 6 + 1);
    EXPECT_LT(content_bytes(event), bytes.size());
}

}  // namespace
}  // namespace evenkeel::eventhubs
