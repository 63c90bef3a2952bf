// Clients that connect, keep the connection alive, and never log in: they end in time, and while
// they are there others get in.
#include <gtest/gtest.h>

#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

// Opens and sends heartbeats for ever. Comes back at once when it is closed, if it is asked to.
class Stranger {
public:
    Stranger(DoorFixture& world, std::string host, bool comes_back)
        : world_(world), host_(std::move(host)), comes_back_(comes_back) {
        connect();
    }

    void beat() {
        if (!client_) return;
        client_->connection->tick(world_.client_loop.clock().now());
        client_->flush();
        if (!client_->closed) return;
        client_->socket->close();
        ++closed;
        last_error = client_->close_error.name;
        gone_.push_back(std::move(client_));
        if (comes_back_) connect();
    }

    int closed = 0;
    std::string last_error;

private:
    void connect() {
        client_ = std::make_unique<Client>(world_.scheduler, world_.client_loop,
                                           world_.network.host(host_, world_.client_loop));
    }

    DoorFixture& world_;
    const std::string host_;
    const bool comes_back_;
    std::unique_ptr<Client> client_;
    std::vector<std::unique_ptr<Client>> gone_;
};

void run(DoorFixture& world, std::vector<std::unique_ptr<Stranger>>& crowd, Duration duration) {
    for (Duration past{}; past < duration; past += 100ms) {
        world.scheduler.run_for(100ms);
        for (auto& each : crowd) each->beat();
    }
}

std::vector<std::unique_ptr<Stranger>> a_crowd(DoorFixture& world, const std::string& host,
                                               bool comes_back) {
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 100; ++i) {
        crowd.push_back(std::make_unique<Stranger>(world, host, comes_back));
    }
    run(world, crowd, 1s);
    return crowd;
}

TEST(Strangers, that_beat_for_ever_end_and_leave_room_meanwhile) {
    DoorFixture world({.connections_max = 100});
    auto crowd = a_crowd(world, "crowd", false);
    EXPECT_GE(world.door->connection_count(), 50u);

    for (int i = 0; i < 20; ++i) {
        Client& honest = world.client();
        EXPECT_EQ(honest.outcome(honest.sender("eh1"), a_data("x")), "") << i;
        run(world, crowd, 100ms);
    }
    run(world, crowd, 35s);

    EXPECT_EQ(world.door->connection_count(), 20u) << "only those who logged in";
    int refused = 0;
    for (auto& each : crowd) {
        EXPECT_EQ(each->closed, 1);
        if (each->last_error == "amqp:resource-limit-exceeded") ++refused;
    }
    EXPECT_GE(refused, 50) << "those beyond the share, and those whose places were taken";
}

TEST(Strangers, that_come_back_at_once_do_not_keep_others_out) {
    DoorFixture world({.connections_max = 100});
    auto crowd = a_crowd(world, "crowd", true);

    for (int i = 0; i < 60; ++i) {
        Client& honest = world.client();
        ASSERT_FALSE(honest.closed) << i << ": " << honest.close_error.description;
        EXPECT_EQ(honest.outcome(honest.sender("eh1"), a_data("x")), "") << i;
        run(world, crowd, 500ms);
    }
    for (const auto& client : world.clients) EXPECT_FALSE(client->closed);
}

TEST(Strangers, are_told_when_their_time_to_log_in_is_over) {
    DoorFixture world({.times = {.login = 5s}});
    Client& stranger = world.stranger();
    Client& honest = world.client();
    stranger.run_for(4500ms);
    EXPECT_FALSE(stranger.closed);

    stranger.run_for(2s);
    EXPECT_TRUE(stranger.closed);
    EXPECT_EQ(stranger.close_error.name, "amqp:unauthorized-access");
    EXPECT_FALSE(honest.closed);
}

TEST(Strangers, are_those_too_whose_tokens_have_ended) {
    DoorFixture world({.times = {.login = 5s}});
    Client& client = world.stranger();
    client.authorize(20s);
    client.run_for(19s);
    EXPECT_FALSE(client.closed) << client.close_error.description;

    client.run_for(9s);
    EXPECT_TRUE(client.closed);
    EXPECT_EQ(client.close_error.name, "amqp:unauthorized-access");
}

TEST(Strangers, of_one_address_are_refused_beyond_its_limit) {
    DoorFixture world({.connections_max = 100, .connections_per_address_max = 2});
    world.client();
    world.client();

    Client& third = world.stranger();
    third.run_for(1s);
    EXPECT_TRUE(third.closed);
    EXPECT_EQ(third.close_error.name, "amqp:resource-limit-exceeded");
    EXPECT_NE(third.close_error.description.find("from this address"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::door
