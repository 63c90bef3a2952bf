#include "amqp/session.h"

#include <gtest/gtest.h>

#include "amqp/engine_fixture.h"
#include "support/seed.h"

namespace evenkeel::amqp {
namespace {

TEST(Session, is_answered_on_a_channel_of_ours_with_the_usual_numbers) {
    Server server;
    server.open();

    server.frame(7, Begin{std::nullopt, 5, 2048, 100, 0xffffffff});

    const auto frames = server.frames();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].channel, 0);
    const auto begin = std::get<Begin>(*frames[0].body);
    EXPECT_EQ(begin.remote_channel, 7);
    EXPECT_EQ(begin.next_outgoing_id, 1u);
    EXPECT_EQ(begin.incoming_window, 5000u);
    EXPECT_EQ(begin.outgoing_window, 2048u);
    EXPECT_EQ(begin.handle_max, 255u);
}

TEST(Session, cannot_begin_on_a_channel_that_is_used_or_too_high) {
    Server used;
    used.open().begin(3);
    used.frame(3, Begin{});
    EXPECT_EQ(used.close_condition(), condition::not_allowed);

    Server high;
    high.open().frame(5000, Begin{});
    EXPECT_EQ(high.close_condition(), condition::framing_error);

    Server answer;
    answer.open().frame(0, Begin{0, 1, 1, 1, 1});
    EXPECT_EQ(answer.close_condition(), condition::not_allowed) << "of a begin we never sent";
}

TEST(Session, that_the_peer_ended_frees_its_channel) {
    Server server;
    server.open().begin(1);
    server.attach({}, 1);

    server.frame(1, End{Condition{"amqp:x", "why"}});

    EXPECT_EQ(all<End>(server.frames()).size(), 1u);
    EXPECT_EQ(server.recorder.detached.at(0).second->name, "amqp:x");
    EXPECT_EQ(server.recorder.ended.at(0)->name, "amqp:x");
    server.frame(1, Detach{0, true, std::nullopt});
    server.frame(1, End{});
    EXPECT_EQ(server.output(), "");
    EXPECT_FALSE(server.engine.is_closed());
    server.frame(1, Begin{});
    EXPECT_EQ(all<Begin>(server.frames()).size(), 1u) << "used again at once";
}

TEST(Session, that_never_was_is_refused) {
    for (const auto& body : {encoded(an_attach({})), encoded(Flow{}), encoded(Transfer{}),
                             encoded(Disposition{}), encoded(Detach{}), encoded(End{})}) {
        Server server;
        server.open();
        server.receive(frame_of(9, body));
        EXPECT_EQ(server.close_condition(), condition::not_allowed);
    }
}

TEST(Session, that_we_end_takes_its_links_along_and_waits_for_the_peer) {
    Server server;
    server.open().begin();
    Link& link = server.attach({});

    link.session().end(Condition{"amqp:x", "why"});

    EXPECT_EQ(server.end_condition(), "amqp:x");
    EXPECT_EQ(server.recorder.detached.at(0).second->name, "amqp:x");
    server.frame(0, an_attach({.handle = 4}));
    server.frame(0, a_transfer(0, 0), "late");
    server.frame(0, Flow{});
    EXPECT_EQ(server.output(), "");
    server.frame(0, End{});
    EXPECT_EQ(server.output(), "");
    EXPECT_EQ(server.recorder.ended.size(), 1u) << "now it is gone";
    server.begin();
    EXPECT_FALSE(server.engine.is_closed());
}

TEST(Session, of_a_client_may_be_ended_before_the_answer) {
    Pair pair(test::test_seed());
    pair.run();
    pair.client.begin().end(std::nullopt);
    pair.run();
    Session& next = pair.client.begin();
    pair.run();
    EXPECT_FALSE(next.is_ended());
    EXPECT_FALSE(pair.client.is_closed());
    EXPECT_FALSE(pair.server.is_closed());
}

TEST(Session, refuses_an_attach_on_a_handle_that_is_used_or_too_high) {
    Server used;
    used.open().begin();
    used.attach({.handle = 4});
    used.frame(0, an_attach({.name = "other", .handle = 4}));
    EXPECT_EQ(used.end_condition(), condition::handle_in_use);
    EXPECT_EQ(used.recorder.detached.size(), 1u);
    EXPECT_FALSE(used.engine.is_closed());

    Server high;
    high.open().begin();
    high.frame(0, an_attach({.handle = 256}));
    EXPECT_EQ(high.close_condition(), condition::framing_error);
}

TEST(Session, does_not_exceed_the_peers_handle_and_channel_limits) {
    Server server;
    server.open();
    server.frame(0, Begin{std::nullopt, 1, 10, 10, 0});
    server.attach({.handle = 0});
    server.output();
    server.frame(0, an_attach({.name = "other", .handle = 1}));
    EXPECT_EQ(server.end_condition(), condition::resource_limit);

    Server channels;
    channels.receive(amqp_header_text);
    Open open;
    open.channel_max = 0;
    channels.frame(0, open);
    channels.begin(0);
    channels.frame(1, Begin{});
    EXPECT_EQ(channels.close_condition(), condition::resource_limit);
}

