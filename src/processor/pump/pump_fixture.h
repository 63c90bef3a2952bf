// Pumps in virtual time over a simulated hub, with a store in memory and a handler that records
// what it gets and does what a test tells it to.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "processor/pump/pump.h"
#include "source/sim_source.h"
#include "support/seed.h"

namespace evenkeel::processor {

// Several handlers at a time, as on a pool of threads; each takes as long as its lane says.
class SimWorkers final : public io::Executor {
public:
    SimWorkers(io::sim::Scheduler& scheduler, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            lanes_.push_back(
                std::make_unique<io::sim::SimExecutor>(scheduler, "work/" + std::to_string(i)));
            free_.push_back(i);
        }
    }
    void post(Task task) override {
        queue_.push_back(std::move(task));
        next();
    }
    // Of each task from now on.
    void set_latency(Duration min, Duration max) {
        for (auto& lane : lanes_) lane->set_latency(min, max);
    }
    void discard() {
        for (auto& lane : lanes_) lane->discard();
    }

private:
    void next() {
        if (queue_.empty() || free_.empty()) return;
        const std::size_t lane = free_.front();
        free_.pop_front();
        auto task = std::make_shared<Task>(std::move(queue_.front()));
        queue_.pop_front();
        lanes_[lane]->post([this, lane, task] {
            (*task)();
            *task = nullptr;
            free_.push_back(lane);
            next();
        });
    }
    std::vector<std::unique_ptr<io::sim::SimExecutor>> lanes_;
    std::deque<std::size_t> free_;
    std::deque<Task> queue_;
};

class FakePermit final : public Permit {
public:
    bool may_act(PartitionId) const override { return is_there; }
    bool hangs_on_reader(PartitionId) const override { return is_by_reader; }
    bool is_shared(PartitionId) const override { return is_with_others; }
    void on_fenced(PartitionId partition) override { fenced.insert(partition.value); }
    LeaseTerm term(PartitionId) const override {
        LeaseTerm given = lease ? lease->term() : LeaseTerm();
        if (on_term) on_term();
        return given;
    }
    std::optional<Lease> lease;
    std::function<void()> on_term;
    bool is_there = true;
    bool is_by_reader = false;
    bool is_with_others = false;
    std::set<std::uint32_t> fenced;
};

struct Call {
    std::uint32_t partition;
    std::vector<std::int64_t> sequences;
    std::uint32_t attempt;
    Instant at;
};

class PumpRig : public PumpOwner {
public:
    using Behaviour = std::function<Result<>(Partition&, Events)>;

    explicit PumpRig(std::uint32_t partitions = 1)
        : hub({.partitions = partitions, .created_ms = 77}) {
        options.id = "me";
        options.retry.delay = std::chrono::milliseconds(100);
        handlers = [this](std::uint32_t) { return std::make_unique<Recorder>(*this); };
    }
    ~PumpRig() override {
        pumps.clear();
        workers.discard();
        loop.discard();
    }

    Pump& open(std::uint32_t partition = 0, std::int64_t epoch = 1) {
        auto pump = std::make_unique<Pump>(
            PumpPlace{loop, workers, store, source, permit, letters, options, handlers}, *this,
            PartitionId{partition}, Epoch{epoch}, Random(test::test_seed()));
        pump->start();
        pumps[partition] = std::move(pump);
        return *pumps[partition];
    }
    // Closes and waits; false if that takes longer than a minute.
    bool close(CloseReason reason, std::uint32_t partition = 0) {
        bool is_done = false;
        pumps[partition]->close(reason, [&is_done] { is_done = true; });
        const bool in_time = run_until([&] { return is_done; }, std::chrono::minutes(1));
        pumps.erase(partition);
        return in_time;
    }
    void crash(std::uint32_t partition = 0) {
        on_closed = nullptr;
        pumps.erase(partition);
    }

