// Whole processors in virtual time: the production coordinator, pumps, checkpointer and retries of
// many processes read a simulated hub and meet in a simulated store, with one checker for all they
// do (history_checker.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "processor/ownership/timing.h"
#include "sim/history_checker.h"
#include "source/sim_source.h"
#include <evenkeel/processor.h>

namespace evenkeel::sim {

// How handlers behave from now on.
struct HandlerHabits {
    Duration usual_max = std::chrono::milliseconds(5);
    std::uint32_t slow_per_thousand = 0;   // calls that take up to 2 s
    std::uint32_t stuck_per_thousand = 0;  // calls that take 5 to 40 s
    std::uint32_t failing_per_thousand = 0;
    std::uint32_t outage_per_thousand = 0;  // calls that fail and say that it is no event's fault
    std::uint32_t poison_one_in = 0;        // events that always fail; 0: none
    // With manual checkpoints: events are kept until there are so many, and only then done. 0: they
    // are done when their call ends.
    std::size_t window_events = 0;
};

struct ProcessorWorldOptions {
    std::uint64_t seed = 1;
    std::uint32_t partitions = 4;
    processor::Timing timing = processor::fast_timing();
    bool exclusive = true;
    bool exact_ages = false;   // else cut to whole seconds
    bool steady_store = true;  // else step_store_clock() may be called, and no age is exact
    Duration hub_latency_max = std::chrono::milliseconds(5);
    Duration cut_after = std::chrono::milliseconds(20);
    checkpoint::Faults faults = {};
    HandlerHabits habits = {};
    ProcessorOptions processor = {};
};

class ProcessorWorld {
public:
    explicit ProcessorWorld(const ProcessorWorldOptions& options);
    ~ProcessorWorld();

    // A new process of that id, or a new start of it.
    void start(const std::string& id);
    void crash(const std::string& id);
    void leave(const std::string& id);
    // As SIGSTOP: its loop and its handlers.
    void pause(const std::string& id, Duration duration);
    void set_wall_skew(const std::string& id, std::chrono::milliseconds skew);
    // The store for all, or for one of them.
    void set_outage(bool is_away);
    void set_outage(const std::string& id, bool is_away);
    // Closed: it hears nothing from the hub, and nobody says so.
    void set_hub_path(const std::string& id, bool is_open);
    void step_store_clock(Duration by) { server_.step_clock(by); }
    // From now on the store answers, and loses and refuses nothing.
    void quieten();
    void append(std::uint32_t partition, std::size_t count);

    void run_for(Duration duration) { scheduler_.run_for(duration); }
    // How many events of it are in finished windows.
    std::size_t windowed(std::uint32_t partition) { return windowed_[partition].size(); }
    // Everything that was appended is handled, and the partitions are shared within one.
    bool is_settled();
    bool is_all_handled();
    std::vector<std::uint32_t> owned_by(const std::string& id) const;
    bool run_until_settled(Duration at_most);
    // Nobody's partition moves, and what comes is handled soon.
    void judge_quiet();

    const std::string& violations() const { return violations_; }
    void violate(const std::string& what);
    std::string describe() const;
    std::vector<std::string> running() const;

    source::SimHub& hub() { return hub_; }
    HandlerHabits& habits() { return habits_; }
    HistoryChecker& checker() { return checker_; }
    io::sim::Scheduler& scheduler() { return scheduler_; }
    Instant now() const { return scheduler_.now(); }
    std::uint64_t moves() const { return moves_; }
    std::uint64_t trace_hash() const { return scheduler_.trace_hash() ^ checker_.hash(); }

private:
    struct Process;
    class Handler;
    class Pool;

    Process* find(const std::string& id) const;
    void on_owner(const std::string& writer, const checkpoint::Ownership& entry);
    void check_take_over(const std::string& by, const std::string& owner, PartitionId partition);
    void on_failure(const std::string& id, const Failure& failure);
    void on_stored(const checkpoint::Checkpoint& stored);
    bool is_balanced() const;
    bool is_all_read() const;

    const ProcessorWorldOptions options_;
    io::sim::Scheduler scheduler_;
    checkpoint::MemoryServer server_;
    Random random_;
    io::sim::SimLoop server_loop_;
    checkpoint::Faults faults_;  // as they are copied to each process
    HandlerHabits habits_;
    source::SimHub hub_;
    HistoryChecker checker_;
    const checkpoint::GroupName group_{"sim", "homes", "group"};
    std::map<std::string, std::unique_ptr<Process>> processes_;
    std::uint64_t starts_ = 0;
    std::vector<std::string> owners_;
    std::map<std::uint32_t, std::set<std::int64_t>> windowed_;  // in windows that were finished
    std::uint64_t moves_ = 0;
    std::string violations_;
};

}  // namespace evenkeel::sim
