// A value that one thread sets and others wait for. Threads: any.
#pragma once

#include <optional>
#include <utility>

#include "base/mutex.h"

namespace evenkeel {

template <typename T>
class Promise {
public:
    // The first value counts.
    void set(T value) {
        const Lock lock(mutex_);
        if (!value_) value_.emplace(std::move(value));
        condition_.notify_all();
    }
    bool is_set() const {
        const Lock lock(mutex_);
        return value_.has_value();
    }
    // Takes the value, once it is there.
    T wait() {
        const Lock lock(mutex_);
        while (!value_) condition_.wait(mutex_);
        return std::move(*value_);
    }
    // Waits as well, but leaves the value for others.
    T copy() {
        const Lock lock(mutex_);
        while (!value_) condition_.wait(mutex_);
        return *value_;
    }

private:
    mutable Mutex mutex_;
    Condition condition_;
    std::optional<T> value_ EK_GUARDED_BY(mutex_);
};

}  // namespace evenkeel
