#include "eventhubs/forward.h"

#include <map>

#include <gtest/gtest.h>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "eventhubs/encoding.h"

namespace evenkeel::eventhubs {
namespace {

namespace descriptor = amqp::descriptor;

// An event as producers make it, without the data section around it.
amqp::Buffer an_event(const EventData& data) {
    amqp::Buffer in_batch;
    append_event(data, in_batch);
    ByteView rest(in_batch);
    const ByteView inner = *amqp::Decoder(amqp::next_section(rest)->value).binary();
    return {inner.begin(), inner.end()};
}

amqp::Buffer annotated(std::initializer_list<std::string_view> names, ByteView event) {
    amqp::Buffer buffer;
    amqp::Encoder encoder(buffer);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::message_annotations));
    const auto map = encoder.begin_map();
    for (const std::string_view name : names) {
        encoder.symbol(name);
        encoder.long_(7);
    }
    encoder.end(map, static_cast<std::uint32_t>(names.size() * 2));
    encoder.bytes(event);
    return buffer;
}

std::map<std::uint64_t, amqp::Section> sections_by_kind(ByteView message) {
    std::map<std::uint64_t, amqp::Section> found;
    std::uint64_t last = 0;
    while (!message.empty()) {
        const auto section = amqp::next_section(message);
        EXPECT_TRUE(section.ok());
        if (!section.ok()) break;
        EXPECT_GE(section->kind, last) << "sections come in the order of AMQP";
        last = section->kind;
        found[section->kind] = *section;
    }
    return found;
}

TEST(ForwardedEvent, keeps_body_and_properties_and_adds_given_ones) {
    const Property colour{"colour", "red"};
    const auto event = annotated(
        {"x-opt-sequence-number", "Diagnostic-Id", "com.microsoft:producer-id"},
        an_event(
            {.body = "door opened", .content_type = "text/plain", .properties = {&colour, 1}}));
    const Property ours[] = {{"cause", "no such house"}, {"attempts", std::int64_t{5}}};

    const auto letter = with_properties(event, ours);

    auto found = sections_by_kind(letter);
    EXPECT_EQ(as_text(*amqp::Decoder(found[descriptor::data].value).binary()), "door opened");
    EXPECT_TRUE(found.contains(descriptor::properties));
    const ByteView properties = found[descriptor::application_properties].value;
    EXPECT_EQ(amqp::text_in(properties, "colour"), "red");
    EXPECT_EQ(amqp::text_in(properties, "cause"), "no such house");
    EXPECT_EQ(amqp::integer_in(properties, "attempts"), 5);
    const ByteView annotations = found[descriptor::message_annotations].value;
    EXPECT_EQ(amqp::integer_in(annotations, "Diagnostic-Id"), 7);
    EXPECT_FALSE(amqp::integer_in(annotations, "x-opt-sequence-number"));
    EXPECT_FALSE(amqp::integer_in(annotations, "com.microsoft:producer-id"));
}

TEST(ForwardedEvent, replaces_properties_when_forwarded_again) {
    const Property first[] = {{"cause", "first"}}, second[] = {{"cause", "second"}};

    const auto again = with_properties(with_properties(an_event({.body = "x"}), first), second);

    auto found = sections_by_kind(again);
    EXPECT_EQ(amqp::text_in(found[descriptor::application_properties].value, "cause"), "second");
}

TEST(ForwardedEvent, is_taken_back_as_it_was) {
    const Property colour{"colour", "red"}, cause{"cause", "no such house"};
    const std::string_view names[] = {"cause"};
    for (const auto& event :
         {an_event({.body = "b", .message_id = "m", .properties = {&colour, 1}}),
          an_event({.body = "b"})}) {
        const auto sent = with_properties(event, {&cause, 1});

        EXPECT_EQ(without_properties(annotated({"x-opt-offset"}, sent), names), event);
    }
}

TEST(ForwardedEvent, keeps_malformed_sections_as_its_body) {
    const Property ours[] = {{"cause", "damaged"}};
    for (const std::string_view text :
         {std::string_view("no sections at all"), std::string_view("\0\x53\x75\xa0\x09", 5)}) {
        const auto letter = with_properties(as_bytes(text), ours);

        auto found = sections_by_kind(letter);
        EXPECT_EQ(as_text(*amqp::Decoder(found[descriptor::data].value).binary()), text);
        EXPECT_EQ(amqp::text_in(found[descriptor::application_properties].value, "cause"),
                  "damaged");
    }
}

TEST(StoredEvent, is_without_what_the_hub_wrote_on_it) {
    const amqp::Buffer event = an_event({.body = "b", .message_id = "m"});
    const amqp::Buffer delivered = annotated(
        {"x-opt-sequence-number", "x-opt-mine", "com.microsoft:producer-id", "other"}, event);

    const amqp::Buffer clean = without_hub_annotations(delivered);
    const amqp::Buffer stored = stored_sections(delivered);

    EXPECT_EQ(without_hub_annotations(annotated({"x-opt-offset"}, event)), event);
    EXPECT_EQ(clean, annotated({"x-opt-mine", "other"}, event));
    EXPECT_EQ(stored, annotated({"x-opt-mine", "com.microsoft:producer-id", "other"}, event));
}

TEST(StoredEvent, can_be_restored_with_its_key_and_time) {
    const amqp::Buffer event = an_event({.body = "b"});

    const amqp::Buffer restored = restorable(annotated({"other"}, event), "k", 1234);

    ByteView rest(restored);
    const auto annotations = amqp::next_section(rest);
    ASSERT_TRUE(annotations.ok());
    EXPECT_EQ(amqp::text_in(annotations->value, "x-opt-partition-key"), "k");
    EXPECT_EQ(amqp::integer_in(annotations->value, "x-opt-enqueued-time"), 1234);
    EXPECT_EQ(stored_sections(restored), annotated({"other"}, event));
    EXPECT_EQ(stored_sections(restorable(event, "", 1)), event);
}

}  // namespace
}  // namespace evenkeel::eventhubs
