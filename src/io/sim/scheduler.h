// Many loops and executors on one thread, in virtual time, interleaved by one seed.
//
//     SimLoop "a" ──┐
//     SimLoop "b" ──┼──▶ step(): one ready lane, drawn from the seed, runs its next task;
//     SimExecutor ──┘            if none is ready, time jumps to when the first one will be
//
// Invariants
//   SCHED-1  The same seed and the same calls give the same steps: trace_hash() is equal.
//   SCHED-2  What was posted to one executor runs in the order of posting, one at a time.
//   SCHED-3  Timers of one loop run in the order of their times, never early.
//   SCHED-4  Virtual time moves only between tasks, and never back.
//   SCHED-5  After discard() nothing of that lane runs.
// Threads: one. The scheduler outlives its loops and executors.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/task.h"
#include "io/loop.h"
#include "io/timer_queue.h"

namespace evenkeel::io::sim {

class Scheduler;

// What SimLoop and SimExecutor share: tasks in order, timers, and ways to go wrong.
class Lane {
public:
    Lane(Scheduler& scheduler, std::string_view name);
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    // Nothing of this lane runs for that long, as under SIGSTOP; clocks go on. A longer pause that
    // was asked for before stays.
    void pause(Duration duration);
    // A crash: tasks and timers are destroyed unrun, now and from now on.
    void discard();
    bool discarded() const { return discarded_; }
    const std::string& name() const { return name_; }

private:
    friend class Scheduler;
    friend class SimLoop;
    friend class SimExecutor;
    struct Entry {
        Instant ready;
        Task task;
    };

    void post(Task task);
    // When the next task may run; Instant max if there is none.
    Instant next_ready() const;
    Task take(Instant now);

    Scheduler& scheduler_;
    std::string name_;
    Random random_;
    std::deque<Entry> tasks_;  // `ready` never decreases
    TimerQueue timers_;
    Duration latency_min_{0};
    Duration latency_max_{0};
    Instant paused_until_;
    bool discarded_ = false;
};

class Scheduler {
public:
    explicit Scheduler(std::uint64_t seed);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Virtual time without anybody's skew; begins at 1000 s and at 2026-01-01T00:00:00Z.
    const Clock& clock() const { return clock_; }
    Instant now() const { return now_; }
    // A stream of chance of one's own, from the seed.
    Random fork_random() { return random_.fork(); }

    // An event of the world, on no loop: a fault, a delivery, a check. All loops are "here" in it.
    void run_at(Instant when, Task event);
    void run_after(Duration delay, Task event) { run_at(now_ + delay, std::move(event)); }

    // Runs one task, after moving time if none is ready. False if there is nothing left to run.
    bool step();
    // True once there is nothing left to run, timers included; false after `steps_max` steps.
    bool run_until_idle(std::uint64_t steps_max = 1'000'000);
    // Runs all that comes up within `duration`, and ends exactly that much later.
    void run_for(Duration duration);
    // Runs until `condition` holds, tested before each step; false if it does not within `at_most`.
    bool run_until(Callback<bool()> condition, Duration at_most);

    std::uint64_t steps() const { return steps_; }
    // Over the number, time and lane of every step so far.
    std::uint64_t trace_hash() const { return trace_hash_; }

private:
    friend class Lane;
    friend class SimLoop;
    class VirtualClock final : public Clock {
    public:
        explicit VirtualClock(const Scheduler& scheduler) : scheduler_(scheduler) {}
        Instant now() const override { return scheduler_.now_; }
        WallTime wall() const override;

    private:
        const Scheduler& scheduler_;
    };

    Instant next_ready() const;
    void run_one();
    void record(const Lane& lane);

    Random random_;
    Random choice_;  // draws which lane is next
    Instant now_;
    VirtualClock clock_{*this};
    std::vector<Lane*> lanes_;  // in the order they were made
    bool in_step_ = false;
    const Lane* running_ = nullptr;  // whose task runs; none if that lane is gone
    std::uint64_t steps_ = 0;
    std::uint64_t steps_at_now_ = 0;
    std::uint64_t trace_hash_;
    std::vector<Lane*> ready_;  // scratch of run_one()
    Lane world_{*this, "world"};
};

// An executor whose tasks each take a time drawn from a range, 0 at first; for "disk/0".
class SimExecutor final : public Executor {
public:
    SimExecutor(Scheduler& scheduler, std::string_view name) : lane_(scheduler, name) {}

    void post(Task task) override { lane_.post(std::move(task)); }

    // For tasks posted from now on. They are served one after another: ten posted at once at 5 ms
    // each end after 50 ms.
    void set_latency(Duration min, Duration max);
    void pause(Duration duration) { lane_.pause(duration); }
    void discard() { lane_.discard(); }

private:
    Lane lane_;
};

class SimLoop final : public Loop {
public:
    SimLoop(Scheduler& scheduler, std::string_view name)
        : scheduler_(scheduler), lane_(scheduler, name) {}

    void post(Task task) override { lane_.post(std::move(task)); }
    const Clock& clock() const override { return clock_; }
    TimerId run_at(Instant when, Task task) override;
    void cancel(TimerId timer) override;
    // Also true while no loop or executor runs a task, so that a test can call what is pinned.
    bool is_here() const override;

    // Both change this loop's wall() and nothing else: it is ahead by `skew`, and gains that many
    // millionths from now on. Another call steps the clock.
    void set_wall_skew(std::chrono::milliseconds skew, std::int64_t drift_millionths = 0);
    void pause(Duration duration) { lane_.pause(duration); }
    void discard() { lane_.discard(); }
    bool discarded() const { return lane_.discarded(); }
    const std::string& name() const { return lane_.name(); }
    Scheduler& scheduler() { return scheduler_; }

private:
    class SkewedClock final : public Clock {
    public:
        explicit SkewedClock(const Scheduler& scheduler) : scheduler_(scheduler) {}
        Instant now() const override { return scheduler_.now(); }
        WallTime wall() const override;

        std::chrono::milliseconds skew{0};
        std::int64_t drift_millionths = 0;
        Instant drift_since;

    private:
        const Scheduler& scheduler_;
    };

    Scheduler& scheduler_;
    Lane lane_;
    SkewedClock clock_{scheduler_};
};

}  // namespace evenkeel::io::sim