    void append(std::size_t count, std::uint32_t partition = 0) {
        hub.append_many({partition}, count, scheduler.clock().wall());
    }
    bool run_until(Callback<bool()> condition, Duration at_most = std::chrono::minutes(10)) {
        return scheduler.run_until(std::move(condition), at_most);
    }
    void run_for(Duration duration) { scheduler.run_for(duration); }
    bool run_until_handled(std::int64_t sequence, std::uint32_t partition = 0) {
        return run_until([this, sequence, partition] { return last_of(partition) >= sequence; });
    }
    std::int64_t last_of(std::uint32_t partition) const {
        for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
            if (call->partition == partition && !call->sequences.empty()) {
                return call->sequences.back();
            }
        }
        return -1;
    }
    std::vector<std::int64_t> sequences(std::uint32_t partition = 0) const {
        std::vector<std::int64_t> all;
        for (const Call& call : calls) {
            if (call.partition != partition) continue;
            all.insert(all.end(), call.sequences.begin(), call.sequences.end());
        }
        return all;
    }
    checkpoint::Checkpoint stored(std::uint32_t partition = 0) {
        std::optional<std::vector<checkpoint::Checkpoint>> listed;
        store.list_checkpoints([&](auto result) { listed = std::move(*result); });
        EXPECT_TRUE(run_until([&] { return listed.has_value(); }));
        for (const auto& each : *listed) {
            if (each.partition.value == partition) return each;
        }
        return {.partition = {partition}};
    }
    void store_by_hand(checkpoint::Checkpoint wanted) {
        bool is_done = false;
        store.reset_checkpoint(wanted, [&](Result<> result) {
            EXPECT_TRUE(result.ok());
            is_done = true;
        });
        EXPECT_TRUE(run_until([&] { return is_done; }));
    }
    std::vector<checkpoint::DeadLetter> dead_letters() {
        std::optional<std::vector<checkpoint::DeadLetter>> listed;
        store.list_dead_letters({100}, [&](auto result) { listed = std::move(*result); });
        EXPECT_TRUE(run_until([&] { return listed.has_value(); }));
        return *listed;
    }
    std::size_t count_failures(std::string_view operation) const {
        return static_cast<std::size_t>(
            std::count_if(failures.begin(), failures.end(),
                          [&](const Failure& each) { return each.operation == operation; }));
    }

    void on_failure(const Failure& failure) override { failures.push_back(failure); }
    void on_needless_checkpoint(PartitionId) override { ++needless_checkpoints; }
    void on_stop_wanted(PartitionId, const Error& error) override { stop_wanted = error; }
    void on_undrained(PartitionId partition, bool is_running) override {
        if (is_running) {
            undrained.insert(partition.value);
        } else {
            undrained.erase(partition.value);
        }
    }

    Lifetime::Watch lifetime() const override { return lifetime_.watch(); }

    class Recorder final : public PartitionHandler {
    public:
        explicit Recorder(PumpRig& rig) : rig_(rig) {}
        Result<> on_opened(Partition& partition) override {
            return rig_.on_opened ? rig_.on_opened(partition) : Result<>();
        }
        Result<> on_events(Partition& partition, Events events) override {
            EXPECT_FALSE(is_inside_) << "PUMP-2: one call at a time";
            is_inside_ = true;
            const struct Leaving {
                bool& is_inside;
                ~Leaving() { is_inside = false; }
            } leaving{is_inside_};
            Call call{partition.id(), {}, partition.attempt(), rig_.scheduler.now()};
            for (const auto& event : events) call.sequences.push_back(event.sequence_number);
            rig_.calls.push_back(call);
            return rig_.behaviour ? rig_.behaviour(partition, events) : Result<>();
        }
        void on_closed(Partition& partition, Closed reason) override {
            rig_.closed.push_back(reason);
            if (rig_.on_closed) rig_.on_closed(partition);
        }

    private:
        PumpRig& rig_;
        bool is_inside_ = false;
    };

    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    source::SimHub hub;
    io::sim::SimLoop loop{scheduler, "me"};
    io::sim::SimLoop store_loop{scheduler, "store"};
    SimWorkers workers{scheduler, 4};
    checkpoint::Faults faults = checkpoint::Faults::none();
    checkpoint::FaultyStore store{
        loop, store_loop,
        std::make_shared<checkpoint::MemoryStore>(
            store_loop, server, checkpoint::GroupName{"sim", "homes", "$Default"}),
        faults, scheduler.fork_random()};
    source::SimSource source{hub, loop};
    StoredDeadLetters letters{store};
    FakePermit permit;
    ProcessorOptions options;
    HandlerFactory handlers;
    std::map<std::uint32_t, std::unique_ptr<Pump>> pumps;

    Behaviour behaviour;
    std::function<Result<>(Partition&)> on_opened;
    std::function<void(Partition&)> on_closed;
    std::vector<Call> calls;
    std::vector<Closed> closed;
    std::vector<Failure> failures;
    int needless_checkpoints = 0;
    std::optional<Error> stop_wanted;
    std::set<std::uint32_t> undrained;

private:
    Lifetime lifetime_;
};

inline std::vector<std::int64_t> up_to(std::int64_t last, std::int64_t first = 0) {
    std::vector<std::int64_t> all;
    for (; first <= last; ++first) all.push_back(first);
    return all;
}

}  // namespace evenkeel::processor
