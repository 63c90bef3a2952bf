// Quotas of keys and event hubs, as clients meet them.
#include <gtest/gtest.h>

#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

const Secret app_key("the key of app");

std::vector<Rule> app_rule() {
    return {{"app", "", app_key, {}, {true, true, false}}};
}

// Logged in by the key of app.
Client& app_client(DoorFixture& world) {
    Client& client = world.stranger();
    client.start_token(make_sas("sb://hub/", "app", app_key, world.now() + 1h), "sb://hub/");
    client.run_for(100ms);
    return client;
}

// More than a quota of one event a second has for the next two seconds.
Buffer three() {
    return a_batch({a_data("a"), a_data("b"), a_data("c")});
}

std::uint64_t refusals(Metrics& metrics, std::string_view reason) {
    return metrics.counter("evenkeel_refusals_total", "", {{"reason", reason}}).value();
}

TEST(Quota, of_a_key_throttles_whoever_sends_by_it_and_nobody_else) {
    Metrics metrics;
    DoorFixture world({.quotas = {{"app", "", {.events_per_second = 10}}}, .metrics = &metrics},
                      app_rule());
    Client& app = app_client(world);
    Client& second = app_client(world);
    Client& root = world.client();
    const auto link = app.sender("eh1");
    const auto other = second.sender("eh1/Partitions/1");
    const auto of_root = root.sender("eh1");
    const std::vector<Buffer> many(25, a_data("x"));

    EXPECT_EQ(app.outcome(link, a_batch(many), amqp::batch_format), "");
    const auto refused = app.send(link, a_data("x"));
    EXPECT_EQ(second.outcome(other, a_data("x")), "com.microsoft:server-busy");
    EXPECT_EQ(root.outcome(of_root, a_batch(many), amqp::batch_format), "");
    EXPECT_EQ(root.outcome(of_root, a_data("x")), "");
    app.run_for(4s);
    EXPECT_EQ(app.outcome(link, a_data("x")), "");

    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->name, "com.microsoft:server-busy");
    EXPECT_NE(refused.error->description.find("the key 'app' is being throttled "
                                              "(events_per_second = 10)"),
              std::string::npos)
        << refused.error->description;
    EXPECT_EQ(refused.error->description.find(app_key.reveal()), std::string::npos);
    EXPECT_EQ(refusals(metrics, "throttled_key"), 2u);
    EXPECT_EQ(refusals(metrics, "throttled"), 0u);
}

TEST(Quota, of_an_event_hub_throttles_all_who_send_to_it) {
    Metrics metrics;
    DoorFixture world({.quotas = {{"", "eh1", {.bytes_per_second = 100}}}, .metrics = &metrics},
                      app_rule());
    world.create("eh2", 1);
    Client& app = app_client(world);
    Client& root = world.client();
    const auto link = app.sender("EH1");
    const auto of_root = root.sender("eh1");

    EXPECT_EQ(app.outcome(link, a_data(std::string(200, 'x'))), "");
    const auto refused = root.send(of_root, a_data("x"));
    EXPECT_EQ(root.outcome(root.sender("eh2"), a_data(std::string(200, 'x'))), "");

    ASSERT_TRUE(refused.error);
    EXPECT_NE(refused.error->description.find("the event hub 'eh1' is being throttled "
                                              "(bytes_per_second = 100)"),
              std::string::npos)
        << refused.error->description;
    EXPECT_EQ(refusals(metrics, "throttled_hub"), 1u);
}

TEST(Quota, goes_with_the_key_that_a_link_has_its_right_by) {
    DoorFixture world({.quotas = {{"app", "", {.events_per_second = 1}}}}, app_rule());
    Client& client = app_client(world);
    const auto link = client.sender("eh1");
    EXPECT_EQ(client.outcome(link, three(), amqp::batch_format), "");
    EXPECT_EQ(client.outcome(link, a_data("x")), "com.microsoft:server-busy");

    client.authorize();  // root's token replaces that of app

    EXPECT_EQ(client.outcome(link, three(), amqp::batch_format), "");
    EXPECT_EQ(client.outcome(link, a_data("x")), "");
}

