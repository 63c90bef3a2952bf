#include <gtest/gtest.h>

#include "door/amqp/producers_fixture.h"

namespace evenkeel::door {
namespace {

LinkWish with_epoch(std::int64_t epoch, std::string_view name = {}) {
    LinkWish wish;
    wish.properties = a_map(
        {{"com.microsoft:epoch", a_long(epoch)}, {"com.microsoft:receiver-name", a_string(name)}});
    return wish;
}

TEST(Attach, to_send_echoes_and_limits) {
    DoorFixture world;
    Client& client = world.client();

    const auto plain = client.sender("amqps://hub/EH1/Partitions/0");
    const auto modest = client.sender("/eh1", {.max_message_bytes = 1000});
    const auto greedy = client.sender("eh1", {.max_message_bytes = 1 << 30});

    EXPECT_TRUE(plain->is_open());
    EXPECT_EQ(plain->answer.max_message_bytes, 1u << 20);
    EXPECT_EQ(modest->answer.max_message_bytes, 1000u);
    EXPECT_EQ(greedy->answer.max_message_bytes, 1u << 20);
    EXPECT_EQ(plain->answer.target.address, "amqps://hub/EH1/Partitions/0");
}

TEST(Attach, to_read_promises_settled_events_and_echoes_the_filter) {
    DoorFixture world;
    Client& client = world.client();
    LinkWish wish;
    wish.filter = a_filter("amqp.annotation.x-opt-offset > '@latest'");

    const auto link = client.receiver(reading_address, wish);

    ASSERT_TRUE(link->is_open()) << link->error.description;
    EXPECT_EQ(link->answer.sender_settle, amqp::SenderSettle::settled);
    EXPECT_EQ(link->answer.source.filter, wish.filter);
    EXPECT_EQ(link->answer.max_message_bytes, 0u);
}

TEST(Attach, that_is_refused_has_no_termini_and_says_why) {
    DoorFixture world;
    Client& client = world.client();
    struct Case {
        bool sends;
        const char* address;
        const char* condition;
    };
    for (const Case& each :
         {Case{true, "none", "amqp:not-found"}, Case{true, "none/Partitions/0", "amqp:not-found"},
          Case{true, "eh1/Partitions/4", "com.microsoft:argument-out-of-range"},
          Case{true, "eh1/Partitions/x", "com.microsoft:argument-out-of-range"},
          Case{true, "eh1/ConsumerGroups/g/Partitions/0", "amqp:not-allowed"},
          Case{false, "eh1/Partitions/0", "amqp:not-allowed"},
          Case{false, "eh1", "amqp:not-allowed"},
          Case{false, "eh1/ConsumerGroups/none/Partitions/0", "amqp:not-found"},
          Case{false, "eh1/ConsumerGroups/$Default/Partitions/9",
               "com.microsoft:argument-out-of-range"},
          Case{false, "eh1/ConsumerGroups/$Default", "com.microsoft:argument-out-of-range"}}) {
        const auto link = each.sends ? client.sender(each.address) : client.receiver(each.address);

        EXPECT_TRUE(link->detached) << each.address;
        EXPECT_EQ(link->error.name, each.condition) << each.address;
        EXPECT_FALSE(each.sends ? link->answer.target.present : link->answer.source.present);
        EXPECT_NE(link->error.description.find("TrackingId:"), std::string::npos);
    }
    EXPECT_FALSE(client.closed);
}

TEST(Attach, needs_the_right_and_names_it) {
    DoorFixture world({}, {{"sender", "", other_key, {}, {true, false, false}}});
    Client& client = world.stranger();
    const auto put = client.put_token(
        make_sas("sb://hub/eh1", "sender", other_key, world.now() + 1h), "sb://hub/eh1");

    const auto reader = client.receiver(reading_address);

    EXPECT_EQ(put.code, 202);
    EXPECT_TRUE(client.sender("eh1")->is_open());
    EXPECT_EQ(reader->error.name, "amqp:unauthorized-access");
    EXPECT_TRUE(reader->error.description.starts_with(
        "Unauthorized access. 'Listen' claim(s) are required to perform this operation. Resource: "
        "'sb://hub/eh1/consumergroups/$default/partitions/0'."))
        << reader->error.description;
    // What there is, is not told to those who may not know.
    EXPECT_EQ(client.sender("none")->error.name, "amqp:unauthorized-access");
}

TEST(Attach, starts_where_the_rules_of_positions_say) {
    DoorFixture world;
    Client& client = world.client();
    const auto at = [&](std::string_view filter) {
        LinkWish wish;
        wish.filter = a_filter(filter);
        return client.receiver(reading_address, wish);
    };
    const auto empty = at("amqp.annotation.x-opt-offset > '0'");
    EXPECT_EQ(empty->error.name, "com.microsoft:argument-error");
    EXPECT_TRUE(empty->error.description.starts_with(
        "The supplied offset '0' is invalid. The last offset in the system is '-1'"));
    EXPECT_TRUE(at("amqp.annotation.x-opt-sequence-number >= '-1'")->is_open());
    client.send(client.sender("eh1/Partitions/0"), a_batch({a_data("0"), a_data("1"), a_data("2")}),
                amqp::batch_format);

    const auto texts = [&](std::string_view filter) {
        const auto link = at(filter);
        client.run_for(200ms);
        EXPECT_TRUE(link->is_open()) << filter << " " << link->error.description;
        auto got = link->texts();
        link->link->detach(std::nullopt);
        client.flush();
        client.run_for(50ms);
        return got;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(texts("amqp.annotation.x-opt-offset >= '-1'"), (Texts{"0", "1", "2"}));
    EXPECT_EQ(texts("amqp.annotation.x-opt-offset > '0'"), (Texts{"1", "2"}));
    EXPECT_EQ(texts("amqp.annotation.x-opt-sequence-number > '1'"), (Texts{"2"}));
    EXPECT_EQ(texts("amqp.annotation.x-opt-sequence-number >= '1'"), (Texts{"1", "2"}));
    EXPECT_EQ(texts("amqp.annotation.x-opt-sequence-number > '2'"), Texts{});
    EXPECT_EQ(texts("amqp.annotation.x-opt-enqueued-time > '0'"), (Texts{"0", "1", "2"}));
    EXPECT_EQ(texts("amqp.annotation.x-opt-enqueued-time > '9223372036854775807'"), Texts{});
    EXPECT_EQ(texts("amqp.annotation.x-opt-offset > '@latest'"), Texts{});
    const auto beyond = at("amqp.annotation.x-opt-sequence-number > '3'");
    EXPECT_TRUE(beyond->error.description.starts_with(
        "The supplied sequence number '3' is invalid. The last sequence number in the system is "
        "'2'"));
    EXPECT_EQ(at("nonsense")->error.name, "com.microsoft:argument-error");
}

TEST(OwnerLevel, higher_and_equal_displace_lower_and_none_are_refused) {
    DoorFixture world;
    Client& client = world.client();
    Client& other = world.client();
    const auto none = client.receiver(reading_address);
    const auto first = client.receiver(reading_address, with_epoch(1, "one"));
    EXPECT_EQ(none->error.name, "amqp:link:stolen");

    const auto equal = other.receiver(reading_address, with_epoch(1, "two"));
    client.run_for(50ms);

    EXPECT_TRUE(equal->is_open());
    EXPECT_EQ(first->error.name, "amqp:link:stolen");
    EXPECT_TRUE(first->error.description.starts_with(
        "New receiver 'two' with higher epoch of '1' is created hence current receiver 'one' with "
        "epoch '1' is getting disconnected. If you are recreating the receiver, make sure a higher "
        "epoch is used."));
    const auto lower = client.receiver(reading_address, with_epoch(0, "three"));
    EXPECT_EQ(lower->error.name, "amqp:link:stolen");
    EXPECT_TRUE(lower->error.description.starts_with(
        "Receiver 'two' with a higher epoch '1' already exists. Receiver 'three' with epoch 0 "
        "cannot be created."));
    const auto without = client.receiver(reading_address);
    EXPECT_EQ(without->error.name, "amqp:link:stolen");
    EXPECT_TRUE(without->error.description.starts_with(
        "At least one receiver for the endpoint is created with epoch of '1'"));
    EXPECT_EQ(client.receiver(reading_address, with_epoch(-1))->error.name,
              "com.microsoft:argument-out-of-range");
}

TEST(OwnerLevel, is_forgotten_when_its_link_or_connection_ends) {
    DoorFixture world;
    Client& client = world.client();
    const auto high = client.receiver(reading_address, with_epoch(9));
    high->link->detach(std::nullopt);
    client.flush();
    client.run_for(50ms);
    EXPECT_TRUE(client.receiver(reading_address, with_epoch(5))->is_open());

    client.socket->close();
    client.run_for(1s);

    EXPECT_TRUE(world.client().receiver(reading_address)->is_open());
}

TEST(OwnerLevel, none_allows_five_readers_and_names_them_to_the_sixth) {
    DoorFixture world;
    Client& client = world.client();
    std::vector<ClientLinkRef> readers;
    for (int i = 0; i < 5; ++i) {
        LinkWish wish;
        wish.properties =
            a_map({{i % 2 == 0 ? "com.microsoft:receiver-name" : "com.microsoft.com:receiver-name",
                    a_string("r" + std::to_string(i))}});
        readers.push_back(client.receiver(reading_address, wish));
        EXPECT_TRUE(readers.back()->is_open());
    }
    const auto sixth = client.receiver(reading_address);
    EXPECT_EQ(sixth->error.name, "amqp:resource-limit-exceeded");
    EXPECT_TRUE(sixth->error.description.starts_with(
        "Exceeded the maximum number of allowed receivers per partition in a consumer group which "
        "is 5. List of connected receivers - r0, r1, r2, r3, r4"));

    readers[2]->link->detach(std::nullopt);
    client.flush();
    client.run_for(50ms);

    EXPECT_TRUE(client.receiver(reading_address)->is_open());
}

TEST(OwnerLevel, storm_of_equal_epochs_ends_with_exactly_one) {
    DoorFixture world;
    std::vector<ClientLinkRef> readers;
    for (int i = 0; i < 20; ++i)
        readers.push_back(world.client().receiver(reading_address, with_epoch(0)));
    world.scheduler.run_for(1s);

    int open = 0;
    for (const auto& reader : readers) open += reader->is_open() ? 1 : 0;
    EXPECT_EQ(open, 1);
    EXPECT_TRUE(readers.back()->is_open());
}

TEST(IdempotentProducer, gets_a_state_refuses_replays_and_gives_way_to_a_higher_epoch) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0", idempotent(std::nullopt));
    ASSERT_TRUE(link->is_open()) << link->error.description;
    EXPECT_EQ(link->answer.offered_capabilities,
              std::vector<std::string>{"com.microsoft:idempotent-producer"});
    const ByteView properties = link->answer.properties;
    const auto id = amqp::integer_in(properties, "com.microsoft:producer-id").value_or(-1);
    EXPECT_EQ(amqp::integer_in(properties, "com.microsoft:producer-epoch"), 0);
    EXPECT_EQ(amqp::integer_in(properties, "com.microsoft:producer-sequence-number"), 0);

    EXPECT_EQ(
        client.outcome(link, a_batch({stamped(id, 0, 1), stamped(id, 0, 2)}), amqp::batch_format),
        "");
    const auto replay = client.send(link, stamped(id, 0, 2));
    EXPECT_EQ(replay.error->name, "com.microsoft:out-of-order-sequence");
    EXPECT_NE(replay.error->description.find("old sequence"), std::string::npos);
    EXPECT_EQ(client.outcome(link, stamped(id, 0, 3)), "");
    const auto next = client.sender("eh1/Partitions/0", idempotent(id, 1, 3));
    EXPECT_TRUE(next->is_open());
    const auto stale = client.send(link, stamped(id, 0, 4));
    EXPECT_EQ(stale.error->name, "com.microsoft:producer-epoch-stolen");
    EXPECT_NE(stale.error->description.find("Received:0 Current:1"), std::string::npos);
    EXPECT_EQ(client.outcome(next, stamped(id, 1, 4)), "");
    EXPECT_EQ(world.stored("eh1", 0), 4u);
    const auto negative = client.sender("eh1/Partitions/0", idempotent(-1));
    EXPECT_EQ(negative->error.name, "com.microsoft:argument-out-of-range");
    EXPECT_EQ(client.sender("eh1", idempotent(std::nullopt))->error.name, "amqp:not-allowed");
}

// Asks for the number of its last event.
LinkWish asking(std::int64_t id) {
    return idempotent(id, std::nullopt, std::nullopt);
}
std::int64_t told_number(const ClientLinkRef& link) {
    return amqp::integer_in(link->answer.properties, "com.microsoft:producer-sequence-number")
        .value_or(-1);
}

TEST(IdempotentProducer, is_known_after_a_restart_of_the_hub) {
    DoorFixture world;
    {
        Client& client = world.client();
        const auto link = client.sender("eh1/Partitions/0", idempotent(7));
        const Buffer batch = a_batch({stamped(7, 0, 1), stamped(7, 0, 2)});
        EXPECT_EQ(client.outcome(link, batch, amqp::batch_format), "");
        EXPECT_EQ(client.outcome(link, stamped(7, 0, 3)), "");
        const auto other = client.sender("eh1/Partitions/0", idempotent(8, 4, 90));
        EXPECT_EQ(client.outcome(other, stamped(8, 4, 91)), "");
    }

    world.restart();

    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0", idempotent(7, std::nullopt, std::nullopt));
    EXPECT_EQ(told_number(link), 3) << "it asked for it";
    const auto replay =
        client.send(link, a_batch({stamped(7, 0, 2), stamped(7, 0, 3)}), amqp::batch_format);
    ASSERT_TRUE(replay.error);
    EXPECT_EQ(replay.error->name, "com.microsoft:out-of-order-sequence");
    EXPECT_NE(replay.error->description.find("old sequence"), std::string::npos);
    EXPECT_EQ(client.outcome(link, stamped(7, 0, 4)), "");
    EXPECT_EQ(told_number(client.sender("eh1/Partitions/0", idempotent(7, 0, 1))), 1)
        << "it knows less than the hub, and goes on from what it knows";

    const auto stale = client.sender("eh1/Partitions/0", idempotent(8, 3, 91));
    EXPECT_EQ(stale->error.name, "com.microsoft:producer-epoch-stolen");
    const auto newer = client.sender("eh1/Partitions/0", idempotent(8, 5, 91));
    EXPECT_EQ(client.outcome(newer, stamped(8, 4, 92)), "com.microsoft:producer-epoch-stolen");
    EXPECT_EQ(client.outcome(newer, stamped(8, 5, 92)), "");
    EXPECT_EQ(told_number(client.sender("eh1/Partitions/1", idempotent(7))), 0)
        << "each partition has numbers of its own";
    EXPECT_EQ(world.stored("eh1", 0), 6u);
}

TEST(IdempotentProducer, sends_only_events_of_its_own_id) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0", idempotent(7));
    ASSERT_TRUE(client.sender("eh1/Partitions/0", idempotent(0))->is_open());

