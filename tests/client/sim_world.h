// A hub with its door on one simulated host and a client on another, in virtual time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "client/connection.h"
#include "client/reader_core.h"
#include "door/door.h"
#include "eventhubs/encoding.h"
#include "hub/hub_fixture.h"
#include "io/sim/network.h"
#include "producer/batch_access.h"
#include "producer/buffer.h"
#include "producer/core.h"

namespace evenkeel::test {

inline constexpr std::uint16_t sim_port = 5672;

struct SimClientOptions {
    std::string event_hub = "homes";
    std::string key_name = "app";
    std::string key = "c2VjcmV0";
    RetryOptions retry = {};
    std::chrono::seconds token_life{3600};
    std::uint16_t port = sim_port;
};

class SimWorld {
public:
    explicit SimWorld(std::uint32_t partitions = 2, door::DoorOptions options = {})
        : door_options_(std::move(options)) {
        hub::opened(hub_);
        EXPECT_TRUE(hub_.create("homes", {.partitions = partitions}).ok());
        hub_network_ = &network_.host("hub", hub_.node->loop);
        client_network_ = &network_.host("client", client_loop);
        start_door();
    }
    ~SimWorld() {
        buffer.reset();
        core.reset();
        readers_.clear();
        connection.reset();
        client_loop.discard();
        reads_->discard();
        door_.reset();
    }
    SimWorld(const SimWorld&) = delete;
    SimWorld& operator=(const SimWorld&) = delete;

    void start_door() {
        door_ = std::make_unique<door::Door>(
            hub_.node->loop, *reads_, *hub_network_, *hub_.hub,
            door::AccessRules({{"app", "", Secret("c2VjcmV0"), Secret(), {true, true, true}},
                               {"reader", "", Secret("c2VjcmV0"), Secret(), {false, true, false}}}),
            door_options_);
        const auto listening = door_->listen({"hub", sim_port});
        EXPECT_TRUE(listening.ok()) << (listening.ok() ? "" : listening.error().detail);
    }
    void stop_door() {
        bool stopped = false;
        door_->stop([&] { stopped = true; });
        EXPECT_TRUE(run_until([&] { return stopped; }));
        run_for(std::chrono::seconds(1));  // lets its last tasks end
        door_.reset();
    }
    void restart_door(door::DoorOptions options) {
        stop_door();
        door_options_ = std::move(options);
        start_door();
    }
    // The hub's process is killed, and another one starts with what is on the disk.
    void kill_hub() {
        network_.crash("hub");
        hub_.node->discard();
        reads_->discard();
        door_.reset();
        hub_.kill();
        hub_.disk = hub_.disk->kill();
        reads_ = make_reads();
        hub::opened(hub_);
        hub_network_ = &network_.host("hub", hub_.node->loop);
        start_door();
    }

    void connect(const SimClientOptions& options = {}) {
        client::ConnectionOptions wanted;
        wanted.target.endpoint = {"hub", options.port};
        wanted.target.tls = false;
        wanted.target.event_hub = options.event_hub;
        wanted.target.key_name = options.key_name;
        wanted.target.key = Secret(options.key);
        wanted.name = "test";
        wanted.retry = options.retry;
        wanted.token_life = options.token_life;
        wanted.seed = hub_.scheduler.fork_random().next();
        connection = std::make_unique<client::Connection>(client_loop, *client_network_, wanted);
        core = std::make_unique<producer::Core>(*connection, 16);
    }

    template <typename Start>
    Result<> wait(Start start) {
        std::optional<Result<>> answer;
        start([&](Result<> result) { answer = std::move(result); });
        if (!run_until([&] { return answer.has_value(); })) {
            return Error{ErrorCode::timed_out, "the test waited for an hour"};
        }
        return *answer;
    }
    Result<> open_producer() {
        return wait([&](auto done) { core->open(std::move(done)); });
    }
    Result<> send(std::uint32_t partition, const std::vector<std::string>& bodies) {
        SendBatch batch({.partition = partition}, 1 << 20);
        for (const auto& body : bodies) EXPECT_TRUE(batch.try_add(body));
        auto message =
            std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch));
        return wait([&](auto done) { core->send(partition, message, std::move(done)); });
    }
    Result<client::ReaderCore*> open_reader(std::uint32_t partition, const Position& position,
                                            RemoteReaderOptions options = {},
                                            std::string_view group = "$Default") {
        readers_.push_back(std::make_unique<client::ReaderCore>(*connection, group, partition,
                                                                position, std::move(options)));
        client::ReaderCore* const reader = readers_.back().get();
        EK_TRY(wait([&](auto done) { reader->open(std::move(done)); }));
        return reader;
    }
    Result<std::vector<std::string>> read(client::ReaderCore& reader, std::size_t events_max,
                                          Duration wait_for = std::chrono::seconds(60)) {
        std::optional<Result<EventBatch>> answer;
        reader.read(events_max, wait_for,
                    [&](Result<EventBatch> batch) { answer = std::move(batch); });
        EXPECT_TRUE(run_until([&] { return answer.has_value(); }));
        EK_TRY_ASSIGN(const auto batch, std::move(*answer));
        std::vector<std::string> texts;
        for (const auto& event : batch) texts.emplace_back(event.text());
        return texts;
    }
    // Exactly so many, in as many reads as it takes.
    std::vector<std::string> read_all(client::ReaderCore& reader, std::size_t count) {
        std::vector<std::string> texts;
        while (texts.size() < count) {
            const auto more = read(reader, count - texts.size());
            if (!more.ok() || more->empty()) {
                ADD_FAILURE() << (more.ok() ? "nothing came" : to_string(more.error()));
                break;
            }
            texts.insert(texts.end(), more->begin(), more->end());
        }
        return texts;
    }

    bool run_until(Callback<bool()> condition, Duration at_most = std::chrono::hours(1)) {
        return hub_.scheduler.run_until(std::move(condition), at_most);
    }
    void run_for(Duration duration) { hub_.scheduler.run_for(duration); }
    Instant now() { return hub_.scheduler.now(); }
    void reset_connections() { network_.reset("client", "hub"); }
    io::sim::SimNetwork& network() { return network_; }
    io::sim::Scheduler& scheduler() { return hub_.scheduler; }
    hub::HubFixture& hub() { return hub_; }
    std::size_t connection_count() const { return door_->connection_count(); }

private:
    std::unique_ptr<io::sim::SimExecutor> make_reads() {
        return std::make_unique<io::sim::SimExecutor>(hub_.scheduler, "read/0");
    }

    hub::HubFixture hub_;
    io::sim::SimNetwork network_{hub_.scheduler};
    std::unique_ptr<io::sim::SimExecutor> reads_ = make_reads();
    door::DoorOptions door_options_;
    io::Network* hub_network_ = nullptr;
    io::Network* client_network_ = nullptr;
    std::unique_ptr<door::Door> door_;

public:
    io::sim::SimLoop client_loop{hub_.scheduler, "client"};
    std::unique_ptr<client::Connection> connection;
    std::unique_ptr<producer::Core> core;
    std::unique_ptr<producer::Buffer> buffer;

private:
    std::vector<std::unique_ptr<client::ReaderCore>> readers_;
};

}  // namespace evenkeel::test
