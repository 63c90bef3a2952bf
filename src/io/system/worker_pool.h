// Threads that share one queue: for calls that block, several at a time.
//
//     post ──▶ [tasks, first come first served] ──▶ work/0 … work/N
//
// Unlike other executors it runs several tasks at once; they begin in the order of posting. The
// first thread starts with the pool, each other one when there is a task and all are busy.
// Threads: any but its own for finish().
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "io/loop.h"

namespace evenkeel::io::system {

class WorkerPool final : public Executor {
public:
    // At most so many threads. The operating system shows "<name>/0" and so on, at most 15 bytes.
    WorkerPool(std::string_view name, std::uint32_t threads);
    // Finishes.
    ~WorkerPool() override;
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // After finish() the task is dropped.
    void post(Task task) override;
    // Runs what is queued, then waits for the threads to end.
    void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Two for each core, at least four: handlers wait for others most of the time.
std::uint32_t usual_workers();

}  // namespace evenkeel::io::system