TEST(Quota, bounds_the_connections_of_a_key) {
    Metrics metrics;
    DoorFixture world({.quotas = {{"app", "", {}, 2}}, .metrics = &metrics}, app_rule());
    Client& first = app_client(world);
    app_client(world);
    Client& third = app_client(world);
    Client& root = world.client();

    EXPECT_TRUE(third.closed);
    EXPECT_EQ(third.close_error.name, "amqp:resource-limit-exceeded");
    EXPECT_NE(third.close_error.description.find(
                  "The key 'app' has its 2 connections already; close one, or raise "
                  "connections_max of its quota."),
              std::string::npos)
        << third.close_error.description;
    EXPECT_EQ(refusals(metrics, "key_connections_max"), 1u);
    EXPECT_EQ(root.outcome(root.sender("eh1"), a_data("x")), "");
    // A new token on the same connection is no new connection.
    first.start_token(make_sas("sb://hub/", "app", app_key, world.now() + 2h), "sb://hub/");
    first.run_for(100ms);
    EXPECT_FALSE(first.closed);
    first.socket->close();
    first.run_for(1s);
    Client& fourth = app_client(world);
    EXPECT_EQ(fourth.outcome(fourth.sender("eh1"), a_data("x")), "");
}

TEST(Quota, bounds_the_connections_of_a_key_that_log_in_by_sasl) {
    DoorFixture world({.quotas = {{"app", "", {}, 1}}}, app_rule());
    amqp::ConnectionOptions plain;
    plain.mechanism = "PLAIN";
    plain.response = std::string("\0app\0", 5) + app_key.reveal();
    Client& first = world.stranger(plain);
    Client& second = world.stranger(plain);
    second.run_for(100ms);

    EXPECT_EQ(first.outcome(first.sender("eh1"), a_data("x")), "");
    EXPECT_TRUE(second.closed);
    EXPECT_EQ(second.close_error.name, "amqp:resource-limit-exceeded");
}

TEST(Quota, bounds_the_connections_with_links_to_an_event_hub) {
    Metrics metrics;
    DoorFixture world({.quotas = {{"", "eh1", {}, 1}}, .metrics = &metrics});
    world.create("eh2", 1);
    Client& first = world.client();
    Client& second = world.client();
    const auto sender = first.sender("eh1");
    const auto reader = first.receiver("eh1/ConsumerGroups/$Default/Partitions/0");
    const auto refused = second.receiver("eh1/ConsumerGroups/$Default/Partitions/1");

    EXPECT_TRUE(sender->is_open());
    EXPECT_TRUE(reader->is_open());
    EXPECT_EQ(refused->error.name, "amqp:resource-limit-exceeded");
    EXPECT_TRUE(
        refused->error.description.starts_with("The event hub 'eh1' has its 1 connections already"))
        << refused->error.description;
    EXPECT_TRUE(second.sender("eh2")->is_open());
    EXPECT_EQ(refusals(metrics, "hub_connections_max"), 1u);
    sender->link->detach({});
    first.flush();
    first.run_for(100ms);
    EXPECT_TRUE(second.sender("eh1")->detached);  // the reader is still there
    reader->link->detach({});
    first.flush();
    first.run_for(100ms);
    EXPECT_TRUE(second.sender("eh1")->is_open());
}

TEST(Quota, that_is_set_later_counts_those_who_are_there) {
    DoorFixture world({}, app_rule());
    Client& first = app_client(world);
    const auto link = first.sender("eh1");
    EXPECT_EQ(first.outcome(link, a_data("x")), "");

    world.door->set_quotas({}, {{"app", "", {.events_per_second = 1}, 1}, {"", "eh1", {}, 1}});
    Client& second = app_client(world);
    Client& root = world.client();
    const auto refused = root.sender("eh1");

    EXPECT_TRUE(second.closed);
    EXPECT_TRUE(refused->detached);
    EXPECT_FALSE(first.closed);
    EXPECT_EQ(first.outcome(link, three(), amqp::batch_format), "");
    EXPECT_EQ(first.outcome(link, a_data("x")), "com.microsoft:server-busy");
    world.door->set_quotas({}, {});
    EXPECT_EQ(first.outcome(link, a_data("x")), "");
    EXPECT_TRUE(root.sender("eh1")->is_open());
}

}  // namespace
}  // namespace evenkeel::door
