#include <gtest/gtest.h>

#include "amqp/codec.h"
#include "amqp/performatives.h"
#include "base/bytes.h"
#include "base/random.h"
#include "eventhubs/sections.h"
#include "eventhubs/value.h"
#include "support/seed.h"
#include <evenkeel/event.h>

namespace evenkeel {
namespace {

using namespace std::string_literals;
using std::chrono::milliseconds;

const Property all_kinds[] = {{"text", "hall"},
                              {"symbol", Symbol{"s"}},
                              {"int", 3},
                              {"long", std::int64_t{-4}},
                              {"ulong", ~std::uint64_t{0}},
                              {"double", 21.5},
                              {"warm", true},
                              {"none", {}},
                              {"at", Timestamp(milliseconds(77))}};

EventData full_event() {
    return {.body = "door opened",
            .content_type = "text/plain",
            .message_id = "m1",
            .correlation_id = std::uint64_t{9},
            .properties = all_kinds,
            .content_encoding = "identity",
            .subject = "doors",
            .to = "house",
            .reply_to = "answers",
            .group_id = "g",
            .group_sequence = 8,
            .reply_to_group_id = "rg",
            .user_id = as_bytes("anna"),
            .absolute_expiry_time = Timestamp(milliseconds(1000)),
            .creation_time = Timestamp(milliseconds(500))};
}

TEST(Event, reads_all_that_can_be_sent) {
    const EventBatch batch = EventBatch::of({full_event()});
    const EventData data = batch[0].data();

    EXPECT_EQ(batch[0].text(), "door opened");
    EXPECT_EQ(data.body, "door opened");
    EXPECT_EQ(batch[0].content_type(), "text/plain");
    EXPECT_EQ(batch[0].message_id().text(), "m1");
    EXPECT_EQ(std::get<std::uint64_t>(batch[0].correlation_id()), 9u);
    EXPECT_EQ(data.content_encoding, "identity");
    EXPECT_EQ(data.subject, "doors");
    EXPECT_EQ(data.to, "house");
    EXPECT_EQ(data.reply_to, "answers");
    EXPECT_EQ(data.group_id, "g");
    EXPECT_EQ(data.group_sequence, 8u);
    EXPECT_EQ(data.reply_to_group_id, "rg");
    EXPECT_EQ(as_text(data.user_id), "anna");
    EXPECT_EQ(data.absolute_expiry_time, Timestamp(milliseconds(1000)));
    EXPECT_EQ(data.creation_time, Timestamp(milliseconds(500)));
    EXPECT_TRUE(batch[0].check().ok());
}

TEST(Event, reads_typed_properties_in_their_order) {
    const EventBatch batch = EventBatch::of({full_event()});
    const Properties properties = batch[0].properties();

    std::size_t at = 0;
    for (const Property& property : properties) {
        ASSERT_LT(at, std::size(all_kinds));
        EXPECT_EQ(property.name, all_kinds[at].name);
        EXPECT_EQ(property.value.index(), all_kinds[at].value.index()) << property.name;
        ++at;
    }
    EXPECT_EQ(at, std::size(all_kinds));
    EXPECT_EQ(properties["text"].text(), "hall");
    EXPECT_EQ(properties["int"].integer(), 3);
    EXPECT_EQ(properties["double"].number(), 21.5);
    EXPECT_TRUE(properties["none"].is_null());
    EXPECT_TRUE(properties["unknown"].is_null());
    EXPECT_EQ(properties["ulong"].integer(), std::nullopt) << "it does not fit";
}

TEST(Event, without_sections_is_empty) {
    const Event event;

    EXPECT_EQ(event.text(), "");
    EXPECT_TRUE(event.properties().empty());
    EXPECT_TRUE(event.annotations().empty());
    EXPECT_TRUE(event.message_id().is_null());
    EXPECT_TRUE(event.value().is_null());
    EXPECT_TRUE(event.section(Section::data).empty());
    EXPECT_EQ(event.data().creation_time, std::nullopt);
    EXPECT_TRUE(event.check().ok());
}

// Annotations with the hub's own among them, as a hub delivers them, and a value as the body.
amqp::Buffer annotated() {
    amqp::Buffer bytes;
    amqp::Encoder encoder(bytes);
    encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::message_annotations));
    const auto map = encoder.begin_map();
    encoder.symbol("x-opt-sequence-number");
    encoder.long_(5);
    encoder.symbol("x-opt-publisher");
    encoder.string("anna");
    encoder.ulong(3);  // a key that is no text
    encoder.null();
    encoder.symbol("x-opt-offset");
    encoder.string("99");
    encoder.symbol("trace");
    encoder.string("t1");
    encoder.end(map, 10);
    encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::value));
    encoder.string("a value");
    return bytes;
}