    const auto foreign = client.send(link, stamped(0, 0, 1));
    EXPECT_EQ(foreign.error->name, "com.microsoft:argument-error");
    EXPECT_NE(foreign.error->description.find("not that of the link, 7"), std::string::npos);
    EXPECT_EQ(client.outcome(link, stamped(7, 1, 1)), "com.microsoft:argument-error");
    EXPECT_EQ(client.outcome(link, stamped(7, 0, 1)), "");
    EXPECT_EQ(world.stored("eh1", 0), 1u);
}

class LostAnswer : public testing::TestWithParam<bool> {};

// The event is stored, its acknowledgement does not arrive, and the producer comes again with the
// last number that it knows of.
TEST_P(LostAnswer, of_an_idempotent_producer_does_not_store_twice) {
    const bool restarts = GetParam();
    DoorFixture world;
    const Buffer first = a_batch({stamped(7, 0, 1, "a"), stamped(7, 0, 2, "b")});
    const Buffer second = a_batch({stamped(7, 0, 3, "c"), stamped(7, 0, 4, "d")});
    {
        Client& client = world.client();
        const auto link = client.sender("eh1/Partitions/0", idempotent(7));
        EXPECT_EQ(client.outcome(link, first, amqp::batch_format), "");
        client.reads = false;
        client.start_send(link, second, amqp::batch_format);
        EXPECT_TRUE(client.wait([&] { return world.stored("eh1", 0) == 4; }));
        client.socket->close();
    }
    if (restarts) world.restart();

    Client& again = world.client();
    const auto link = again.sender("eh1/Partitions/0", idempotent(7, 0, 2));
    EXPECT_EQ(told_number(link), 2) << "a higher one would make the repeat look new";
    EXPECT_EQ(again.outcome(link, second, amqp::batch_format), "") << "it is stored";
    EXPECT_EQ(world.stored("eh1", 0), 4u);

    EXPECT_EQ(again.outcome(link, first, amqp::batch_format),
              "com.microsoft:out-of-order-sequence");
    const Buffer other = a_batch({stamped(7, 0, 3, "x"), stamped(7, 0, 4, "d")});
    EXPECT_EQ(again.outcome(link, other, amqp::batch_format), "com.microsoft:out-of-order-sequence")
        << "other events under the numbers of stored ones are not acknowledged";
    EXPECT_EQ(again.outcome(link, stamped(7, 0, 5)), "");
    EXPECT_EQ(world.stored("eh1", 0), 5u);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutARestart, LostAnswer, testing::Bool());

// No SDK sends such a batch: the log keeps nothing of an envelope.
TEST(IdempotentProducer, that_stamps_only_the_envelope_is_forgotten_by_a_restart) {
    DoorFixture world;
    {
        Client& client = world.client();
        Buffer batch = a_stamp(7, 0, 1);
        const Buffer events = a_batch({a_data("a"), a_data("b")});
        batch.insert(batch.end(), events.begin(), events.end());
        const auto link = client.sender("eh1/Partitions/0", idempotent(7));
        EXPECT_EQ(client.outcome(link, batch, amqp::batch_format), "");
        EXPECT_EQ(told_number(client.sender("eh1/Partitions/0", asking(7))), 2);
    }

    world.restart();

    EXPECT_EQ(told_number(world.client().sender("eh1/Partitions/0", asking(7))), 0);
}

// A producer whose partition takes a minute to read attaches.
struct SlowRestart {
    SlowRestart() {
        Client& before = world.client();
        before.send(before.sender("eh1/Partitions/0", idempotent(7)), stamped(7, 0, 1));
        world.restart();
        world.reads.pause(1min);
        client = &world.client();
        link = start(*client);
    }
    ClientLinkRef start(Client& from) {
        auto started = from.start_attach(amqp::Role::sender, "eh1/Partitions/0", asking(7));
        world.scheduler.run_for(1s);
        EXPECT_FALSE(started->attached);
        return started;
    }
    DoorFixture world;
    Client* client = nullptr;
    ClientLinkRef link;
};

TEST(IdempotentProducer, alone_waits_while_the_log_is_read) {
    SlowRestart slow;

    const auto plain = slow.client->sender("eh1/Partitions/0");
    EXPECT_EQ(slow.client->outcome(plain, a_data("x")), "") << "others go on";
    EXPECT_FALSE(slow.link->attached);

    slow.world.scheduler.run_for(2min);
    ASSERT_TRUE(slow.link->is_open());
    EXPECT_EQ(told_number(slow.link), 1);
    EXPECT_EQ(slow.client->outcome(slow.link, stamped(7, 0, 2)), "");
}

TEST(IdempotentProducer, may_leave_while_the_log_is_read) {
    SlowRestart slow;
    slow.link->link->detach(std::nullopt);
    slow.client->flush();
    Client& other = slow.world.client();
    slow.start(other);
    other.socket->close();

    slow.world.scheduler.run_for(2min);

    EXPECT_FALSE(slow.client->closed);
    EXPECT_EQ(told_number(slow.client->sender("eh1/Partitions/0", asking(7))), 1);
}

TEST(IdempotentProducer, is_refused_when_the_event_hub_goes_while_the_log_is_read) {
    SlowRestart slow;

    slow.world.wait(
        [&](hub::Namespace::Done done) { slow.world.hubs->remove("eh1", std::move(done)); });
    slow.world.scheduler.run_for(2min);

    EXPECT_TRUE(slow.link->detached);
    EXPECT_EQ(slow.link->error.name, "amqp:not-found");
    EXPECT_FALSE(slow.client->closed);
}

TEST(IdempotentProducer, is_told_when_the_hub_stops_while_the_log_is_read) {
    SlowRestart slow;
    bool stopped = false;

    slow.world.door->stop([&] { stopped = true; });
    slow.world.scheduler.run_for(2min);

    EXPECT_TRUE(stopped);
    EXPECT_TRUE(slow.client->closed);
    EXPECT_FALSE(slow.link->is_open());
}

}  // namespace
}  // namespace evenkeel::door
