#include "door/amqp/ingest.h"

#include <gtest/gtest.h>

#include "door/door_fixture.h"
#include "eventhubs/forward.h"

namespace evenkeel::door {
namespace {

TEST(Ingest, settles_events_and_batches_when_durable) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    std::vector<Buffer> many;
    for (int i = 0; i < 1000; ++i) many.push_back(a_data(std::to_string(i)));
    world.disk_0.set_latency(50ms, 50ms);

    const auto id = client.start_send(link, a_data("x"));
    client.run_for(20ms);
    EXPECT_FALSE(client.outcomes.contains(id));
    EXPECT_TRUE(client.wait([&] { return client.outcomes.contains(id); }));
    EXPECT_EQ(client.outcome(link, a_batch(many), amqp::batch_format), "");
    EXPECT_EQ(client.outcome(link, {}, amqp::batch_format), "");

    EXPECT_EQ(world.stored("eh1", 0), 1001u);
}

TEST(Ingest, says_where_events_were_stored_to_those_who_ask) {
    DoorFixture world;
    Client& client = world.client();
    const auto silent = client.sender("eh1/Partitions/1");
    const auto asking = client.sender("eh1/Partitions/1", {.desired = {"evenkeel:receipts"}});
    EXPECT_TRUE(silent->answer.offered_capabilities.empty());
    EXPECT_EQ(asking->answer.offered_capabilities, std::vector<std::string>{"evenkeel:receipts"});

    EXPECT_FALSE(client.send(silent, a_data("0")).receipt) << "official SDKs get the plain outcome";
    const auto told =
        client.send(asking, a_batch({a_data("1"), a_data("2")}), amqp::batch_format).receipt;

    ASSERT_TRUE(told);
    EXPECT_EQ(told->partition, 1u);
    EXPECT_EQ(told->first_sequence_number, 1);
    EXPECT_EQ(told->last_sequence_number, 2);
    EXPECT_GT(told->last_offset, 0);
    EXPECT_FALSE(client.send(asking, {}, amqp::batch_format).receipt) << "nothing was stored";
}

// An event of a back-up: its key and its time are in its annotations.
Buffer restored(std::string_view body, std::string_view key, std::int64_t enqueued_ms) {
    return eventhubs::restorable(a_data(body), key, enqueued_ms);
}

TEST(Ingest, restores_events_with_their_own_keys_and_times) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/1", {.desired = {"evenkeel:restore"}});
    ASSERT_TRUE(link->is_open()) << link->error.description;
    EXPECT_EQ(link->answer.offered_capabilities, std::vector<std::string>{"evenkeel:restore"});

    EXPECT_EQ(client.outcome(link,
                             a_batch({restored("1", "a", 1000), restored("2", "", 1000),
                                      restored("3", "b", 3000), restored("4", "b", 2000),
                                      restored("5", "c", std::int64_t{1} << 60)}),
                             amqp::batch_format),
              "");
    EXPECT_EQ(client.outcome(link, a_batch({restored("6", std::string(200, 'k'), 1)}),
                             amqp::batch_format),
              "com.microsoft:argument-error");

    const auto reader =
        client.receiver("eh1/ConsumerGroups/$Default/Partitions/1",
                        {.filter = a_filter("amqp.annotation.x-opt-offset > '-1'")});
    ASSERT_TRUE(client.wait([&] { return reader->messages.size() == 5; }));
    std::vector<std::string> keys;
    std::vector<std::int64_t> times;
    for (const auto& message : reader->messages) {
        keys.push_back(message.annotation("x-opt-partition-key"));
        times.push_back(message.number("x-opt-enqueued-time"));
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"a", "none", "b", "b", "c"}));
    EXPECT_EQ(times[0], 1000);
    EXPECT_EQ(times[1], 1000);
    EXPECT_EQ(times[2], 3000);
    EXPECT_EQ(times[3], 3000) << "times do not fall";
    EXPECT_LE(times[4], world.now().milliseconds) << "nor do they lie in the future";
}

TEST(Ingest, restores_only_for_those_who_manage_and_to_a_partition) {
    DoorFixture world;
    Client& client = world.client();

    const auto anywhere = client.sender("eh1", {.desired = {"evenkeel:restore"}});
    EXPECT_EQ(anywhere->error.name, "amqp:not-allowed");
    const auto usual = client.sender("eh1/Partitions/0");
    EXPECT_EQ(client.outcome(usual, restored("1", "a", 1000)), "");
    const auto reader = client.receiver("eh1/ConsumerGroups/$Default/Partitions/0");
    ASSERT_TRUE(client.wait([&] { return reader->messages.size() == 1; }));
    EXPECT_GT(reader->messages[0].number("x-opt-enqueued-time"), 1000) << "it did not ask";
}

