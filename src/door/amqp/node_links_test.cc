#include "door/amqp/node_links.h"

#include <gtest/gtest.h>

#include "door/amqp/link_fixture.h"

namespace evenkeel::door {
namespace {

using Kind = eventhubs::Address::Kind;

Replies& replies_on(LinkFixture& door, amqp::Link& link) {
    door.links().add(link, std::make_unique<Replies>(door, door.nodes, link, Kind::management));
    return *LinkTable::user_of(link)->replies();
}

// The client takes so many messages from now on.
void grant(LinkFixture& door, std::uint32_t credit) {
    door.frame(amqp::Flow{1, 1000, 1, 1000, 0, 0, credit, std::nullopt, false, false});
}

std::vector<std::string> payloads(LinkFixture& door) {
    std::vector<std::string> all;
    for (const auto& frame : door.frames()) {
        if (!frame.payload.empty()) all.push_back(frame.payload);
    }
    return all;
}

Buffer bytes_of(std::string_view text) {
    const ByteView bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

TEST(Replies, wait_for_the_credit_of_the_client) {
    LinkFixture door;
    amqp::Link& link = door.attach(amqp::Role::receiver);
    Replies& replies = replies_on(door, link);

    replies.push(bytes_of("one"));
    replies.push(bytes_of("three"));
    EXPECT_EQ(door.nodes.reply_bytes(), 8u);
    EXPECT_TRUE(payloads(door).empty());
    grant(door, 1);
    replies.on_credit();

    EXPECT_EQ(payloads(door), std::vector<std::string>{"one"});
    EXPECT_EQ(door.nodes.reply_bytes(), 5u);
}

TEST(Replies, drop_the_oldest_for_a_client_that_reads_none) {
    LinkFixture door;
    amqp::Link& link = door.attach(amqp::Role::receiver);
    Replies& replies = replies_on(door, link);
    for (std::size_t i = 0; i <= Replies::waiting_max; ++i) {
        replies.push(bytes_of(std::to_string(1000 + i)));
    }

    grant(door, 1);
    replies.on_credit();

    EXPECT_EQ(payloads(door), std::vector<std::string>{"1001"});
    EXPECT_TRUE(door.closed.empty());
}

TEST(Replies, close_a_connection_for_which_too_many_bytes_wait) {
    LinkFixture door;
    amqp::Link& link = door.attach(amqp::Role::receiver);
    Replies& replies = replies_on(door, link);

    for (int i = 0; i < 3; ++i) replies.push(Buffer(std::size_t{400} << 10));

    EXPECT_EQ(door.closed, std::vector<std::string>{"amqp:resource-limit-exceeded"});
}

TEST(Replies, are_not_counted_any_more_when_their_link_goes) {
    LinkFixture door;
    amqp::Link& link = door.attach(amqp::Role::receiver);
    replies_on(door, link).push(bytes_of("one"));

    door.links().remove(link);

    EXPECT_EQ(door.nodes.reply_bytes(), 0u);
}

TEST(Requests, end_the_link_of_a_client_that_sends_none) {
    LinkFixture door;
    amqp::Link& link = door.attach();
    door.links().add(link, std::make_unique<Requests>(door, door.nodes, link, Kind::cbs));
    door.frames();
    const Buffer nonsense = bytes_of("no message");
    amqp::Delivery delivery;
    delivery.bytes = nonsense;
    delivery.settled = true;

    LinkTable::user_of(link)->on_delivery(delivery);

    const auto detached = amqp::all<amqp::Detach>(door.frames());
    ASSERT_EQ(detached.size(), 1u);
    EXPECT_EQ(detached[0].error->name, "amqp:decode-error");
    EXPECT_TRUE(door.links().empty());
}

}  // namespace
}  // namespace evenkeel::door
