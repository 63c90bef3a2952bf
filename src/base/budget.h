// How much may be under way: threads take from it before they hand work on, and wait while it is
// used up. Threads: any.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>

#include "base/mutex.h"
#include "base/result.h"
#include "base/timed_condition.h"

namespace evenkeel {

class Budget {
public:
    Budget(std::size_t count_max, std::size_t bytes_max)
        : count_max_(count_max), bytes_max_(bytes_max) {}

    // Waits until there is room for one more of that size; one alone may be larger than all.
    // `cancelled` once closed or once `stop` is requested, `timed_out` after that time.
    Result<> take(std::size_t bytes, std::chrono::milliseconds timeout = forever,
                  const std::stop_token& stop = {}) {
        // Mostly there is room, and neither a clock nor somebody to wake is needed.
        if (!stop.stop_requested() && try_take(bytes)) return {};
        const auto until = TimedCondition::after(timeout);
        const auto waker = condition_.wake_at(stop, mutex_);
        const Lock lock(mutex_);
        while (!closed_ && !has_room(bytes) && !stop.stop_requested() &&
               condition_.wait_until(mutex_, until)) {
        }
        if (closed_) return Error{ErrorCode::cancelled, "the producer was closed"};
        if (stop.stop_requested()) return Error{ErrorCode::cancelled, "a stop was requested"};
        if (!has_room(bytes)) return Error{ErrorCode::timed_out, "there was no room in time"};
        add(bytes);
        return {};
    }
    // The same without waiting: false if there is no room.
    bool try_take(std::size_t bytes) {
        const Lock lock(mutex_);
        if (closed_ || !has_room(bytes)) return false;
        add(bytes);
        return true;
    }
    void give_back(std::size_t count, std::size_t bytes) {
        const Lock lock(mutex_);
        count_ -= count;
        bytes_ -= bytes;
        condition_.notify_all();
    }
    // Those who wait are let go.
    void close() {
        const Lock lock(mutex_);
        closed_ = true;
        condition_.notify_all();
    }
    std::size_t bytes() {
        const Lock lock(mutex_);
        return bytes_;
    }

private:
    bool has_room(std::size_t bytes) const EK_REQUIRES(mutex_) {
        return count_ == 0 || (count_ < count_max_ && bytes_ + bytes <= bytes_max_);
    }
    void add(std::size_t bytes) EK_REQUIRES(mutex_) {
        ++count_;
        bytes_ += bytes;
    }

    const std::size_t count_max_;
    const std::size_t bytes_max_;
    Mutex mutex_;
    TimedCondition condition_;
    std::size_t count_ EK_GUARDED_BY(mutex_) = 0;
    std::size_t bytes_ EK_GUARDED_BY(mutex_) = 0;
    bool closed_ EK_GUARDED_BY(mutex_) = false;
};

}  // namespace evenkeel