TEST(Ingest, does_not_restore_for_a_key_that_may_only_send) {
    DoorFixture world({}, {{"sender", "", other_key, {}, {true, false, false}}});
    Client& client = world.stranger();
    client.put_token(make_sas("sb://hub/eh1", "sender", other_key, world.now() + 1h),
                     "sb://hub/eh1");

    const auto link = client.sender("eh1/Partitions/0", {.desired = {"evenkeel:restore"}});

    EXPECT_EQ(link->error.name, "amqp:unauthorized-access");
    EXPECT_NE(link->error.description.find("'Manage' claim(s) are required"), std::string::npos)
        << link->error.description;
}

TEST(Ingest, routes_keys_like_azure_and_others_in_turn) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1");

    EXPECT_EQ(
        client.outcome(link, a_batch({a_data("1"), a_data("2")}, "alphabet"), amqp::batch_format),
        "");
    EXPECT_EQ(world.stored("eh1", 2), 2u);  // as the table of known keys has it
    for (int i = 0; i < 8; ++i) client.send(link, a_data("turn"));
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(world.stored("eh1", i), i == 2 ? 4u : 2u);
    EXPECT_EQ(
        client.outcome(link, a_batch({a_data("1")}, std::string(200, 'k')), amqp::batch_format),
        "com.microsoft:argument-error");
}

TEST(Ingest, takes_the_largest_message_and_refuses_one_byte_more) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0", {.max_message_bytes = 10'000});
    const std::size_t overhead = a_data(std::string(9'000, 'x')).size() - 9'000;

    EXPECT_EQ(client.outcome(link, a_data(std::string(10'000 - overhead, 'x'))), "");
    const auto over = client.send(link, a_data(std::string(10'001 - overhead, 'x')));

    ASSERT_TRUE(over.error);
    EXPECT_EQ(over.error->name, "amqp:link:message-size-exceeded");
    EXPECT_NE(over.error->description.find("size:10001 bytes) exceeds the limit (10000 bytes)"),
              std::string::npos)
        << over.error->description;
    EXPECT_EQ(client.outcome(link, a_data("the link goes on")), "");
    EXPECT_EQ(world.stored("eh1", 0), 2u);
}

TEST(Ingest, takes_a_megabyte_in_many_frames) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    const auto reader = client.receiver(reading_address);
    const std::string body(1'000'000, 'b');

    EXPECT_EQ(client.outcome(link, a_data(body)), "");
    EXPECT_TRUE(client.wait([&] { return !reader->messages.empty(); }));

    EXPECT_EQ(reader->messages[0].text(), body);
}

TEST(Ingest, rejects_what_is_malformed_and_stores_nothing_of_it) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");

    EXPECT_EQ(client.outcome(link, a_batch({a_data("good"), Buffer(4, std::byte{0xff})}),
                             amqp::batch_format),
              "amqp:decode-error");
    EXPECT_EQ(client.outcome(link, Buffer(4, std::byte{0xff})), "amqp:decode-error");
    EXPECT_EQ(client.outcome(link, a_data("x")), "");

    EXPECT_EQ(world.stored("eh1", 0), 1u);
}

TEST(Ingest, says_server_busy_above_the_throughput_limit) {
    DoorFixture world({.throttle = {.events_per_second = 10}});
    Client& client = world.client();
    const auto link = client.sender("eh1");
    std::vector<Buffer> many(25, a_data("x"));

    EXPECT_EQ(client.outcome(link, a_batch(many), amqp::batch_format), "");
    EXPECT_EQ(client.outcome(link, a_data("x")), "com.microsoft:server-busy");
    client.run_for(4s);
    EXPECT_EQ(client.outcome(link, a_data("x")), "");
}

TEST(Ingest, rejects_when_the_hub_has_gone_and_readers_are_told) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1");
    const auto reader = client.receiver(reading_address);

    world.wait([&](hub::Namespace::Done done) { world.hubs->remove("eh1", std::move(done)); });
    client.run_for(100ms);

    EXPECT_EQ(client.outcome(link, a_data("x")), "amqp:not-found");
    EXPECT_TRUE(reader->detached);
    EXPECT_EQ(reader->error.name, "amqp:not-found");
}

TEST(Ingest, of_a_hub_that_was_created_again_is_closed) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    EXPECT_EQ(client.outcome(link, a_data("old")), "");
    world.wait([&](hub::Namespace::Done done) { world.hubs->remove("eh1", std::move(done)); });
    world.create("eh1", 4);

    client.send(link, a_data("for the old one"));

    EXPECT_TRUE(link->detached);
    EXPECT_EQ(link->error.name, "amqp:not-found");
    EXPECT_EQ(world.stored("eh1", 0), 0u);
    EXPECT_EQ(client.outcome(client.sender("eh1/Partitions/0"), a_data("for the new one")), "");
}

TEST(Ingest, does_not_tell_clients_the_names_of_files) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    world.disk.set_capacity_bytes(1);

    const auto state = client.send(link, a_data("x"));

    ASSERT_TRUE(state.error);
    EXPECT_EQ(state.error->name, "com.microsoft:server-busy");
    EXPECT_TRUE(state.error->description.starts_with("The storage of the partition is full. "))
        << state.error->description;
}

}  // namespace
}  // namespace evenkeel::door