TEST(Event, shows_annotations_without_those_that_are_its_members) {
    const amqp::Buffer bytes = annotated();
    Event event;
    event.sections = bytes;

    std::string names;
    for (const Property& property : event.annotations()) names += std::string(property.name) + " ";

    EXPECT_EQ(names, "x-opt-publisher trace ");
    EXPECT_EQ(event.annotations()["trace"].text(), "t1");
    EXPECT_TRUE(event.annotations()["x-opt-offset"].is_null());
    EXPECT_EQ(event.value().text(), "a value");
    EXPECT_EQ(event.text(), "");
    EXPECT_FALSE(event.section(Section::message_annotations).empty());
    EXPECT_TRUE(event.section(Section::footer).empty());
}

TEST(Event, that_is_cut_anywhere_reads_as_less) {
    const EventBatch whole = EventBatch::of({full_event()});
    std::size_t malformed = 0;
    for (std::size_t size = 0; size < whole[0].sections.size(); ++size) {
        // In memory of its own, so that a read beyond the end is found.
        const std::vector<std::byte> bytes(
            whole[0].sections.begin(),
            whole[0].sections.begin() + static_cast<std::ptrdiff_t>(size));
        Event event = whole[0];
        event.sections = bytes;
        EXPECT_EQ(event.text(), "") << size;
        for (const Property& property : event.properties()) EXPECT_FALSE(property.name.empty());
        const std::string_view subject = event.data().subject;
        EXPECT_TRUE(subject.empty() || subject == "doors") << size;
        if (!event.check().ok()) ++malformed;
    }
    EXPECT_EQ(malformed, whole[0].sections.size() - 3) << "all but the cuts between two sections";
}

TEST(Event, reads_any_bytes_without_leaving_them) {
    Random random(test::test_seed());
    const EventBatch whole = EventBatch::of({full_event()});
    for (int round = 0; round < 50'000; ++round) {
        std::vector<std::byte> bytes(whole[0].sections.begin(), whole[0].sections.end());
        for (std::uint64_t i = 0; i <= random.below(4); ++i) {
            bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
        }
        bytes.resize(random.below(bytes.size() + 1));
        const auto is_inside = [&](Bytes part) {
            return part.empty() || (part.data() >= bytes.data() &&
                                    part.data() + part.size() <= bytes.data() + bytes.size());
        };
        Event event;
        event.sections = bytes;
        const EventData data = event.data();
        ASSERT_TRUE(is_inside(event.body()) && is_inside(as_bytes(data.subject)) &&
                    is_inside(as_bytes(data.message_id.text())) && is_inside(data.user_id));
        std::size_t count = 0;
        for (const Property& property : event.properties()) {
            ASSERT_TRUE(is_inside(as_bytes(property.name)));
            ASSERT_TRUE(is_inside(as_bytes(property.value.text())));
            ASSERT_LE(++count, bytes.size());
        }
        for (const Property& property : event.annotations()) {
            ASSERT_TRUE(is_inside(as_bytes(property.name)));
        }
        (void)event.check();
    }
}

TEST(EventBatch, makes_events_for_tests_of_handlers) {
    const EventBatch batch =
        EventBatch::of({{.body = "a"}, {.body = "b"}}, {.first_sequence_number = 7,
                                                        .enqueued_time = Timestamp(milliseconds(5)),
                                                        .partition_key = "home-17"});

    ASSERT_EQ(batch.size(), 2u);
    EXPECT_EQ(batch[0].sequence_number, 7);
    EXPECT_EQ(batch[1].sequence_number, 8);
    EXPECT_LT(batch[0].offset, batch[1].offset);
    EXPECT_EQ(batch[1].enqueued_time, Timestamp(milliseconds(5)));
    EXPECT_EQ(batch[1].partition_key, "home-17");
    EXPECT_EQ(batch[1].text(), "b");
}

TEST(EventBatch, copy_outlives_what_it_was_copied_from) {
    EventBatch copy;
    {
        const EventBatch first = EventBatch::of({full_event()}, {.partition_key = "k"});
        copy = EventBatch::copy_of(first.events());
        copy.append(EventBatch::copy_of(EventBatch::of({{.body = "later"}}).events()));
    }

    ASSERT_EQ(copy.size(), 2u);
    EXPECT_EQ(copy[0].text(), "door opened");
    EXPECT_EQ(copy[0].partition_key, "k");
    EXPECT_EQ(copy[0].properties()["text"].text(), "hall");
    EXPECT_EQ(copy[1].text(), "later");
    EXPECT_TRUE(EventBatch::copy_of({}).empty());
}

}  // namespace
}  // namespace evenkeel
