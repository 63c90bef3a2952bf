// How many events a command is given at a time: more and more while that takes little time, fewer
// when it takes long. What a command holds when its partition moves must be finished first.
// Pure. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/clock.h"

namespace evenkeel::host {

class CommandPace {
public:
    struct Limits {
        std::size_t events_min = 1;
        std::size_t events_max = 1;
        Duration quick = Duration(0);  // in less time than this: twice as many
        Duration slow = Duration(0);   // in more time than this: half as many
    };

    explicit CommandPace(const Limits& limits) : limits_(limits), events_(limits.events_min) {}

    std::size_t events() const { return events_; }
    // `events` took so long. Fewer than events() say nothing about more.
    void took(std::size_t events, Duration time) {
        if (time > limits_.slow) {
            events_ = std::max(events_ / 2, limits_.events_min);
        } else if (time < limits_.quick && events >= events_) {
            events_ = std::min(events_ * 2, limits_.events_max);
        }
    }

private:
    const Limits limits_;
    std::size_t events_;
};

}  // namespace evenkeel::host
