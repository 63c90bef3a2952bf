// Whole processors on simulated loops that share a hub and a store, for tests.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "processor/core.h"
#include "processor/pump/pump_fixture.h"

namespace evenkeel::processor {

inline constexpr std::uint32_t partitions = 4;

struct Seen {
    std::string by;
    std::uint32_t partition;
    std::int64_t sequence;
};

class World {
public:
    // One instance: everything it has, so that all of it can go at once.
    struct Node {
        Node(World& world, const std::string& id, const ProcessorOptions& given)
            : loop(world.scheduler, id),
              workers(world.scheduler, 4),
              store(loop, world.store_loop,
                    std::make_shared<checkpoint::MemoryStore>(
                        world.store_loop, world.server,
                        checkpoint::GroupName{"sim", "homes", "$Default"}),
                    world.faults, world.scheduler.fork_random()),
              source(world.hub, loop) {
            workers.set_latency(std::chrono::milliseconds(0), std::chrono::milliseconds(5));
            ProcessorOptions own = given;
            own.id = id;
            own.on_error = [&world](const Failure& failure) {
                world.failures.push_back(failure);
                if (world.do_errors_throw) throw 7;
            };
            CoordinatorOptions coordination;
            coordination.id = id;
            coordination.incarnation = std::to_string(++world.starts);
            core = std::make_unique<Core>(
                CorePlace{loop, workers, store, source}, own,
                [&world, id](std::uint32_t) { return std::make_unique<Handler>(world, id); },
                coordination, world.scheduler.fork_random(),
                [&world, id](Error error) { world.ended = world.endings[id] = std::move(error); });
        }
        ~Node() {
            loop.discard();
            workers.discard();
            core.reset();
        }
        io::sim::SimLoop loop;
        SimWorkers workers;
        checkpoint::FaultyStore store;
        source::SimSource source;
        std::unique_ptr<Core> core;
    };
    class Handler final : public PartitionHandler {
    public:
        Handler(World& world, std::string id) : world_(world), id_(std::move(id)) {}
        Result<> on_events(Partition& partition, Events events) override {
            for (const auto& event : events) {
                if (world_.is_all_poison || event.sequence_number == world_.poison) {
                    return Error{ErrorCode::handler_failed, "poison"};
                }
                world_.seen.push_back({id_, partition.id(), event.sequence_number});
            }
            if (world_.do_checkpoint && !events.empty()) partition.checkpoint(events.back());
            return {};
        }

    private:
        World& world_;
        const std::string id_;
    };

    ~World() { nodes.clear(); }

    Result<> start(const std::string& id) {
        nodes[id] = std::make_unique<Node>(*this, id, options);
        std::optional<Result<>> started;
        nodes[id]->core->start([&](Result<> result) { started = std::move(result); });
        EXPECT_TRUE(run_until([&] { return started.has_value(); }));
        return *started;
    }
    StopReport stop(const std::string& id) {
        std::optional<StopReport> report;
        nodes[id]->core->stop([&](const StopReport& given) { report = given; });
        EXPECT_TRUE(run_until([&] { return report.has_value(); }));
        nodes.erase(id);
        return *report;
    }
    void kill(const std::string& id) { nodes.erase(id); }

    void append(std::size_t count) {
        for (std::uint32_t p = 0; p < hub.partitions(); ++p) {
            hub.append_many({p}, count, scheduler.clock().wall());
        }
    }
    bool run_until(Callback<bool()> condition, Duration at_most = std::chrono::minutes(5)) {
        return scheduler.run_until(std::move(condition), at_most);
    }
    // As an operator does it.
    void write(checkpoint::Record record) {
        for (const auto& stored : records(record.key)) record.version = stored.version;
        checkpoint::MemoryStore store(store_loop, server, group);
        bool is_done = false;
        store.write_record(record, [&](const Result<std::string>& result) {
            EXPECT_TRUE(result.ok());
            is_done = true;
        });
        EXPECT_TRUE(run_until([&] { return is_done; }));
    }
    std::vector<checkpoint::Record> records(std::string_view prefix) const {
        return server.snapshot(group).records(prefix);
    }
    std::size_t owned(const std::string& id) const {
        return nodes.at(id)->core->status().partitions.size();
    }
    // Of one partition, in the order of handling.
    std::vector<std::int64_t> handled(std::uint32_t partition) const {
        std::vector<std::int64_t> all;
        for (const Seen& each : seen) {
            if (each.partition == partition) all.push_back(each.sequence);
        }
        return all;
    }

    const checkpoint::GroupName group{"sim", "homes", "$Default"};
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    source::SimHub hub{{.partitions = partitions, .created_ms = 7}};
    io::sim::SimLoop store_loop{scheduler, "store"};
    checkpoint::Faults faults;
    ProcessorOptions options;
    int starts = 0;
    bool do_errors_throw = false;
    bool do_checkpoint = false;
    std::int64_t poison = -1;
    bool is_all_poison = false;
    std::map<std::string, std::unique_ptr<Node>> nodes;
    std::vector<Seen> seen;
    std::vector<Failure> failures;
    std::optional<Error> ended;            // the last one
    std::map<std::string, Error> endings;  // by id
};

}  // namespace evenkeel::processor
