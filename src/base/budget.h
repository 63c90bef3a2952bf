// How much may be under way: threads take from it before they hand work on, and wait while it is
// used up. Threads: any.
#pragma once

#include <cstddef>

#include "base/mutex.h"

namespace evenkeel {

class Budget {
public:
    Budget(std::size_t count_max, std::size_t bytes_max)
        : count_max_(count_max), bytes_max_(bytes_max) {}

    // Waits until there is room for one more of that size; one alone may be larger than all. False
    // once closed.
    bool take(std::size_t bytes) {
        const Lock lock(mutex_);
        while (!closed_ && !has_room(bytes)) condition_.wait(mutex_);
        if (!closed_) add(bytes);
        return !closed_;
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
    Condition condition_;
    std::size_t count_ EK_GUARDED_BY(mutex_) = 0;
    std::size_t bytes_ EK_GUARDED_BY(mutex_) = 0;
    bool closed_ EK_GUARDED_BY(mutex_) = false;
};

}  // namespace evenkeel
