// A condition that is waited for with an end: a time, or a stop that another thread requests.
//
//     const auto waker = condition_.wake_at(stop, mutex_);  // before the lock
//     const Lock lock(mutex_);
//     while (!is_met_ && !stop.stop_requested() && condition_.wait_until(mutex_, until)) {
//     }
//
// Threads: any.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <stop_token>

#include "base/mutex.h"

namespace evenkeel {

// For ever, without leaving the range of the clock.
inline constexpr std::chrono::milliseconds forever = std::chrono::hours(24 * 365);

class TimedCondition {
public:
    using Until = std::chrono::steady_clock::time_point;

    static Until after(std::chrono::milliseconds timeout) {
        return std::chrono::steady_clock::now() +
               std::clamp(timeout, std::chrono::milliseconds(0), forever);
    }
    // False when the time is over. Call in a loop that tests the guarded state.
    bool wait_until(Mutex& mutex, Until until) EK_REQUIRES(mutex) {
        return condition_.wait_until(mutex, until) == std::cv_status::no_timeout;
    }
    // Wakes those who wait once a stop is requested. Takes the mutex for it, on the thread that
    // requests the stop: it is made before the lock is taken, and goes after the lock.
    auto wake_at(const std::stop_token& stop, Mutex& mutex) {
        return std::stop_callback(stop, [this, &mutex] {
            const Lock lock(mutex);
            condition_.notify_all();
        });
    }
    void notify_all() { condition_.notify_all(); }

private:
    std::condition_variable_any condition_;
};

}  // namespace evenkeel
