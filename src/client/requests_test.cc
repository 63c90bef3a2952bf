#include "client/requests.h"

#include <gtest/gtest.h>

#include "amqp/message.h"
#include "base/time_point.h"

namespace evenkeel::client {
namespace {

using amqp::Buffer;
using amqp::Encoder;

Buffer reply_to(std::uint64_t id, std::int32_t status, const Buffer& body) {
    Buffer correlation, properties, message;
    Encoder(correlation).string(std::to_string(id));
    Encoder encoder(properties);
    const auto map = encoder.begin_map();
    encoder.string("status-code");
    encoder.int_(status);
    encoder.string("status-description");
    encoder.string("because");
    encoder.string("error-condition");
    encoder.symbol("amqp:not-found");
    encoder.end(map, 6);
    amqp::encode_response(correlation, properties, body, message);
    return message;
}

TEST(NodeRequests, put_a_token_for_an_audience) {
    const std::string token = "SharedAccessSignature sr=x";
    const auto request = put_token("sb://h/homes", Secret(token), WallTime{5});

    const auto message = encode_request(request, 7, "replies");
    const auto decoded = amqp::decode_request(message).value();

    EXPECT_EQ(decoded.reply_to, "replies");
    EXPECT_EQ(decoded.text, token);
    EXPECT_EQ(amqp::text_in(decoded.properties, "operation"), "put-token");
    EXPECT_EQ(amqp::text_in(decoded.properties, "type"), "servicebus.windows.net:sastoken");
    EXPECT_EQ(amqp::text_in(decoded.properties, "name"), "sb://h/homes");
    EXPECT_EQ(amqp::integer_in(decoded.properties, "expiration"), 5);
}

TEST(NodeRequests, put_any_other_token_as_a_json_web_token) {
    const auto request = put_token("sb://h/homes", Secret("eyJ0eXAi.e30.c2ln"), WallTime{5});

    const auto message = encode_request(request, 7, "replies");
    const auto decoded = amqp::decode_request(message).value();

    EXPECT_EQ(decoded.text, "eyJ0eXAi.e30.c2ln");
    EXPECT_EQ(amqp::text_in(decoded.properties, "type"), "jwt");
}

TEST(NodeRequests, read_a_partition_with_a_token) {
    const auto message = encode_request(read_partition("homes", 3, Secret("t")), 1, "r");
    const auto decoded = amqp::decode_request(message).value();

    EXPECT_EQ(amqp::text_in(decoded.properties, "operation"), "READ");
    EXPECT_EQ(amqp::text_in(decoded.properties, "type"), "com.microsoft:partition");
    EXPECT_EQ(amqp::text_in(decoded.properties, "name"), "homes");
    EXPECT_EQ(amqp::text_in(decoded.properties, "partition"), "3");
    EXPECT_EQ(amqp::text_in(decoded.properties, "security_token"), "t");
}

TEST(NodeReplies, carry_the_id_of_their_request_and_a_status) {
    Buffer body;
    Encoder(body).string("x");

    const auto reply = decode_reply(reply_to(42, 404, body)).value();

    EXPECT_EQ(reply.id, 42u);
    EXPECT_FALSE(reply.ok());
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.condition, "amqp:not-found");
    EXPECT_EQ(reply.description, "because");
    EXPECT_EQ(reply.body, body);
}

TEST(NodeReplies, without_id_or_status_are_corrupt) {
    EXPECT_EQ(decode_reply({}).error().code, ErrorCode::corrupt);
    Buffer message;
    Encoder(message).string("x");
    EXPECT_EQ(decode_reply(message).error().code, ErrorCode::corrupt);
    message = reply_to(1, 200, {});
    for (std::size_t size = 0; size < message.size(); ++size) {
        const auto cut = decode_reply(ByteView(message).first(size));
        EXPECT_FALSE(cut.ok()) << size;
    }
}

TEST(NodeReplies, describe_an_event_hub_and_a_partition) {
    Buffer hub;
    Encoder encoder(hub);
    auto map = encoder.begin_map();
    encoder.string("name");
    encoder.string("homes");
    encoder.string("partition_count");
    encoder.int_(4);
    encoder.string("created_at");
    encoder.timestamp(99);
    encoder.end(map, 6);
    const auto properties = decode_event_hub(hub).value();
    EXPECT_EQ(properties.name, "homes");
    EXPECT_EQ(properties.partitions, 4u);
    EXPECT_EQ(wall_time(properties.created_time).milliseconds, 99);
    EXPECT_FALSE(decode_event_hub({}).ok());

    Buffer partition;
    Encoder second(partition);
    map = second.begin_map();
    second.string("partition");
    second.string("2");
    second.string("begin_sequence_number");
    second.long_(5);
    second.string("last_enqueued_sequence_number");
    second.long_(9);
    second.string("last_enqueued_offset");
    second.string("700");
    second.string("last_enqueued_time_utc");
    second.timestamp(-62135596800000);
    second.string("is_partition_empty");
    second.boolean(false);
    second.end(map, 12);
    const auto info = decode_partition(partition).value();
    EXPECT_EQ(info.partition, 2u);
    EXPECT_EQ(info.begin_sequence_number, 5);
    EXPECT_EQ(info.last_enqueued_sequence_number, 9);
    EXPECT_EQ(info.last_enqueued_offset, 700);
    EXPECT_EQ(info.last_enqueued_time, Timestamp());
    EXPECT_FALSE(info.is_empty);
    EXPECT_FALSE(decode_partition(hub).ok());
}

}  // namespace
}  // namespace evenkeel::client
