#include "door/amqp/wire.h"

#include <gtest/gtest.h>

#include "door/amqp/link_fixture.h"

namespace evenkeel::door {
namespace {

TEST(Wire, gives_bytes_to_the_engine_and_writes_its_answer) {
    LinkFixture door;
    door.wire().read();

    door.client.give(amqp::frame_of(0, amqp::encoded(amqp::an_attach({.name = "l"}))));

    EXPECT_EQ(door.recorder.links.size(), 1u);
    EXPECT_EQ(amqp::all<amqp::Attach>(amqp::frames_in(door.client.got)).size(), 1u);
    EXPECT_TRUE(door.client.reading) << "it reads on";
}

TEST(Wire, reads_nothing_while_its_owner_takes_none) {
    LinkFixture door;
    door.takes_bytes = false;
    door.wire().read();
    EXPECT_FALSE(door.client.reading);

    door.takes_bytes = true;
    door.wire().flush_soon();
    door.run();

    EXPECT_TRUE(door.client.reading);
}

TEST(Wire, has_no_room_while_a_write_is_under_way) {
    LinkFixture door;
    const std::size_t all = door.wire().room();
    EXPECT_GT(all, 0u);
    door.attach();
    EXPECT_LT(door.wire().room(), all) << "an answer waits";

    door.wire().flush();
    EXPECT_FALSE(door.wire().has_room());
    door.client.take();

    EXPECT_EQ(door.wire().room(), all);
}

TEST(Wire, gives_room_in_the_order_in_which_links_ran_out_of_it) {
    LinkFixture door;
    amqp::Link& first = door.attach();
    amqp::Link& second = door.attach();
    amqp::Link& third = door.attach();
    door.wire().flush();
    for (amqp::Link* const link : {&second, &first, &third, &second}) {
        door.wire().wait_for_room(*link);
    }
    door.wire().forget(first);

    door.client.take();

    EXPECT_EQ(door.has_room, (std::vector<amqp::Link*>{&second, &third}));
}

TEST(Wire, ends_its_side_when_the_close_was_sent) {
    LinkFixture door;
    door.connection.close(std::nullopt);
    door.frame(amqp::Close{});

    door.wire().flush();
    EXPECT_FALSE(door.client.is_ended) << "the close is under way";
    door.client.take();

    EXPECT_TRUE(door.client.is_ended);
    EXPECT_EQ(door.all_sent, 1);
    ASSERT_TRUE(door.client.reading) << "it waits for the client's end";
    door.client.give({});
    EXPECT_EQ(door.lost, std::vector<std::string>{"the client ended the connection"});
}

TEST(Wire, tells_of_a_client_that_takes_nothing) {
    LinkFixture door;
    door.attach();
    door.wire().flush();
    EXPECT_FALSE(door.wire().check_stall()) << "the write has just begun";
    EXPECT_TRUE(door.wire().check_stall());

    door.client.take();

    EXPECT_FALSE(door.wire().check_stall());
}

TEST(Wire, does_nothing_once_it_is_closed) {
    LinkFixture door;
    door.attach();

    door.wire().close();
    door.wire().flush();
    door.wire().read();

    EXPECT_TRUE(door.client.is_closed);
    EXPECT_FALSE(door.client.reading);
    EXPECT_FALSE(door.client.writing);
}

}  // namespace
}  // namespace evenkeel::door
