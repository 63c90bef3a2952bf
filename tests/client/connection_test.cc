// A client's connection in a simulated world: losses, refusals, tokens, and an end.
#include <gtest/gtest.h>

#include "client/sim_world.h"

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

// A sender link that counts what happens to it.
class Probe final : public client::WantedLink {
public:
    explicit Probe(std::string address) : address_(std::move(address)) {}
    amqp::Attach attach() override {
        amqp::Attach attach;
        attach.name = address_;
        attach.role = amqp::Role::sender;
        attach.target = amqp::terminus(amqp::descriptor::target, address_);
        return attach;
    }
    void on_attached(amqp::Link&) override { ++attached; }
    bool on_lost(const client::Failure& failure, std::uint32_t) override {
        failures.push_back(failure);
        return true;
    }

    int attached = 0;
    std::vector<client::Failure> failures;

private:
    std::string address_;
};

TEST(ClientConnection, renews_its_token_before_it_ends) {
    SimWorld world;
    world.connect({.token_life = 60s});
    Probe probe("homes");
    world.connection->want(probe);

    world.run_for(20min);

    EXPECT_EQ(probe.attached, 1);
    EXPECT_TRUE(probe.failures.empty());
    EXPECT_EQ(world.connection_count(), 1u);
    world.connection->drop(probe);
}

TEST(ClientConnection, comes_back_when_the_door_does) {
    SimWorld world;
    world.connect();
    Probe probe("homes");
    world.connection->want(probe);
    ASSERT_TRUE(world.run_until([&] { return probe.attached == 1; }));

    world.stop_door();
    world.run_for(5s);
    world.start_door();

    EXPECT_TRUE(world.run_until([&] { return probe.attached == 2; }, 30s));
    for (const auto& failure : probe.failures) EXPECT_TRUE(failure.retry) << failure.error.detail;
    world.connection->drop(probe);
}

TEST(ClientConnection, refuses_a_wrong_key_at_once) {
    SimWorld world;
    world.connect({.key = "d3Jvbmc="});
    const Instant before = world.now();

    const auto opened = world.open_producer();

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::not_allowed);
    EXPECT_NE(opened.error().detail.find("InvalidSignature"), std::string::npos);
    EXPECT_LT(world.now() - before, Duration(1s));
    world.run_for(1min);
    EXPECT_EQ(world.connection_count(), 0u) << "it is not tried again";
}

TEST(ClientConnection, tells_a_missing_right_at_once) {
    SimWorld world;
    world.connect({.key_name = "reader"});

    const auto opened = world.open_producer();

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::not_allowed);
    EXPECT_NE(opened.error().detail.find("'Send'"), std::string::npos);
}

TEST(ClientConnection, tells_an_unknown_event_hub_group_and_partition) {
    SimWorld world;
    world.connect({.event_hub = "barns"});
    EXPECT_EQ(world.open_producer().error().code, ErrorCode::not_found);
    world.core.reset();
    world.connection.reset();

    world.connect();

    EXPECT_EQ(world.send(7, {"x"}).error().code, ErrorCode::not_found);
    EXPECT_EQ(world.open_reader(7, Position::earliest()).error().code, ErrorCode::not_found);
    EXPECT_EQ(world.open_reader(7, Position::latest()).error().code, ErrorCode::not_found);
    EXPECT_EQ(world.open_reader(0, Position::earliest(), {}, "nobody").error().code,
              ErrorCode::not_found);
    EXPECT_EQ(world.open_reader(0, Position::at_sequence(5)).error().code,
              ErrorCode::invalid_argument);
}

TEST(ClientConnection, gives_up_after_its_retries_where_nobody_listens) {
    SimWorld world;
    world.connect({.retry = {.retries_max = 3, .delay = 100ms}, .port = 99});
    const Instant before = world.now();

    const auto opened = world.open_producer();

    EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
    EXPECT_GT(world.now() - before, Duration(500ms));
    EXPECT_LT(world.now() - before, Duration(2s));
}

TEST(ClientConnection, gives_up_on_a_hub_that_does_not_answer) {
    SimWorld world;
    world.connect({.retry = {.retries_max = 1, .delay = 100ms, .try_timeout = 5s}});
    world.network().freeze("hub");
    const Instant before = world.now();

    const auto opened = world.open_producer();

    EXPECT_EQ(opened.error().code, ErrorCode::timed_out);
    EXPECT_LT(world.now() - before, Duration(12s));
    world.network().thaw("hub");
}

TEST(ClientConnection, answers_questions_about_hub_and_partitions) {
    SimWorld world(3);
    world.connect();
    ASSERT_TRUE(world.send(1, {"a", "b"}).ok());
    std::optional<Result<client::NodeReply>> hub, partition, missing;

    world.connection->read_event_hub([&](auto reply) { hub = std::move(reply); });
    world.connection->read_partition(1, [&](auto reply) { partition = std::move(reply); });
    world.connection->read_partition(3, [&](auto reply) { missing = std::move(reply); });
    ASSERT_TRUE(world.run_until([&] { return hub && partition && missing; }));

    const auto properties = client::decode_event_hub(hub->value().body).value();
    EXPECT_EQ(properties.name, "homes");
    EXPECT_EQ(properties.partitions, 3u);
    const auto info = client::decode_partition(partition->value().body).value();
    EXPECT_EQ(info.partition, 1u);
    EXPECT_EQ(info.begin_sequence_number, 0);
    EXPECT_EQ(info.last_enqueued_sequence_number, 1);
    EXPECT_FALSE(info.is_empty);
    EXPECT_EQ(missing->error().code, ErrorCode::not_found);
}

TEST(ClientConnection, asks_again_after_a_loss) {
    SimWorld world;
    world.connect();
    std::optional<Result<client::NodeReply>> hub;
    world.connection->read_event_hub([&](auto reply) { hub = std::move(reply); });
    for (int i = 0; i < 5; ++i) {
        world.run_for(1ms);
        world.reset_connections();
    }

    ASSERT_TRUE(world.run_until([&] { return hub.has_value(); }));

    EXPECT_TRUE(hub->ok()) << hub->error().detail;
}

// CLIENT-7
TEST(ClientConnection, ends_with_a_good_bye_and_then_silence) {
    SimWorld world;
    world.connect();
    Probe probe("homes");
    world.connection->want(probe);
    ASSERT_TRUE(world.run_until([&] { return probe.attached == 1; }));
    std::optional<Result<client::NodeReply>> hub;
    world.connection->read_event_hub([&](auto reply) { hub = std::move(reply); });
    bool stopped = false;

    world.connection->stop([&] { stopped = true; });
    ASSERT_TRUE(world.run_until([&] { return stopped; }, 2s));

    ASSERT_EQ(probe.failures.size(), 1u);
    EXPECT_EQ(probe.failures[0].error.code, ErrorCode::cancelled);
    EXPECT_EQ(hub->error().code, ErrorCode::cancelled);
    world.run_for(1min);
    EXPECT_EQ(probe.attached, 1);
    EXPECT_EQ(world.connection_count(), 0u);
}

}  // namespace
}  // namespace evenkeel::test
