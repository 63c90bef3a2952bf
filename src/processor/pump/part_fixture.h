// What the parts of a pump are tested with: all that is around a pump, in virtual time, and a
// record of what a part reports.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "processor/pump/checkpointer.h"
#include "processor/pump/pump_fixture.h"
#include "processor/pump/pump_place.h"

namespace evenkeel::processor {

struct Report {
    ErrorScope scope;
    std::string operation;
    Error error;
    bool is_retried;
};

// The owner of a pump that has only one part.
class PartRig : public PumpOwner {
public:
    ~PartRig() override {
        workers.discard();
        loop.discard();
    }

    PumpPlace place() { return {loop, workers, store, source, permit, letters, options, handlers}; }
    void append(std::size_t count) { hub.append_many({0}, count, scheduler.clock().wall()); }
    bool run_until(Callback<bool()> condition) {
        return scheduler.run_until(std::move(condition), std::chrono::minutes(1));
    }
    void run_for(Duration duration) { scheduler.run_for(duration); }
    checkpoint::Checkpoint stored() const {
        const auto all = server.snapshot(group).checkpoints();
        return all.empty() ? checkpoint::Checkpoint{} : all[0];
    }
    void store_by_hand(checkpoint::Checkpoint wanted) {
        bool is_done = false;
        store.reset_checkpoint(wanted, [&](const Result<>& result) { is_done = result.ok(); });
        EXPECT_TRUE(run_until([&] { return is_done; }));
    }
    void add_report(ErrorScope scope, std::string_view operation, const Error& error,
                    std::optional<Duration> retried_in) {
        reports.push_back({scope, std::string(operation), error, retried_in.has_value()});
    }
    // The operations that were reported, in order.
    std::vector<std::string> operations() const {
        std::vector<std::string> all;
        for (const Report& each : reports) all.push_back(each.operation);
        return all;
    }

    void on_failure(const Failure&) override {}
    void on_stop_wanted(PartitionId, const Error&) override {}
    void on_undrained(PartitionId, bool) override {}
    void confirm_store(Callback<void(Result<>)> answer) override { answer(confirmation); }
    Lifetime::Watch lifetime() const override { return lifetime_.watch(); }

    const checkpoint::GroupName group{"sim", "homes", "$Default"};
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    source::SimHub hub{{.partitions = 1, .created_ms = 77}};
    io::sim::SimLoop loop{scheduler, "me"};
    io::sim::SimLoop store_loop{scheduler, "store"};
    SimWorkers workers{scheduler, 1};
    checkpoint::Faults faults = checkpoint::Faults::none();
    checkpoint::FaultyStore store{
        loop, store_loop, std::make_shared<checkpoint::MemoryStore>(store_loop, server, group),
        faults, scheduler.fork_random()};
    source::SimSource source{hub, loop};
    StoredDeadLetters letters{store};
    FakePermit permit;
    ProcessorOptions options;
    HandlerFactory handlers;
    Random random{test::test_seed()};
    Result<> confirmation;  // of the store, asked for after a seal
    std::vector<Report> reports;
    bool is_fenced = false;  // as the checkpointer reported it
    Checkpointer checkpoints{{loop, store, permit, {0}, {1}},
                             {.every_events = 1},
                             {[this] { is_fenced = true; },
                              [this](const Error& error, std::optional<Duration> retried_in) {
                                  add_report(ErrorScope::checkpoint, "checkpoint", error,
                                             retried_in);
                              }},
                             Random(1)};

private:
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
