// The timers of one loop, earliest first; equal ones in the order they were added. Both kinds of
// loop, system/ and sim/, keep theirs here. Threads: pinned to the loop.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/task.h"
#include "io/loop.h"

namespace evenkeel::io {

class TimerQueue {
public:
    TimerId add(Instant when, Task task) {
        const auto id = TimerId{++last_};
        when_.emplace(id, when);
        tasks_.emplace(std::pair{when, id}, std::move(task));
        return id;
    }

    void cancel(TimerId id) {
        const auto found = when_.find(id);
        if (found == when_.end()) return;
        const auto at = tasks_.find({found->second, id});
        when_.erase(found);
        const auto dropped = tasks_.extract(at);  // its destructor may come back to us
    }

    std::optional<Instant> next() const {
        if (tasks_.empty()) return std::nullopt;
        return tasks_.begin()->first.first;
    }

    // The first timer's task if its time has come; an empty task otherwise.
    Task take_due(Instant now) {
        if (tasks_.empty() || tasks_.begin()->first.first > now) return {};
        auto first = tasks_.extract(tasks_.begin());
        when_.erase(first.key().second);
        return std::move(first.mapped());
    }

    std::size_t size() const { return tasks_.size(); }

private:
    std::uint64_t last_ = 0;
    std::map<std::pair<Instant, TimerId>, Task> tasks_;
    std::unordered_map<TimerId, Instant> when_;
};

}  // namespace evenkeel::io