TEST(Session, ends_on_transfers_and_flows_for_handles_never_attached) {
    Server flow;
    flow.open().begin();
    flow.flow(9, 1);
    EXPECT_EQ(flow.end_condition(), condition::unattached_handle);

    Server transfer;
    transfer.open().begin();
    transfer.frame(0, a_transfer(9, 0), "x");
    EXPECT_EQ(transfer.end_condition(), condition::unattached_handle);

    Server detach;
    detach.open().begin();
    detach.frame(0, Detach{9, true, std::nullopt});
    EXPECT_EQ(detach.output(), "");
}

TEST(Session, takes_late_words_about_a_detached_link_in_good_part) {
    Server server;
    server.open().begin();
    server.attach({.handle = 2, .role = Role::receiver});
    server.frame(0, Detach{2, true, std::nullopt});
    server.output();

    server.flow(2, 10);
    server.frame(0, Disposition{Role::receiver, 0, 5, true, {}});
    server.frame(0, Detach{2, true, std::nullopt});
    EXPECT_EQ(server.output(), "");

    server.frame(0, a_transfer(2, 0), "lost");
    EXPECT_EQ(server.end_condition(), condition::unattached_handle) << "but loses no message";
}

TEST(Session, answers_echo_with_and_without_a_handle) {
    Server server;
    server.open().begin();
    server.attach({.handle = 5});
    Flow echo;
    echo.echo = true;
    echo.next_incoming_id = 1;
    server.frame(0, echo);
    const auto of_session = all<Flow>(server.frames());
    ASSERT_EQ(of_session.size(), 1u);
    EXPECT_FALSE(of_session[0].handle);
    EXPECT_FALSE(of_session[0].echo);

    echo.handle = 5;
    server.frame(0, echo);
    const auto of_link = all<Flow>(server.frames());
    ASSERT_EQ(of_link.size(), 1u);
    EXPECT_EQ(of_link[0].handle, 0u) << "ours";
    EXPECT_EQ(of_link[0].link_credit, 100u);
}

TEST(Session, refuses_a_disposition_that_is_upside_down) {
    Server server;
    server.open().begin();
    server.attach({.role = Role::receiver});
    server.frame(0, Disposition{Role::receiver, 0xfffffffe, 3, true, {}});
    EXPECT_EQ(server.recorder.dispositions.size(), 1u) << "numbers wrap";
    server.frame(0, Disposition{Role::sender, 5, 3, true, {}});
    EXPECT_EQ(server.output(), "");

    server.frame(0, Disposition{Role::receiver, 5, 3, true, {}});

    EXPECT_EQ(server.end_condition(), condition::invalid_field);
    EXPECT_EQ(server.recorder.dispositions.size(), 1u);
}

TEST(SessionWindow, of_one_lets_a_large_message_through_frame_by_frame) {
    Server server;
    server.open(512).begin(0, 1);
    Link& link = server.attach({.role = Role::receiver});
    server.flow(0, 10, 0, false, 1, 1);
    ASSERT_TRUE(link.can_send());
    const std::string body(2000, 'b');

    link.send(as_bytes("prefix"), as_bytes(body), 7, true);

    std::string got;
    std::uint32_t next = 1;
    for (int round = 0; round < 5; ++round) {
        const auto frames = server.frames();
        ASSERT_EQ(frames.size(), 1u) << round;
        EXPECT_LE(frames[0].bytes.size(), 512u);
        EXPECT_FALSE(link.can_send());
        const auto transfer = std::get<Transfer>(*frames[0].body);
        EXPECT_EQ(transfer.delivery_id.has_value(), round == 0);
        EXPECT_EQ(transfer.message_format.has_value(), round == 0);
        EXPECT_EQ(transfer.more, round < 4);
        got += frames[0].payload;
        ++next;
        Flow wider;
        wider.next_incoming_id = next;
        wider.incoming_window = 1;
        server.frame(0, wider);
    }
    EXPECT_EQ(got, "prefix" + body);
    EXPECT_TRUE(link.can_send());
    EXPECT_EQ(server.output(), "");
}

TEST(SessionWindow, counts_what_the_peer_had_not_seen_when_it_wrote) {
    Server server;
    server.open().begin(0, 10);
    Link& link = server.attach({.role = Role::receiver});
    server.flow(0, 100, 0, false, 10, 1);
    for (int i = 0; i < 4; ++i) link.send({}, as_bytes("x"), 0, true);

    Flow stale;
    stale.next_incoming_id = 2;  // it had seen one of the four
    stale.incoming_window = 5;
    server.frame(0, stale);

    int sent = 0;
    while (link.can_send()) {
        link.send({}, as_bytes("x"), 0, true);
        ++sent;
    }
    EXPECT_EQ(sent, 2);
}

