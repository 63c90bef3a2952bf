// Where code runs. An Executor runs tasks; they begin in the order in which they were posted, one
// at a time unless the executor is a WorkerPool. A Loop is an executor with a clock and timers, and
// owns the state that is pinned to it.
//
//   io/system/loop.h         LoopThread, over Boost.Asio; WorkerThread for calls that block
//   io/system/worker_pool.h  WorkerPool: several threads, several tasks at once
//   io/sim/scheduler.h       all of them on one thread in virtual time, interleaved by one seed
//
// A task never blocks on a Loop. A loop that is stopped destroys the tasks that did not run; a
// worker that is finished runs them first. Tasks that are posted later are dropped: destroyed, not
// run.
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
