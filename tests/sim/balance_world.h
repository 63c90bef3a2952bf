// The world in which balancing is tested: many processors, each with the production coordinator on
// a loop of its own, one store that is slow, forgets answers and goes away, one broker. Virtual
// time, one seed.
//
//     Process "a": SimLoop ─ Coordinator ─ ModelHost ──readers──▶ Broker (who reads what)
//                              │
//                         FaultyStore ──▶ WatchedStore ──▶ MemoryStore (one server for all)
//
// Checkers: at each step, at most one reader of a partition that may act (where the broker does not
// keep readers apart); at each write, that nobody loses a partition while it may act; at the end,
// balance() and that all is read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "processor/ownership/coordinator.h"

namespace evenkeel::sim {

struct WorldOptions {
    std::uint64_t seed = 1;
    std::uint32_t partitions = 4;
    processor::Timing timing = processor::standard_timing();
    processor::Strategy strategy = processor::Strategy::balanced;
    bool exclusive = false;   // the broker cuts the older reader
    bool exact_ages = false;  // else cut to whole seconds
    checkpoint::Faults faults = {};
    // Loads of the partitions, in events a second; none: share by count.
    std::vector<double> loads = {};
};

class BalanceWorld;

// Counts what happens from mark() on.
struct Figures {
    std::uint64_t moves = 0;  // from one owner to another
    std::uint64_t hard = 0;   // of those: from one that was reading it
    Duration unread{0};       // partition-time without a reader
    Duration worst_gap{0};    // longest time without a reader of one partition
    Duration gaps{0};         // sum of gaps that ended
    std::uint64_t gap_count = 0;
    std::optional<Instant> balanced_at;  // since when, without a break
};

class BalanceWorld {
public:
    explicit BalanceWorld(const WorldOptions& options);
    ~BalanceWorld();

    // A new process of that id, or a new start of it.
    void start(const std::string& id);
    void crash(const std::string& id);
    void leave(const std::string& id);
    void pause(const std::string& id, Duration duration);
    void set_wall_skew(const std::string& id, std::chrono::milliseconds skew);
    void set_outage(bool is_away) { faults_.outage = is_away; }
    void set_loads(std::vector<double> loads);
    checkpoint::Faults& faults() { return faults_; }

    // Entries as if process p mod M had owned partition p for long, for processes 0 to M-1.
    void write_warm(const std::vector<std::string>& ids);

    // Steps with all checkers.
    void run_for(Duration duration);
    // True once it is balanced and all is read; false if it is not within `at_most`.
    bool run_until_balanced(Duration at_most);
    // The same, and then that nothing moves for `quiet`.
    bool settles(Duration at_most, Duration quiet);

    // "" or all that went wrong, each once.
    const std::string& violations() const { return violations_; }
    void violate(const std::string& what);

    bool is_balanced() const;
    bool is_all_read() const;
    std::string describe() const;

    void mark();  // figures count from now
    Figures figures() const;
    std::uint64_t requests() const;  // of all processes that run
    std::uint64_t trace_hash() const { return scheduler_.trace_hash(); }
    Instant now() const { return scheduler_.now(); }
    Instant marked() const { return marked_; }
    Random& random() { return random_; }
    io::sim::Scheduler& scheduler() { return scheduler_; }

    // State of a process: not started or crashed counts as gone.
    bool is_running(const std::string& id) const;
    bool is_paused(const std::string& id) const;
    std::vector<std::string> running() const;
    processor::Coordinator* coordinator(const std::string& id);
    std::optional<Error> start_error(const std::string& id) const;
    std::optional<Error> end_error(const std::string& id) const;
    std::vector<std::uint32_t> owned_by(const std::string& id) const;
    double load_of(const std::string& id) const;
    const std::string& owner(std::uint32_t partition) const { return owners_[partition]; }
    // Somebody outside of our group writes an entry, as an official member does: without an epoch.
    void write_foreign(std::uint32_t partition, const std::string& owner);

private:
    struct Process;
    class Host;

    void after_step();
    void check_readers();
    void on_owner(PartitionId partition, const std::string& owner);
    void set_reading(Process& process, PartitionId partition, bool is_reading);
    void count_reader(std::uint32_t partition, int change);
    void judge_balance();
    Process* find(const std::string& id) const;

    const WorldOptions options_;
    io::sim::Scheduler scheduler_;
    checkpoint::MemoryServer server_;
    Random random_;
    io::sim::SimLoop server_loop_;
    checkpoint::Faults faults_;
    const checkpoint::GroupName group_{"sim", "hub", "group"};
    std::map<std::string, std::unique_ptr<Process>> processes_;
    std::map<std::string, std::uint32_t> starts_;
    std::map<std::string, Error> start_errors_;
    std::map<std::string, Error> end_errors_;
    std::vector<double> loads_;

    // What the checkers know.
    std::string violations_;
    std::vector<std::string> owners_;
    struct Reads {
        int readers = 0;   // of processes that are not paused
        int attached = 0;  // of all
        Instant unread_since;
        Process* reader = nullptr;  // the one the broker serves
    };
    std::vector<Reads> reads_;
    std::vector<std::uint32_t> contested_;  // partitions with more than one attached reader
    Figures figures_;
    Instant marked_;
};

}  // namespace evenkeel::sim
