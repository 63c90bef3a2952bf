#include "eventhubs/arrival.h"

#include <gtest/gtest.h>

#include "amqp/message.h"
#include "base/time_point.h"

namespace evenkeel::eventhubs {
namespace {

using amqp::Buffer;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

struct Annotations {
    bool sequence = true;
    bool time = true;
    std::string offset = "640";
};

Buffer delivered(const Annotations& annotations) {
    Buffer message;
    Encoder encoder(message);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::delivery_annotations));
    auto map = encoder.begin_map();
    encoder.symbol("last_enqueued_sequence_number");
    encoder.long_(12);
    encoder.symbol("last_enqueued_offset");
    encoder.string("900");
    encoder.symbol("last_enqueued_time_utc");
    encoder.timestamp(77);
    encoder.symbol("runtime_info_retrieval_time_utc");
    encoder.timestamp(78);
    encoder.end(map, 8);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::message_annotations));
    map = encoder.begin_map();
    encoder.symbol(annotations.sequence ? "x-opt-sequence-number" : "other");
    encoder.long_(7);
    encoder.symbol("x-opt-offset");
    encoder.string(annotations.offset);
    encoder.symbol(annotations.time ? "x-opt-enqueued-time" : "another");
    encoder.timestamp(70);
    encoder.symbol("x-opt-partition-key");
    encoder.string("home-17");
    encoder.end(map, 8);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
    encoder.binary(as_bytes("body"));
    return message;
}

TEST(Arrival, has_number_offset_time_key_and_last_enqueued) {
    const Buffer message = delivered({});

    const auto arrival = decode_arrival(message).value();

    EXPECT_EQ(arrival.event.sequence_number, 7);
    EXPECT_EQ(arrival.event.offset, 640);
    EXPECT_EQ(wall_time(arrival.event.enqueued_time).milliseconds, 70);
    EXPECT_EQ(arrival.event.partition_key, "home-17");
    EXPECT_EQ(arrival.event.sections.size(), message.size());
    ASSERT_TRUE(arrival.last_enqueued.has_value());
    EXPECT_EQ(arrival.last_enqueued->sequence_number, 12);
    EXPECT_EQ(arrival.last_enqueued->offset, 900);
    EXPECT_EQ(wall_time(arrival.last_enqueued->enqueued_time).milliseconds, 77);
    EXPECT_EQ(wall_time(arrival.last_enqueued->retrieved_time).milliseconds, 78);
}

// As our hub sends it: nothing but message annotations, then the event's own sections.
Buffer sent_by_hub(bool has_more = false) {
    Buffer message;
    Encoder encoder(message);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::message_annotations));
    const auto map = encoder.begin_map();
    encoder.symbol("x-opt-sequence-number");
    encoder.long_(700'000'000'000);
    encoder.symbol("x-opt-offset");
    encoder.string("640");
    encoder.symbol("x-opt-enqueued-time");
    encoder.timestamp(1'790'000'000'000);
    encoder.symbol("x-opt-partition-key");
    encoder.string("home-17");
    if (has_more) {
        encoder.symbol("x-mine");
        encoder.string("anything");
    }
    encoder.end(map, has_more ? 10 : 8);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
    encoder.binary(as_bytes("body"));
    return message;
}

TEST(Arrival, reads_the_usual_layout_as_it_reads_any_other) {
    for (const bool has_more : {false, true}) {
        const Buffer message = sent_by_hub(has_more);

        const auto arrival = decode_arrival(message).value();

        EXPECT_EQ(arrival.event.sequence_number, 700'000'000'000);
        EXPECT_EQ(arrival.event.offset, 640);
        EXPECT_EQ(wall_time(arrival.event.enqueued_time).milliseconds, 1'790'000'000'000);
        EXPECT_EQ(arrival.event.partition_key, "home-17");
        EXPECT_EQ(arrival.event.sections.size(), message.size());
        Event event;
        EXPECT_EQ(decode_usual_arrival(message, event), !has_more);
    }
}

TEST(Arrival, reads_no_further_than_the_bytes_that_came) {
    const Buffer message = sent_by_hub();
    for (std::size_t size = 0; size < message.size(); ++size) {
        const Buffer cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
        const auto arrival = decode_arrival(cut);
        if (!arrival.ok()) continue;
        EXPECT_EQ(arrival->event.partition_key, "home-17") << "cut between two sections";
        EXPECT_EQ(arrival->event.sections.size(), size);
    }
}

TEST(Arrival, takes_an_offset_that_is_no_number_as_unknown) {
    EXPECT_EQ(decode_arrival(delivered({.offset = "2:640:7"})).value().event.offset, -1);
}

TEST(Arrival, is_corrupt_without_number_or_time_or_when_cut) {
    EXPECT_EQ(decode_arrival(delivered({.sequence = false})).error().code, ErrorCode::corrupt);
    EXPECT_EQ(decode_arrival(delivered({.time = false})).error().code, ErrorCode::corrupt);
    EXPECT_EQ(decode_arrival({}).error().code, ErrorCode::corrupt);
    const Buffer message = delivered({});
    EXPECT_FALSE(decode_arrival(ByteView(message).first(100)).ok());
}

TEST(Arrival, turns_positions_into_filters) {
    EXPECT_EQ(filter_of(Position::earliest()), "amqp.annotation.x-opt-offset > '-1'");
    EXPECT_EQ(filter_of(Position::latest()), "amqp.annotation.x-opt-offset > '@latest'");
    EXPECT_EQ(filter_of(Position::at_offset(5)), "amqp.annotation.x-opt-offset >= '5'");
    EXPECT_EQ(filter_of(Position::after_sequence(5)),
              "amqp.annotation.x-opt-sequence-number > '5'");
    EXPECT_EQ(filter_of(Position::at_time(time_point({5}))),
              "amqp.annotation.x-opt-enqueued-time >= '5'");
}

TEST(Arrival, names_epoch_and_reader_in_the_link_properties) {
    EXPECT_TRUE(reader_properties({}).empty());

    const Buffer properties = reader_properties({.epoch = 4, .name = "me"});

    EXPECT_EQ(amqp::integer_in(properties, "com.microsoft:epoch"), 4);
    EXPECT_EQ(amqp::text_in(properties, "com.microsoft:receiver-name"), "me");
}

}  // namespace
}  // namespace evenkeel::eventhubs
