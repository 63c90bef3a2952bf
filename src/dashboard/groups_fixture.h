// A simulated hub and a store in memory whose group somebody watches, for the tests beside it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/memory/store.h"
#include "dashboard/groups.h"
#include "hub/hub_fixture.h"
#include "processor/ownership/group_home.h"

namespace evenkeel::dashboard {

// Stores in one memory, and one in another, on a loop of their own.
class SimStores final : public Stores {
public:
    explicit SimStores(io::sim::Scheduler& scheduler)
        : server(scheduler.clock()), other(scheduler.clock()), loop(scheduler, "watch/0") {}
    ~SimStores() override { loop.discard(); }

    io::Loop& loop_of(const std::string&) override { return loop; }
    Result<std::unique_ptr<checkpoint::Store>> open(const std::string& url,
                                                    const checkpoint::GroupName& group,
                                                    io::Loop& on) override {
        ++opens;
        if (away) return *away;
        return std::unique_ptr<checkpoint::Store>(std::make_unique<checkpoint::MemoryStore>(
            on, url == "memory:other" ? other : server, group));
    }

    checkpoint::MemoryServer server;
    checkpoint::MemoryServer other;  // of "memory:other"
    io::sim::SimLoop loop;
    int opens = 0;
    std::optional<Error> away;  // why nothing can be opened
};

// Writes what the members of group "billing" of event hub "homes" would.
class SimGroup {
public:
    SimGroup(io::sim::Scheduler& scheduler, SimStores& stores, const std::string& identity)
        : scheduler_(scheduler),
          store(stores.loop, stores.server, {"localhost", "homes", "billing"}) {
        checkpoint::MemoryStore by_identity(stores.loop, stores.server,
                                            {identity, "homes", "billing"});
        by_identity.write_record({std::string(processor::home_name_key), "localhost"}, [](auto) {});
        store.write_record({std::string(processor::home_hub_key), identity}, [](auto) {});
        run();
    }

    // A heartbeat.
    void beat(const std::string& id, std::vector<checkpoint::Offer> offers = {},
              const std::string& note = "host-1:7") {
        store.write_member({.id = id,
                            .incarnation = id + "-1",
                            .since_ms = 1000,
                            .note = note,
                            .offers = std::move(offers),
                            .version = versions_[id]},
                           [this, id](const Result<std::string>& version) {
                               ASSERT_TRUE(version.ok());
                               versions_[id] = *version;
                           });
        run();
    }
    void own(std::uint32_t partition, const std::string& id, std::int64_t epoch) {
        const std::string key = std::to_string(partition);
        store.write_ownerships(
            {{.partition = {partition}, .owner = id, .epoch = {epoch}, .version = versions_[key]}},
            [this, key](const auto& written) {
                ASSERT_TRUE(written.ok() && written->front().ok());
                versions_[key] = *written->front();
            });
        run();
    }
    void handle(std::uint32_t partition, std::int64_t sequence, std::int64_t enqueued_ms,
                std::int64_t hub_created_ms = 0) {
        store.write_checkpoint({.partition = {partition},
                                .sequence = {sequence},
                                .epoch = {1},
                                .hub_created_ms = hub_created_ms,
                                .enqueued_ms = enqueued_ms},
                               [](const Result<>& written) { ASSERT_TRUE(written.ok()); });
        run();
    }
    void write(const std::string& key, const std::string& value) {
        store.write_record({key, value}, [](const auto& written) { ASSERT_TRUE(written.ok()); });
        run();
    }
    void run() { scheduler_.run_for(std::chrono::milliseconds(1)); }

private:
    io::sim::Scheduler& scheduler_;

public:
    checkpoint::MemoryStore store;

private:
    std::map<std::string, std::string> versions_;
};

}  // namespace evenkeel::dashboard
