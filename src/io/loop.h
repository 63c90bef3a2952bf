// Where code runs: an Executor runs tasks one at a time in the order they were posted; a Loop is an
// executor with a clock and timers, and owns the state that is pinned to it.
//
//   io/system/loop.h   a thread over Boost.Asio; WorkerThread for calls that block
//   io/sim/scheduler.h all of them on one thread in virtual time, interleaved by one seed
//
// A task never blocks on a Loop. Tasks posted after stop() are dropped, unrun but destroyed.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "base/clock.h"
#include "base/task.h"

namespace evenkeel::io {

class Executor {
public:
    virtual ~Executor() = default;
    // Threads: any.
    virtual void post(Task task) = 0;
};

enum class TimerId : std::uint64_t {};

class Loop : public Executor {
public:
    // The time of this step; threads: any.
    virtual const Clock& clock() const = 0;

    // Runs `task` on this loop once `when` has come. Called on the loop.
    virtual TimerId run_at(Instant when, Task task) = 0;
    TimerId run_after(Duration delay, Task task) {
        return run_at(clock().now() + delay, std::move(task));
    }
    // The timer's task will not run; does nothing if it has run. Called on the loop.
    virtual void cancel(TimerId timer) = 0;

    // True on the loop's own thread while it runs a task, and before it was started.
    virtual bool is_here() const = 0;
    void check_here() const { EK_CHECK(is_here(), "called off the loop that owns this"); }
};

}  // namespace evenkeel::io
