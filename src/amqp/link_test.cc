#include "amqp/link.h"

#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "amqp/engine_fixture.h"
#include "support/seed.h"

namespace evenkeel::amqp {
namespace {

int send_all(Link& link) {
    int sent = 0;
    for (; link.can_send(); ++sent) link.send({}, as_bytes("x"), 0, true);
    return sent;
}

TEST(Serial, numbers_are_compared_around_the_wrap) {
    EXPECT_TRUE(serial_less(0xffffffff, 0));
    EXPECT_FALSE(serial_less(0, 0xffffffff));
    EXPECT_FALSE(serial_less(5, 5));
    EXPECT_EQ(serial_distance(0xfffffffe, 3), 5u);
    EXPECT_EQ(serial_distance(3, 0xfffffffe), 0u);
}

TEST(Link, is_accepted_with_name_handle_and_role_of_ours) {
    Server server;
    server.open().begin();

    server.frame(0, an_attach({.name = "n", .handle = 9, .role = Role::receiver}));

    const auto attach = all<Attach>(server.frames()).at(0);
    EXPECT_EQ(attach.name, "n");
    EXPECT_EQ(attach.handle, 0u);
    EXPECT_EQ(attach.role, Role::sender);
    EXPECT_EQ(attach.initial_delivery_count, 0u);
    EXPECT_TRUE(attach.source.present);
}

TEST(Link, is_refused_by_an_attach_to_nothing_and_a_detach) {
    Server server;
    server.recorder.attach = [](Link& link) { link.refuse({"amqp:not-found", "no such hub"}); };
    server.open().begin();
    for (const Role role : {Role::sender, Role::receiver}) {
        server.frame(0, an_attach({.handle = 3, .role = role}));

        const auto frames = server.frames();
        ASSERT_EQ(frames.size(), 2u);
        const auto& attach = std::get<Attach>(*frames[0].body);
        const auto& detach = std::get<Detach>(*frames[1].body);
        EXPECT_FALSE(attach.source.present);
        EXPECT_FALSE(attach.target.present);
        EXPECT_EQ(attach.role == Role::sender, attach.initial_delivery_count.has_value());
        EXPECT_EQ(detach.handle, attach.handle);
        EXPECT_TRUE(detach.closed);
        EXPECT_EQ(detach.error->name, "amqp:not-found");

        // What was under way does no harm, and the handle is free after the peer's detach.
        if (role == Role::receiver) server.flow(3, 100);
        if (role == Role::sender) server.frame(0, a_transfer(3, 0), "x");
        server.frame(0, Detach{3, true, std::nullopt});
        EXPECT_TRUE(server.frames().empty());
        EXPECT_TRUE(server.recorder.received.empty());
        EXPECT_TRUE(server.recorder.detached.empty());
    }
}

TEST(Link, may_be_answered_later_and_a_detach_before_that_is_understood) {
    Server server;
    std::vector<Link*> waiting;
    server.recorder.attach = [&](Link& link) { waiting.push_back(&link); };
    server.open().begin();
    for (std::uint32_t i = 0; i < 3; ++i) server.frame(0, an_attach({.handle = i}));
    EXPECT_EQ(server.output(), "");
    server.recorder.accept(*waiting[0]);
    EXPECT_EQ(all<Attach>(server.frames()).size(), 1u);

    server.frame(0, Detach{1, true, std::nullopt});
    waiting[2]->detach(Condition{"amqp:x", ""});

    const auto frames = server.frames();
    ASSERT_EQ(frames.size(), 4u) << "clients take no detach for what was not attached";
    EXPECT_TRUE(std::holds_alternative<Attach>(*frames[0].body));
    EXPECT_TRUE(std::holds_alternative<Detach>(*frames[1].body));
    EXPECT_TRUE(std::holds_alternative<Attach>(*frames[2].body));
    EXPECT_TRUE(std::holds_alternative<Detach>(*frames[3].body));
    EXPECT_EQ(server.recorder.detached.size(), 1u);
}

TEST(Link, that_the_peer_detaches_is_answered_and_its_handle_used_again) {
    Server server;
    server.open().begin();
    for (int round = 0; round < 3; ++round) {
        server.attach({.name = "n", .handle = 4});
        server.frame(0, Detach{4, round != 1, Condition{"amqp:x", ""}});
        const auto detach = all<Detach>(server.frames()).at(0);
        EXPECT_EQ(detach.handle, 0u);
        EXPECT_EQ(detach.closed, round != 1);
        EXPECT_FALSE(detach.error);
        EXPECT_EQ(server.recorder.detached.back().second->name, "amqp:x");
    }
    EXPECT_EQ(server.recorder.detached.size(), 3u);
}

TEST(Link, that_we_detach_is_silent_until_the_peer_has_answered) {
    Server server;
    server.open().begin();
    Link& receiver = server.attach({.handle = 0});
    Link& sender = server.attach({.name = "s", .handle = 1, .role = Role::receiver});
    server.flow(1, 10);
    server.frame(0, a_transfer(0, 0, true), "half");

    receiver.detach(Condition{"amqp:x", "why"});
    sender.detach(std::nullopt);
    EXPECT_EQ(all<Detach>(server.frames()).at(0).error->name, "amqp:x");
    receiver.detach(std::nullopt);
    receiver.grant(5);
    receiver.settle(0, {});
    sender.drained();
    EXPECT_FALSE(sender.can_send());
    server.frame(0, a_transfer(0, 0), "rest");
    server.flow(1, 5, 0, true);
    EXPECT_EQ(server.output(), "");
    EXPECT_TRUE(server.recorder.received.empty());

    server.frame(0, Detach{0, true, std::nullopt});
    server.frame(0, Detach{1, true, std::nullopt});
    EXPECT_EQ(server.output(), "");
    EXPECT_TRUE(server.recorder.detached.empty());
    server.attach({.handle = 0});
    EXPECT_FALSE(server.engine.is_closed());
}

TEST(Link, of_a_client_may_be_detached_before_the_answer) {
    Pair pair(test::test_seed());
    Session& session = pair.session();
    Link& link = pair.client.attach(session, an_attach({.name = "n"}));
    link.detach(std::nullopt);
    pair.run();

    pair.client.attach(session, an_attach({.name = "n"}));
    pair.run();

    EXPECT_EQ(pair.at_client.links.size(), 1u);
    EXPECT_EQ(pair.at_server.links.size(), 1u);
    EXPECT_EQ(pair.at_server.detached.size(), 1u);
}

TEST(Link, of_a_client_hears_that_it_was_refused) {
    Pair pair(test::test_seed());
    pair.at_server.attach = [](Link& link) { link.refuse({"amqp:not-found", "no"}); };
    pair.client.attach(pair.session(), an_attach({.name = "n", .role = Role::receiver}));
    pair.run();
    EXPECT_EQ(pair.at_client.detached.at(0).second->name, "amqp:not-found");
    EXPECT_TRUE(pair.at_client.links.empty());
}

// AMQP-2
TEST(Credit, is_never_exceeded) {
    for (const std::uint32_t credit : {0u, 1u, 7u}) {
        Server server;
        server.open().begin();
        Link& link = server.attach({.role = Role::receiver});
        EXPECT_FALSE(link.can_send()) << "nothing was granted yet";
        server.flow(0, credit);
        EXPECT_EQ(send_all(link), static_cast<int>(credit));
        EXPECT_EQ(all<Transfer>(server.frames()).size(), credit);
    }
}

TEST(Credit, may_be_lowered_and_piled_up_and_counts_what_is_under_way) {
    Server server;
    server.open().begin();
    Link& link = server.attach({.role = Role::receiver});
    server.flow(0, 10);
    for (int i = 0; i < 3; ++i) link.send({}, as_bytes("x"), 0, true);

    server.flow(0, 5, 1);  // it had seen one: two of the five are gone
    EXPECT_EQ(link.credit(), 3u);
    server.flow(0, 1, 0);  // fewer than are under way
    EXPECT_EQ(link.credit(), 0u);
    server.flow(0, 0, 3);
    EXPECT_FALSE(link.can_send());
    for (const std::uint32_t credit : {300u, 600u, 900u}) server.flow(0, credit, 3);
    EXPECT_EQ(send_all(link), 900);
    server.flow(0, 5, 2000);  // it claims to have seen what was never sent
    EXPECT_EQ(link.credit(), 5u);
    server.flow(0, 0xffffffff, 903);
    EXPECT_EQ(link.credit(), 0xffffffffu);
}

TEST(Credit, without_delivery_count_counts_from_the_first_message) {
    Server server;
    server.recorder.attach = [&](Link& link) {
        Attach reply;
        reply.initial_delivery_count = 0xfffffffd;
        server.recorder.accept(link, reply);
    };
    server.open().begin();
    Link& link = server.attach({.role = Role::receiver});

    server.frame(0, Flow{1, 1000, 1, 1000, 0, std::nullopt, 7, std::nullopt, false, false});

    EXPECT_EQ(link.credit(), 7u);
}

TEST(Credit, is_given_back_when_the_peer_drains) {
    Server server;
    server.open().begin();
    Link& link = server.attach({.role = Role::receiver});
    server.recorder.has_credit = [](Link& sender) {
        if (sender.can_send()) sender.send({}, as_bytes("x"), 0, true);
        if (sender.drain()) sender.drained();
    };

    server.flow(0, 10, 0, true);

    const auto frames = server.frames();
    EXPECT_EQ(all<Transfer>(frames).size(), 1u);
    const auto flow = all<Flow>(frames).at(0);
    EXPECT_EQ(flow.delivery_count, 10u);
    EXPECT_EQ(flow.link_credit, 0u);
    EXPECT_TRUE(flow.drain);
    EXPECT_FALSE(link.drain());
    EXPECT_FALSE(link.can_send());
    server.flow(0, 2, 10);
    EXPECT_TRUE(link.can_send() || link.credit() == 1) << "and may be granted again";
}

TEST(Credit, that_the_sender_gave_back_is_no_longer_granted) {
    Server server;
    server.open().begin();
    Link& link = server.attach({.initial_count = 0xfffffffe});
    EXPECT_EQ(link.granted(), 100u);
    Flow flow;
    flow.handle = 0;
    flow.delivery_count = 5;  // seven ahead of where it began
    server.frame(0, flow);
    EXPECT_EQ(link.granted(), 93u);
    flow.delivery_count = 0;  // stale
    server.frame(0, flow);
    EXPECT_EQ(link.granted(), 93u);
}

TEST(Credit, is_not_asked_of_a_sender_that_is_early) {
    Server server;
    server.recorder.credit = 0;
    server.open().begin();
    Link& link = server.attach({});

    server.frame(0, a_transfer(0, 0), "early");

    EXPECT_EQ(server.recorder.received.size(), 1u);
    EXPECT_EQ(link.granted(), 0u);
}

TEST(Link, sends_behind_a_head_as_it_sends_otherwise) {
    const std::string prefix(100, 'p');
    for (const std::size_t size : {0U, 100U, 2000U}) {  // the last does not fit one frame
        const std::string body(size, 'b');
        std::array<std::string, 2> wire;
        for (const bool behind_head : {false, true}) {
            Server server;
            server.open(512).begin();
            server.frame(0, an_attach({.handle = 3, .role = Role::receiver}));
            server.flow(3, 100);
            server.output();
            Link& link = *server.recorder.links.at(0);
            for (int i = 0; i < 2; ++i) {
                std::string framed = std::string(Link::head_bytes, 'h') + prefix;
                behind_head ? link.send_behind_head(std::as_writable_bytes(std::span(framed)),
                                                    as_bytes(body))
                            : link.send(as_bytes(prefix), as_bytes(body), 0, true);
            }
            EXPECT_EQ(link.credit(), 98u);
            wire[behind_head ? 1 : 0] = server.output();
        }
        EXPECT_GT(wire[0].size(), 2 * (prefix.size() + size));
        EXPECT_EQ(wire[0], wire[1]) << size;
    }
}

TEST(Numbers, of_deliveries_transfers_and_counts_wrap) {
    constexpr std::uint32_t late = 0xfffffffd;
    ConnectionOptions options;
    options.first_transfer_id = late;
    Pair pair(test::test_seed(), options, options);
    pair.at_server.credit = 4;
    pair.at_server.delivery = [](Link& link, const Delivery& delivery) {
        link.settle(delivery.id, {DeliveryState::Kind::accepted, std::nullopt});
        if (link.granted() == 0) link.grant(4);
    };
    Attach attach = an_attach({.initial_count = late});
    Link& link = pair.client.attach(pair.session(), attach);
    pair.run();

    for (std::uint32_t i = 0; i < 10; ++i) {
        ASSERT_TRUE(link.can_send()) << i;
        EXPECT_EQ(link.send({}, as_bytes(std::to_string(i)), 0, false), late - 1 + i);
        pair.run();
    }

    ASSERT_EQ(pair.at_server.received.size(), 10u);
    EXPECT_EQ(pair.at_server.received[9].bytes, "9");
    ASSERT_EQ(pair.at_client.dispositions.size(), 10u);
    EXPECT_EQ(pair.at_client.dispositions[9].first, late - 1 + 9);
    EXPECT_EQ(link.credit(), 2u);
}

}  // namespace
}  // namespace evenkeel::amqp
