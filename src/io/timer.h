// At most one pending call on a loop: a new one replaces it, and it is cancelled with the timer.
//
//     timer_.run_after(pause, [this] { try_again(); });  // `this` owns timer_: no guard is needed
//
// Ownership: of the call. The loop outlives the timer. The call may destroy the timer.
// Threads: pinned to the loop.
#pragma once

#include <optional>
#include <utility>

#include "io/loop.h"

namespace evenkeel::io {

class Timer {
public:
    explicit Timer(Loop& loop) : loop_(loop) {}
    ~Timer() { cancel(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    void run_at(Instant when, Task task) {
        cancel();
        task_ = std::move(task);
        id_ = loop_.run_at(when, [this] { fire(); });
    }
    void run_after(Duration delay, Task task) {
        run_at(loop_.clock().now() + delay, std::move(task));
    }
    void cancel() {
        if (!id_) return;
        loop_.cancel(*std::exchange(id_, std::nullopt));
        const Task dropped = std::move(task_);  // its destructor may come back to us
    }
    // False within the call, and after it.
    bool is_pending() const { return id_.has_value(); }

private:
    void fire() {
        id_.reset();
        Task task = std::move(task_);
        task();
    }

    Loop& loop_;
    std::optional<TimerId> id_;
    Task task_;
};

}  // namespace evenkeel::io
