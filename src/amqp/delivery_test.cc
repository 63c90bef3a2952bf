#include <utility>

#include <gtest/gtest.h>

#include "amqp/engine_fixture.h"
#include "amqp/link.h"
#include "support/seed.h"

namespace evenkeel::amqp {
namespace {

TEST(Send, writes_message_format_settled_flag_id_and_tag) {
    for (const bool settled : {true, false}) {
        for (const std::size_t size : {std::size_t{10}, std::size_t{1000}}) {
            Server server;
            server.open(512).begin();
            Link& link = server.attach({.role = Role::receiver});
            server.flow(0, 10);
            EXPECT_EQ(link.send(as_bytes("p"), as_bytes(std::string(size, 'b')), 0, settled), 0u);
            EXPECT_EQ(link.send({}, as_bytes("x"), 0x80013700, settled), 1u);

            const auto frames = server.frames();
            const auto& first = std::get<Transfer>(*frames.front().body);
            EXPECT_EQ(first.delivery_id, 0u);
            EXPECT_EQ(first.delivery_tag.size(), 4u);
            EXPECT_EQ(first.message_format, 0u);
            EXPECT_EQ(first.settled, settled);
            EXPECT_EQ(first.more, size > 500);
            const auto& last = std::get<Transfer>(*frames.back().body);
            EXPECT_EQ(last.message_format, 0x80013700u);
            EXPECT_FALSE(last.more);
            Decoder decoder(ByteView(frames.front().bytes).subspan(8));
            EXPECT_EQ(decoder.descriptor(), descriptor::transfer);
            EXPECT_EQ(decoder.list()->remaining(), 11u);
        }
    }
}

TEST(Send, cuts_messages_of_every_size_around_the_frame_to_fit_it) {
    ConnectionOptions options;
    options.max_frame_bytes = 512;
    Pair pair(test::test_seed(), options);
    Link& link = pair.client.attach(pair.session(), an_attach({}));
    pair.run();
    for (std::size_t prefix = 0; prefix < 1100; prefix += 37) {
        for (const std::size_t body : {0u, 1u, 400u, 447u, 448u, 449u, 473u, 474u, 900u}) {
            std::string expected(prefix, 'p');
            expected.append(body, 'b');
            ASSERT_TRUE(link.can_send());
            link.send(as_bytes(expected).first(prefix), as_bytes(expected).subspan(prefix), 5,
                      true);
            pair.run();
            ASSERT_FALSE(pair.server.is_closed()) << pair.at_server.closed.at(0)->description;
            ASSERT_EQ(pair.at_server.received.back().bytes, expected);
            EXPECT_EQ(pair.at_server.received.back().delivery.message_format, 5u);
            pair.at_server.links[0]->grant(100);
            pair.run();
        }
    }
}

TEST(Delivery, of_many_frames_is_not_mixed_with_another_links) {
    ConnectionOptions options;
    options.max_frame_bytes = 512;
    options.max_message_bytes = 1 << 21;
    Server server(options);
    server.open(512).begin();
    Random random(test::test_seed());
    const std::string bodies[] = {std::string(1 << 20, 'a'), std::string((1 << 20) - 3, 'b')};
    for (std::uint32_t i = 0; i < 2; ++i) server.attach({.name = std::to_string(i), .handle = i});
    for (std::uint32_t round = 0; round < 4; ++round) {
        std::size_t sent[2] = {0, 0};
        while (sent[0] < bodies[0].size() || sent[1] < bodies[1].size()) {
            const std::uint32_t i = random.below(2) == 0 ? 0 : 1;
            if (sent[i] == bodies[i].size()) continue;
            Transfer transfer = sent[i] == 0 ? a_transfer(i, 2 * round + i) : Transfer{};
            transfer.handle = i;
            const std::string_view part = std::string_view(bodies[i]).substr(sent[i], 450);
            sent[i] += part.size();
            transfer.more = sent[i] < bodies[i].size();
            // Half of the first link's messages are given up at their end.
            transfer.aborted = i == 0 && round % 2 == 1 && !transfer.more;
            server.frame(0, transfer, part);
        }
        server.output();
    }

    ASSERT_EQ(server.recorder.received.size(), 6u);
    for (const auto& received : server.recorder.received) {
        EXPECT_TRUE(received.bytes == bodies[received.link == "0" ? 0 : 1]);
    }
    for (Link* const link : server.recorder.links) EXPECT_EQ(link->granted(), 96u);
}

TEST(Send, of_parts_of_any_size_arrives_as_one_message) {
    ConnectionOptions narrow;
    narrow.max_frame_bytes = 512;
    narrow.session_window = 50;
    Pair pair(test::test_seed(), narrow);
    Link& link = pair.client.attach(pair.session(), an_attach({}));
    pair.run();
    std::string all(30'000, 'b');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7 / 5);
    const ByteView message = as_bytes(all);
    for (const std::size_t prefix : {0u, 1u, 440u, 450u, 5'000u, 30'000u}) {
        for (const std::size_t part : {1u, 100u, 449u, 100'000u}) {
            const std::size_t size = part == 1 ? prefix % 1000 + 1 : message.size();
            const ByteView first = message.first(std::min(prefix, size));
            const ByteView second = message.subspan(first.size(), size - first.size());
            ASSERT_TRUE(link.can_send());
            for (std::size_t sent = 0; sent < size;) {
                while (sent > 0 && !link.can_go_on()) pair.run();
                sent += link.send_part(first, second, sent, part);
                ASSERT_TRUE(sent == size || !link.can_send()) << "nothing else comes between";
            }
            pair.run();

            ASSERT_FALSE(pair.server.is_closed()) << pair.at_server.closed.at(0)->description;
            ASSERT_EQ(pair.at_server.received.back().bytes, all.substr(0, size));
            pair.at_server.links[0]->grant(100);
            pair.run();
        }
    }
}

TEST(Delivery, of_many_frames_waits_for_the_window_and_keeps_the_order) {
    ConnectionOptions narrow;
    narrow.max_frame_bytes = 512;
    narrow.session_window = 50;
    Pair pair(test::test_seed(), narrow);
    Session& session = pair.session();
    Link& a = pair.client.attach(session, an_attach({.name = "a"}));
    Link& b = pair.client.attach(session, an_attach({.name = "b"}));
    pair.run();
    const std::string body(1 << 20, 'a');
    bool is_sent = false;
    pair.at_client.has_credit = [&](Link& link) {
        if (&link == &b && link.can_send() && !std::exchange(is_sent, true)) {
            link.send({}, as_bytes(body), 0, true);
        }
    };

    a.send({}, as_bytes(body), 0, true);
    EXPECT_FALSE(b.can_send());
    pair.run();

    ASSERT_EQ(pair.at_server.received.size(), 2u);
    for (const auto& received : pair.at_server.received) EXPECT_TRUE(received.bytes == body);
    for (Link* const link : pair.at_server.links) EXPECT_EQ(link->granted(), 99u);
}

TEST(Delivery, is_handed_on_whole_with_its_format_however_it_was_cut) {
    Server server;
    server.open().begin();
    server.attach({.handle = 1});
    server.attach({.name = "other", .handle = 2});
    Transfer first = a_transfer(1, 7, true);
    first.message_format = 0x80013700;
    Transfer next;
    next.handle = 1;
    next.more = true;

    server.frame(0, first, "one ");
    server.frame(0, a_transfer(2, 8, true), "other ");
    server.frame(0, next, "");
    server.frame(0, next, "two ");
    next.more = false;
    next.settled = true;
    next.delivery_id = 7;
    server.frame(0, next, "three");
    Transfer last;
    last.handle = 2;
    server.frame(0, last, "");

    ASSERT_EQ(server.recorder.received.size(), 2u);
    EXPECT_EQ(server.recorder.received[0].bytes, "one two three");
    EXPECT_EQ(server.recorder.received[0].delivery.id, 7u);
    EXPECT_EQ(server.recorder.received[0].delivery.message_format, 0x80013700u);
    EXPECT_TRUE(server.recorder.received[0].delivery.settled);
    EXPECT_EQ(server.recorder.received[0].delivery.size, 13u);
    EXPECT_EQ(server.recorder.received[1].bytes, "other ");
    EXPECT_FALSE(server.recorder.received[1].delivery.settled);
}

TEST(Delivery, that_is_aborted_or_whose_link_goes_is_forgotten) {
    Server server;
    server.open().begin();
    Link& link = server.attach({});
    Transfer abort;
    abort.handle = 0;
    abort.aborted = true;
    server.frame(0, a_transfer(0, 0, true), "half");
    server.frame(0, abort, "");
    EXPECT_EQ(link.granted(), 99u) << "it took its credit";
    server.frame(0, a_transfer(0, 1), "whole");
    EXPECT_EQ(server.recorder.received.at(0).bytes, "whole");

    server.frame(0, a_transfer(0, 2, true), "half");
    server.frame(0, Detach{0, true, std::nullopt});
    server.attach({});
    server.frame(0, a_transfer(0, 3), "new");
    EXPECT_EQ(server.recorder.received.back().bytes, "new");
    EXPECT_EQ(server.recorder.received.size(), 2u);
}

TEST(Delivery, that_begins_inside_another_or_without_id_is_refused) {
    Server inside;
    inside.open().begin();
    inside.attach({});
    inside.frame(0, a_transfer(0, 0, true), "half");
    inside.frame(0, a_transfer(0, 1), "other");
    EXPECT_EQ(inside.close_condition(), condition::not_allowed);
    EXPECT_TRUE(inside.recorder.received.empty());

    Server without;
    without.open().begin();
    without.attach({});
    without.frame(0, Transfer{}, "x");
    EXPECT_EQ(without.close_condition(), condition::invalid_field);

    Server wrong_way;
    wrong_way.open().begin();
    wrong_way.attach({.role = Role::receiver});
    wrong_way.frame(0, a_transfer(0, 0), "x");
    EXPECT_EQ(wrong_way.close_condition(), condition::not_allowed);
}

TEST(Delivery, that_is_too_large_is_flagged_and_the_link_goes_on) {
    ConnectionOptions options;
    options.max_message_bytes = 10;
    Server server(options);
    server.open().begin();
    server.attach({});
    Transfer next;
    next.handle = 0;
    next.more = true;

    server.frame(0, a_transfer(0, 0), "exactly 10");
    server.frame(0, a_transfer(0, 1), "now eleven!");
    server.frame(0, a_transfer(0, 2, true), "in ");
    server.frame(0, next, "several ");
    server.frame(0, next, "frames ");
    next.more = false;
    server.frame(0, next, "it is too large");
    server.frame(0, a_transfer(0, 3), "small");

    const auto& received = server.recorder.received;
    ASSERT_EQ(received.size(), 4u);
    EXPECT_FALSE(received[0].delivery.too_large);
    EXPECT_TRUE(received[1].delivery.too_large);
    EXPECT_EQ(received[1].delivery.size, 11u);
    EXPECT_EQ(received[1].bytes, "");
    EXPECT_TRUE(received[2].delivery.too_large);
    EXPECT_EQ(received[2].delivery.size, 33u);
    EXPECT_EQ(received[2].delivery.id, 2u);
    EXPECT_EQ(received[3].bytes, "small");
}

TEST(Delivery, that_is_not_complete_is_bounded_over_all_links) {
    ConnectionOptions options;
    options.partial_bytes_max = 1000;
    Server server(options);
    server.open().begin();
    const std::string half(400, 'h');
    for (std::uint32_t i = 0; i < 3; ++i) server.attach({.handle = i});
    for (std::uint32_t round = 0; round < 10; ++round) {  // what is dropped or done is given back
        server.frame(0, a_transfer(0, 2 * round, true), half);
        Transfer next;
        next.handle = 0;
        next.aborted = round % 2 == 0;
        server.frame(0, next, half);
    }
    server.frame(0, a_transfer(0, 100, true), half);
    server.frame(0, a_transfer(1, 101, true), half);
    EXPECT_FALSE(server.engine.is_closed());
    server.output();

    server.frame(0, a_transfer(2, 102, true), half);

    EXPECT_EQ(server.close_condition(), condition::resource_limit);
}

TEST(Delivery, is_settled_with_its_state) {
    Pair pair(test::test_seed());
    using Kind = DeliveryState::Kind;
    pair.at_server.delivery = [](Link& link, const Delivery& delivery) {
        const Kind kinds[] = {Kind::accepted, Kind::rejected, Kind::released, Kind::modified};
        DeliveryState state{kinds[delivery.id], std::nullopt};
        if (state.kind == Kind::rejected) state.error = Condition{"amqp:x", "no"};
        link.settle(delivery.id, state);
    };
    Link& link = pair.client.attach(pair.session(), an_attach({}));
    pair.run();
    for (int i = 0; i < 4; ++i) link.send({}, as_bytes("x"), 0, false);
    pair.run();

    const auto& got = pair.at_client.dispositions;
    ASSERT_EQ(got.size(), 4u);
    EXPECT_EQ(got[0].state.kind, Kind::accepted);
    EXPECT_EQ(got[1].state.error->name, "amqp:x");
    EXPECT_EQ(got[2].state.kind, Kind::released);
    EXPECT_EQ(got[3].state.kind, Kind::modified);
    for (const auto& one : got) EXPECT_TRUE(one.settled);
}

// Whatever the handler does inside on_delivery, nothing is used after it is freed.
TEST(Delivery, may_end_its_own_link_or_session) {
    for (const int what : {0, 1, 2}) {
        Server server;
        server.open().begin();
        server.recorder.delivery = [&](Link& link, const Delivery&) {
            if (what == 0) link.detach(std::nullopt);
            if (what == 1) link.session().end(std::nullopt);
            if (what == 2) server.engine.close(std::nullopt);
        };
        server.attach({});
        Buffer bytes = frame_of(0, encoded(a_transfer(0, 0)), "one");
        const Buffer more = frame_of(0, encoded(a_transfer(0, 1)), "two");
        bytes.insert(bytes.end(), more.begin(), more.end());
        server.receive(bytes);
        EXPECT_EQ(server.recorder.received.size(), 1u);
    }
}

TEST(Delivery, of_several_frames_takes_the_memory_of_the_message_before) {
    Server server;
    server.open().begin();
    server.attach({.role = Role::sender});
    std::vector<const std::byte*> places;
    server.recorder.delivery = [&](Link&, const Delivery& got) {
        places.push_back(got.bytes.data());
    };
    const std::string first(30'000, 'a');
    for (std::uint32_t id = 0; id < 4; ++id) {
        if (id == 3) {
            // Unused from one tick to the next, the memory is given back.
            server.engine.tick(server.now);
            server.engine.tick(server.now);
        }
        server.frame(0, a_transfer(0, id, true), first);
        server.frame(0, a_transfer(0, id, true), std::string(20'000, 'b'));
        server.frame(0, a_transfer(0, id), "c" + std::to_string(id));
    }

    ASSERT_EQ(server.recorder.received.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(server.recorder.received[i].bytes,
                  first + std::string(20'000, 'b') + "c" + std::to_string(i));
    }
    EXPECT_EQ(places[1], places[0]);
    EXPECT_EQ(places[2], places[0]);
}

}  // namespace
}  // namespace evenkeel::amqp
