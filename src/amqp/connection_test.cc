#include "amqp/connection.h"

#include <gtest/gtest.h>

#include "amqp/engine_fixture.h"
#include "support/seed.h"

namespace evenkeel::amqp {
namespace {

using namespace std::chrono_literals;

Buffer sasl_frame(const SaslInit& init) {
    return frame_of(0, encoded(init), {}, 1);
}

TEST(Handshake, offers_all_mechanisms_and_lets_each_in) {
    for (const std::string mechanism : {"MSSBCBS", "PLAIN", "ANONYMOUS", "EXTERNAL"}) {
        for (const std::string& response :
             {std::string(), std::string("text"), std::string("\0key", 4)}) {
            Server server;
            server.receive(sasl_header_text);
            const std::string hello = server.output();
            EXPECT_TRUE(hello.starts_with(sasl_header_text));
            const auto offered = all<SaslMechanisms>(frames_in(as_bytes(hello)));
            ASSERT_EQ(offered.size(), 1u);
            EXPECT_EQ(offered[0].mechanisms,
                      (std::vector<std::string>{"MSSBCBS", "PLAIN", "ANONYMOUS", "EXTERNAL"}));

            server.receive(sasl_frame({mechanism, response, "host"}));
            EXPECT_EQ(server.recorder.sasl->response, response);
            EXPECT_EQ(all<SaslOutcome>(server.frames()).at(0).code, 0);

            server.open();
            EXPECT_EQ(server.recorder.opened->container, "peer");
            EXPECT_FALSE(server.engine.is_closed());
        }
    }
}

TEST(Handshake, refuses_an_unknown_mechanism_and_wrong_credentials) {
    for (const bool lets_in : {true, false}) {
        Server server;
        server.recorder.lets_in = lets_in;
        server.receive(sasl_header_text);
        server.output();

        server.receive(sasl_frame({lets_in ? "SCRAM-SHA-1" : "PLAIN", "", ""}));

        EXPECT_EQ(all<SaslOutcome>(server.frames()).at(0).code, 1);
        EXPECT_TRUE(server.engine.is_closed());
        EXPECT_EQ(server.recorder.closed.at(0)->name, condition::unauthorized);
    }
}

TEST(Handshake, may_skip_sasl) {
    Server server;
    server.receive(amqp_header_text);
    Open open;
    open.container = "peer";
    server.frame(0, open);

    const std::string output = server.output();
    EXPECT_TRUE(output.starts_with(amqp_header_text));
    EXPECT_EQ(all<Open>(frames_in(as_bytes(output))).at(0).max_frame_bytes, 65536u);
}

TEST(Handshake, answers_what_is_not_amqp_with_its_own_header_and_closes) {
    for (const std::string& hello :
         {std::string("AMQP\0\0\x09\x01", 8), std::string("\x16\x03\x01\x02\0\x01\0\x01\xfc", 9),
          std::string("GET / HTTP/1.1\r\n\r\n"), std::string("AMQP\2\1\0\0", 8),
          std::string("\0\0\0\x08\2\0\0\0", 8)}) {
        Server server;
        server.receive(hello);

        EXPECT_EQ(server.output(), sasl_header_text);
        EXPECT_TRUE(server.engine.is_closed());
        EXPECT_EQ(server.recorder.closed.size(), 1u);
        server.receive(amqp_header_text);
        EXPECT_EQ(server.output(), "");
    }
}

TEST(Handshake, works_in_single_bytes) {
    Server whole;
    Server cut;
    std::string bytes(sasl_header_text);
    bytes += text_of(sasl_frame({"ANONYMOUS", "", ""}));
    bytes += amqp_header_text;
    bytes += text_of(frame_of(0, encoded(Open{})));
    bytes += text_of(frame_of(3, encoded(Begin{})));

    whole.receive(bytes);  // pipelined: nothing is waited for
    for (const char byte : bytes) cut.receive(std::string_view(&byte, 1));

    const std::string expected = whole.output();
    EXPECT_EQ(all<Begin>(frames_in(as_bytes(expected))).at(0).remote_channel, 3);
    EXPECT_EQ(cut.output(), expected);
}

TEST(Handshake, is_the_same_for_two_engines_with_and_without_sasl) {
    for (const std::string mechanism : {"", "PLAIN", "ANONYMOUS"}) {
        ConnectionOptions options;
        options.mechanism = mechanism;
        options.response = "secret";
        Pair pair(test::test_seed(), {}, options);

        pair.run();

        EXPECT_EQ(pair.at_server.opened->hostname, "hub.example");
        EXPECT_TRUE(pair.at_client.opened);
        EXPECT_EQ(pair.at_server.sasl.has_value(), !mechanism.empty());
    }
}

TEST(Handshake, of_a_client_ends_without_a_common_mechanism) {
    ConnectionOptions only_external;
    only_external.mechanisms = {"EXTERNAL"};
    Pair pair(test::test_seed(), only_external);
    pair.run();
    EXPECT_TRUE(pair.client.is_closed());
    EXPECT_EQ(pair.at_client.closed.at(0)->name, condition::unauthorized);

    Pair refused(test::test_seed());
    refused.at_server.lets_in = false;
    refused.run();
    EXPECT_TRUE(refused.client.is_closed());
    EXPECT_EQ(refused.at_client.closed.at(0)->name, condition::unauthorized);
}

TEST(Framing, refuses_every_size_and_data_offset_that_cannot_be) {
    for (std::uint32_t size = 0; size <= 16; ++size) {
        for (std::uint32_t offset = 0; offset < 256; ++offset) {
            Buffer frame = bytes_of(0, 0, 0, size, offset, 0, 0, 0);
            frame.resize(std::max<std::size_t>(size, 8));
            const bool is_frame = size >= 8 && offset >= 2 && offset * 4 <= size;
            const bool is_empty = is_frame && offset * 4 == size;
            for (std::size_t cut = 0; cut < frame.size(); ++cut) {
                Server server;
                server.open();
                server.receive(ByteView(frame).first(cut));
                server.receive(ByteView(frame).subspan(cut));
                EXPECT_EQ(server.engine.is_closed(), !is_empty);
                EXPECT_EQ(server.close_condition(), is_empty   ? ""
                                                    : is_frame ? condition::decode_error
                                                               : condition::framing_error);
            }
        }
    }
}

TEST(Framing, refuses_a_frame_larger_than_announced_before_it_has_come) {
    Server server;
    server.open();

    server.receive(bytes_of(0, 1, 0, 1));

    EXPECT_TRUE(server.engine.is_closed());
    EXPECT_EQ(server.close_condition(), condition::framing_error);
}

TEST(Framing, takes_only_small_frames_from_a_peer_it_does_not_know) {
    Server before_sasl;
    before_sasl.receive(sasl_header_text);
    before_sasl.receive(bytes_of(0, 0, 2, 1));
    EXPECT_TRUE(before_sasl.engine.is_closed());

    Server before_open;
    before_open.receive(amqp_header_text);
    before_open.receive(bytes_of(0, 0, 0x40, 1));
    EXPECT_TRUE(before_open.engine.is_closed());
}

TEST(Framing, skips_an_extended_header) {
    Server server;
    server.open();
    Buffer frame = frame_of(0, encoded(Begin{}));
    const Buffer more(8);
    frame.insert(frame.begin() + 8, more.begin(), more.end());
    frame[3] = static_cast<std::byte>(frame.size());
    frame[4] = std::byte{4};

    server.receive(frame);

    EXPECT_EQ(all<Begin>(server.frames()).size(), 1u);
}

TEST(Framing, refuses_unknown_types_and_performatives) {
    for (const auto& frame :
         {frame_of(0, encoded(Begin{}), {}, 1), frame_of(0, encoded(Begin{}), {}, 7),
          frame_of(0, bytes_of(0x00, 0x53, 0x55, 0x45)), frame_of(0, bytes_of(0x45)),
          frame_of(0, {}, "garbage"), frame_of(0, encoded(SaslInit{"ANONYMOUS", "", ""}))}) {
        Server server;
        server.open().begin();
        server.receive(frame);
        EXPECT_TRUE(server.engine.is_closed());
        EXPECT_NE(server.close_condition(), "");
        EXPECT_EQ(server.recorder.closed.size(), 1u);
    }
}

// Each performative in each state (AMQP-1).
TEST(Connection, answers_each_performative_in_each_state_without_harm) {
    const std::vector<Buffer> bodies = {
        encoded(Open{}),           encoded(Begin{}),    encoded(an_attach({})),
        encoded(Flow{}),           encoded(Transfer{}), encoded(Disposition{}),
        encoded(Detach{}),         encoded(End{}),      encoded(Close{}),
        encoded(SaslMechanisms{}), encoded(SaslInit{}), encoded(SaslOutcome{})};
    for (std::size_t state = 0; state < 9; ++state) {
        for (const auto& first : bodies) {
            for (const auto& second : bodies) {
                Server server;
                if (state == 1) server.receive(sasl_header_text);
                if (state == 2) server.receive(amqp_header_text);
                if (state >= 3) server.open();
                if (state >= 4) server.begin();
                if (state >= 5 && state < 8) {
                    server.attach({.role = state == 5 ? Role::sender : Role::receiver});
                }
                if (state == 7) server.engine.close(std::nullopt);
                if (state == 8) server.frame(0, End{});
                server.receive(frame_of(0, first, {}, state == 1 ? 1 : 0));
                server.receive(frame_of(0, second, {}, state == 1 ? 1 : 0));
                server.receive(frame_of(0, encoded(Close{}), {}, state == 1 ? 1 : 0));
                EXPECT_LE(server.recorder.closed.size(), 1u);
                EXPECT_TRUE(server.recorder.links.empty() || !server.engine.is_closed());
            }
        }
    }
}

TEST(Connection, wants_open_first_and_once) {
    Server early;
    early.receive(amqp_header_text);
    early.frame(0, Begin{});
    const auto frames = early.frames();
    EXPECT_EQ(all<Open>(frames).size(), 1u) << "a close is understood only after an open";
    EXPECT_EQ(all<Close>(frames).at(0).error->name, condition::illegal_state);

    Server twice;
    twice.open();
    twice.frame(0, Open{});
    EXPECT_EQ(twice.close_condition(), condition::illegal_state);
}

TEST(Connection, answers_close_with_close_and_ends_all_links) {
    Server server;
    server.open().begin();
    server.attach({.handle = 0});
    server.attach({.name = "other", .handle = 1});

    server.frame(0, Close{Condition{"amqp:x", "bye"}});

    EXPECT_EQ(all<Close>(server.frames()).size(), 1u);
    EXPECT_TRUE(server.engine.is_closed());
    EXPECT_EQ(server.recorder.detached.size(), 2u);
    EXPECT_EQ(server.recorder.detached[0].second->name, "amqp:x");
    EXPECT_EQ(server.recorder.closed.at(0)->name, "amqp:x");
}

TEST(Connection, that_closes_sends_the_reason_on_every_level_and_waits) {
    Server server;
    server.open().begin();
    server.attach({});

    server.engine.close(Condition{std::string(condition::connection_forced), "stopping"});

    const auto frames = server.frames();
    EXPECT_EQ(all<Detach>(frames).at(0).error->name, condition::connection_forced);
    EXPECT_EQ(all<End>(frames).at(0).error->name, condition::connection_forced);
    EXPECT_EQ(all<Close>(frames).at(0).error->name, condition::connection_forced);
    EXPECT_EQ(server.recorder.detached.size(), 1u);
    EXPECT_FALSE(server.engine.is_closed());

    server.frame(0, a_transfer(0, 0), "under way");
    server.frame(0, Detach{0, true, std::nullopt});
    EXPECT_EQ(server.output(), "");
    server.frame(0, Close{});
    EXPECT_TRUE(server.engine.is_closed());
    EXPECT_EQ(server.output(), "");
    EXPECT_EQ(server.recorder.closed.size(), 1u);
}

TEST(Connection, may_be_closed_before_it_is_open) {
    Server server;
    server.engine.close(Condition{"x", "y"});
    EXPECT_TRUE(server.engine.is_closed());
    EXPECT_EQ(server.recorder.closed.size(), 1u);
}

TEST(Connection, that_is_lost_ends_all_links_at_once) {
    Server server;
    server.open().begin().begin(1);
    server.attach({}, 0);
    server.attach({}, 1);

    server.engine.lost();
    server.engine.lost();

    EXPECT_EQ(server.recorder.detached.size(), 2u);
    EXPECT_EQ(server.recorder.closed.size(), 1u);
    EXPECT_TRUE(server.engine.is_closed());
}

TEST(Connection, survives_handlers_that_close_inside_every_call) {
    for (const int where : {0, 1, 2, 3, 4}) {
        Server server;
        auto& recorder = server.recorder;
        const auto close = [&](Link& link) {
            link.session().end(std::nullopt);
            server.engine.close(Condition{"x", "y"});
            server.engine.lost();
            link.detach(std::nullopt);
        };
        if (where == 0) {
            recorder.attach = [&](Link& link) {
                recorder.accept(link);
                close(link);
            };
        }
        if (where == 1) recorder.delivery = [&](Link& link, const Delivery&) { close(link); };
        if (where == 2) recorder.has_credit = close;
        if (where == 3) recorder.detach = close;
        if (where == 4) recorder.close = [&] { server.engine.close(std::nullopt); };
        server.open().begin();
        server.frame(0, an_attach({.handle = 0}));
        server.frame(0, an_attach({.handle = 1, .role = Role::receiver}));
        server.frame(0, a_transfer(0, 0), "message");
        server.flow(1, 10);
        server.frame(0, Detach{0, true, std::nullopt});
        server.frame(0, Close{});
        EXPECT_TRUE(server.engine.is_closed());
        EXPECT_EQ(recorder.closed.size(), 1u);
        EXPECT_TRUE(recorder.links.empty());
    }
}

TEST(Connection, tells_of_all_links_before_it_tells_that_it_is_closed) {
    // Found by fuzzing: the links of a session that the peer was just ending came after.
    Server server;
    server.open().begin();
    for (std::uint32_t i = 0; i < 3; ++i) server.attach({.handle = i});
    server.recorder.detach = [&](Link&) { server.engine.close(std::nullopt); };
    server.recorder.close = [&] { EXPECT_TRUE(server.recorder.links.empty()); };

    server.frame(0, End{});

    EXPECT_EQ(server.recorder.detached.size(), 3u);
    EXPECT_EQ(server.recorder.closed.size(), 1u);
    EXPECT_TRUE(server.recorder.ended.empty());
}

TEST(Connection, that_the_peer_closed_ignores_late_sessions_and_links) {
    Pair pair(1);
    Session& session = pair.session();
    pair.run();
    pair.at_client.attach = [](Link&) {};
    Link& link = pair.client.attach(session, an_attach({}));
    pair.run();
    pair.at_client.detach = [&](Link& gone) {
        EXPECT_FALSE(pair.client.attach(gone.session(), an_attach({})).can_send());
    };
    pair.server.close(std::nullopt);
    pair.run();
    EXPECT_TRUE(pair.at_client.links.empty()) << &link;

    Session& late = pair.client.begin();
    Link& never = pair.client.attach(late, an_attach({}));
    never.detach(std::nullopt);
    late.end(std::nullopt);
    pair.client.tick(pair.now);

    EXPECT_TRUE(late.is_ended());
    EXPECT_EQ(pair.client.output_bytes(), 0u);
}

TEST(Connection, survives_its_destruction_while_a_session_ends) {
    Server server;
    server.open().begin();
    Link& link = server.attach({.handle = 0});
    server.attach({.name = "other", .handle = 1});
    server.recorder.detach = [&](Link& gone) {
        server.engine.lost();
        EXPECT_NE(gone.peer().name, "");
    };

    link.session().end(std::nullopt);

    EXPECT_EQ(server.recorder.detached.size(), 2u);
}

TEST(Time, keep_alives_go_out_at_a_quarter_of_what_the_peer_allows) {
    Server server;
    server.open(65536, 30'000);

    EXPECT_EQ(server.engine.tick(server.now), server.now + 7500ms);
    EXPECT_EQ(server.output(), "");
    server.now = server.now + 7500ms;
    server.engine.tick(server.now);

    EXPECT_EQ(server.output(), std::string("\0\0\0\x08\2\0\0\0", 8));
    EXPECT_EQ(server.engine.tick(server.now), server.now + 7500ms);
    EXPECT_EQ(server.output(), "");
}

TEST(Time, a_tiny_idle_timeout_of_the_peer_does_not_make_us_spin) {
    Server server;
    server.open(65536, 1);
    EXPECT_GE(server.engine.tick(server.now) - server.now, 100ms);
}

TEST(Time, a_silent_peer_is_closed_after_twice_our_timeout) {
    ConnectionOptions options;
    options.idle_timeout = 1000ms;
    Server server(options);
    server.open().begin();
    server.attach({});

    EXPECT_EQ(server.engine.tick(server.now + 1999ms), server.now + 2000ms);
    EXPECT_FALSE(server.engine.is_closed());
    server.engine.tick(server.now + 2000ms);

    EXPECT_TRUE(server.engine.is_closed());
    EXPECT_EQ(server.close_condition(), condition::connection_forced);
    EXPECT_EQ(server.recorder.detached.size(), 1u);
}

TEST(Time, without_a_timeout_of_ours_a_silent_peer_stays) {
    ConnectionOptions options;
    options.idle_timeout = 0ms;
    Server server(options);
    server.open();
    server.engine.tick(server.now + 100h);
    EXPECT_FALSE(server.engine.is_closed());
}

TEST(Time, half_open_connections_end_after_the_handshake_timeout) {
    Server silent;
    EXPECT_EQ(silent.engine.tick(silent.now), silent.now + 10s);
    silent.engine.tick(silent.now + 10s);
    EXPECT_TRUE(silent.engine.is_closed());

    Server slow;
    slow.receive(sasl_header_text);
    slow.now = slow.now + 9s;
    slow.receive("A");  // does not buy more time
    slow.engine.tick(slow.now + 1s);
    EXPECT_TRUE(slow.engine.is_closed());

    Server closing;
    closing.open(65536, 1000);
    closing.engine.close(std::nullopt);
    closing.output();
    closing.engine.tick(closing.now + 9s);
    EXPECT_EQ(closing.output(), "") << "nothing follows a close, not even a keep-alive";
    closing.engine.tick(closing.now + 10s);
    EXPECT_TRUE(closing.engine.is_closed());
    EXPECT_EQ(closing.output(), "");
}

TEST(Output, of_a_peer_that_asks_and_does_not_read_is_bounded) {
    ConnectionOptions options;
    options.answer_bytes_max = 10'000;
    Server server(options);
    server.open().begin();
    Flow echo;
    echo.next_incoming_id = 1;
    echo.echo = true;
    for (int i = 0; i < 100; ++i) server.frame(0, echo);
    EXPECT_FALSE(server.engine.is_closed());
    server.output();
    for (int i = 0; i < 100; ++i) server.frame(0, echo);
    EXPECT_FALSE(server.engine.is_closed()) << "what was taken does not count";

    for (int i = 0; i < 1000 && !server.engine.is_closed(); ++i) server.frame(0, echo);

    EXPECT_EQ(server.recorder.closed.at(0)->name, condition::resource_limit);
    EXPECT_LT(server.engine.output_bytes(), 11'000u);
}

TEST(Output, fits_the_frames_of_the_peer) {
    Server server;
    server.open(512).begin();
    server.recorder.attach = [](Link& link) {
        link.refuse({"amqp:not-found", std::string(2000, 'x')});
    };
    server.frame(0, an_attach({}));
    const auto frames = server.frames();
    for (const auto& frame : frames) EXPECT_LE(frame.bytes.size(), 512u);
    EXPECT_EQ(all<Detach>(frames).at(0).error->description, std::string(128, 'x'));

    server.frame(0, an_attach({.name = std::string(600, 'n'), .handle = 1}));
    EXPECT_EQ(server.close_condition(), condition::frame_too_small) << "it cannot be told its name";
}

}  // namespace
}  // namespace evenkeel::amqp