TEST(SessionWindow, may_be_as_wide_as_numbers_go) {
    Server server;
    server.open().begin(0, 0xffffffff);
    Link& link = server.attach({.role = Role::receiver});
    for (const auto seen : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(1)}) {
        server.flow(0, 100, 0, false, 0xffffffff, seen);
        EXPECT_TRUE(link.can_send()) << "a stalled link: 2^32-1 was taken for a negative number";
    }
    server.flow(0, 100, 0, false, 10, 0x7fff0000);
    EXPECT_TRUE(link.can_send()) << "an id of what was never sent counts as the last that was";
}

TEST(SessionWindow, without_next_incoming_id_counts_from_our_first_transfer) {
    Server server;
    server.open().begin(0, 3);
    Link& link = server.attach({.role = Role::receiver});
    server.flow(0, 10, 0, false, 3, 1);
    link.send({}, as_bytes("x"), 0, true);
    link.send({}, as_bytes("x"), 0, true);

    server.flow(0, 10, 2, false, 3, std::nullopt);

    link.send({}, as_bytes("x"), 0, true);
    EXPECT_FALSE(link.can_send());
}

TEST(SessionWindow, wakes_every_sender_of_the_session) {
    Server server;
    server.open().begin(0, 0);
    server.attach({.name = "a", .handle = 0, .role = Role::receiver});
    server.attach({.name = "b", .handle = 1, .role = Role::receiver});
    server.flow(0, 10, 0, false, 0, 1);
    server.flow(1, 10, 0, false, 0, 1);
    std::vector<std::string> woken;
    server.recorder.has_credit = [&](Link& link) { woken.push_back(link.peer().name); };

    Flow wider;
    wider.next_incoming_id = 1;
    wider.incoming_window = 5;
    server.frame(0, wider);

    EXPECT_EQ(woken, (std::vector<std::string>{"a", "b"}));
}

TEST(SessionWindow, of_ours_is_widened_when_half_is_used) {
    ConnectionOptions options;
    options.session_window = 10;
    Server server(options);
    server.open().begin(0, 100, 0xfffffffd);
    server.attach({});
    for (std::uint32_t i = 0; i < 4; ++i) server.frame(0, a_transfer(0, i), "x");
    EXPECT_TRUE(all<Flow>(server.frames()).empty());

    server.frame(0, a_transfer(0, 4), "x");

    const auto flows = all<Flow>(server.frames());
    ASSERT_EQ(flows.size(), 1u);
    EXPECT_EQ(flows[0].incoming_window, 10u);
    EXPECT_EQ(flows[0].next_incoming_id, 2u) << "wrapped";
}

// AMQP-3
TEST(Flood, of_links_is_capped) {
    ConnectionOptions options;
    options.links_max = 300;
    Server server(options);
    server.open().begin(0).begin(1);
    for (std::uint32_t i = 0; i < 300; ++i) {
        server.frame(i < 256 ? 0 : 1, an_attach({.handle = i % 256}));
    }
    EXPECT_FALSE(server.engine.is_closed());
    server.output();

    server.frame(1, an_attach({.handle = 200}));

    EXPECT_EQ(server.close_condition(), condition::resource_limit);
    EXPECT_EQ(server.recorder.detached.size(), 300u);
}

TEST(Flood, of_links_that_we_ended_and_the_peer_does_not_is_capped_too) {
    ConnectionOptions options;
    options.links_max = 10;
    Server server(options);
    server.recorder.attach = [](Link& link) { link.refuse({"amqp:not-found", ""}); };
    server.open().begin();
    for (std::uint32_t i = 0; i < 10; ++i) server.frame(0, an_attach({.handle = i}));
    server.frame(0, Detach{3, true, std::nullopt});
    server.frame(0, an_attach({.handle = 3}));
    EXPECT_FALSE(server.engine.is_closed());
    server.output();

    server.frame(0, an_attach({.handle = 11}));

    EXPECT_EQ(server.close_condition(), condition::resource_limit);
}

TEST(Flood, of_large_attaches_is_capped_by_their_bytes) {
    ConnectionOptions options;
    options.attach_bytes_max = 100'000;
    Server server(options);
    server.open().begin();
    const std::string name(30'000, 'n');
    for (int round = 0; round < 20; ++round) {  // a link that has gone does not count
        server.frame(0, an_attach({.name = name, .handle = 0}));
        server.frame(0, Detach{0, true, std::nullopt});
    }
    for (std::uint32_t i = 0; i < 3; ++i) server.frame(0, an_attach({.name = name, .handle = i}));
    EXPECT_FALSE(server.engine.is_closed());
    server.output();

    server.frame(0, an_attach({.name = name, .handle = 3}));

    EXPECT_EQ(server.close_condition(), condition::resource_limit);
}

TEST(Flood, of_sessions_begun_and_ended_is_harmless) {
    Server server;
    server.open();
    for (int round = 0; round < 20'000; ++round) {
        server.frame(static_cast<std::uint16_t>(round % 100), Begin{});
        server.frame(static_cast<std::uint16_t>(round % 100), End{});
        server.output();
    }
    EXPECT_FALSE(server.engine.is_closed());
}

}  // namespace
}  // namespace evenkeel::amqp
