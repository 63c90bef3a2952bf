// A value that threads share, with its lock: it can be reached only inside with().
//
//     Guarded<std::vector<Session>> idle_;
//     idle_.with([&](auto& idle) { idle.push_back(std::move(session)); });
//
// Locks do not nest: with() inside another with() ends the process, whichever values they are of.
// What is called inside is short, and no user's code; at most a call of io, such as post(). The
// locks of io's task queues are innermost: nothing is called under them.
// Ownership: of the value. Nothing that refers into it leaves with(). Threads: any.
#pragma once

#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace evenkeel {

namespace detail {

// This thread is inside a with().
class InsideGuarded {
public:
    InsideGuarded() { EK_CHECK(!std::exchange(is_inside(), true), "locks do not nest"); }
    ~InsideGuarded() { is_inside() = false; }
    InsideGuarded(const InsideGuarded&) = delete;
    InsideGuarded& operator=(const InsideGuarded&) = delete;

private:
    static bool& is_inside() {
        static thread_local bool is_inside = false;
        return is_inside;
    }
};

}  // namespace detail

template <typename T>
class Guarded {
public:
    Guarded() = default;
    explicit Guarded(T value) : value_(std::move(value)) {}

    // What `use` returns, by value. Whoever else comes waits meanwhile.
    template <typename Use>
    auto with(Use&& use) {
        const detail::InsideGuarded inside;
        const Lock lock(mutex_);
        return std::forward<Use>(use)(value_);
    }
    template <typename Use>
    auto with(Use&& use) const {
        const detail::InsideGuarded inside;
        const Lock lock(mutex_);
        return std::forward<Use>(use)(std::as_const(value_));
    }

private:
    mutable Mutex mutex_;
    T value_ EK_GUARDED_BY(mutex_){};
};

}  // namespace evenkeel
