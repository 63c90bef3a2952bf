// Threads that run tasks: LoopThread for sockets, timers and all that is pinned; WorkerThread for
// calls that block.
//
//     post ──▶ [tasks] ──one wakeup for many──▶ loop/0: tasks, timers, sockets; never blocks
//     post ──▶ [tasks] ───────────────────────▶ disk/0: one task after another; may block
//
// Timers count while the machine sleeps, as Instant does: a lease that ran out during suspend is
// seen at once on waking.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/task.h"
#include "io/loop.h"

namespace boost::asio {
class io_context;
}

namespace evenkeel::io::system {

// Life: made, start(), stop(). Before start() and after stop() there is no thread of its own, and
// is_here() is true wherever it is asked, so that what is pinned can be set up and taken down.
// Threads: post(), clock() and is_here() any; start() and stop() the one that made it.
class LoopThread final : public Loop {
public:
    // `name` is what the operating system shows, at most 15 bytes: "loop/0".
    explicit LoopThread(std::string_view name);
    // Stops.
    ~LoopThread() override;
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    // What was posted and timed before runs now.
    void start();
    // Lets the running task end and no other begin; waits for the thread. Tasks and timers that did
    // not run are destroyed, here. Stops for good; a second call does nothing.
    void stop();

    void post(Task task) override;
    const Clock& clock() const override { return clock_; }
    TimerId run_at(Instant when, Task task) override;
    void cancel(TimerId timer) override;
    bool is_here() const override;

    // For what is built on the loop inside io/system. Sockets made on it go before the LoopThread.
    boost::asio::io_context& context();

private:
    friend void run_and_wait(Executor& executor, Task task);
    struct State;
    SystemClock clock_;
    std::unique_ptr<State> state_;
};

// Threads: any but its own for finish().
class WorkerThread final : public Executor {
public:
    // Starts at once. `name` is what the operating system shows, at most 15 bytes: "disk/0".
    explicit WorkerThread(std::string_view name);
    // Finishes.
    ~WorkerThread() override;
    WorkerThread(const WorkerThread&) = delete;
    WorkerThread& operator=(const WorkerThread&) = delete;

    // After finish() the task is dropped.
    void post(Task task) override;
    // Runs what is queued, then waits for the thread to end.
    void finish();
    bool is_here() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Runs `task` on `executor` and waits until it has ended, or was dropped because the executor has
// stopped. Not called on the executor itself, nor for a loop that was not started.
void run_and_wait(Executor& executor, Task task);

}  // namespace evenkeel::io::system
