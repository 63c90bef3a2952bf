// An answer that threads wait for, until a time or until a stop is requested. It is shared with
// whoever answers, so that a late answer finds nobody and does no harm. Threads: any.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "base/timed_condition.h"

namespace evenkeel {

template <typename T = void>
class Awaited {
public:
    // The first answer counts.
    void set(Result<T> answer) {
        const Lock lock(mutex_);
        if (!answer_) answer_.emplace(std::move(answer));
        condition_.notify_all();
    }
    bool is_set() const {
        const Lock lock(mutex_);
        return answer_.has_value();
    }
    // Waits; false if there is no answer when the time is over or a stop is requested.
    bool wait(std::chrono::milliseconds timeout, const std::stop_token& stop) {
        const auto until = TimedCondition::after(timeout);
        const auto waker = condition_.wake_at(stop, mutex_);
        const Lock lock(mutex_);
        return wait_until(until, stop);
    }
    // Takes the answer; once. `timed_out` after that time, `cancelled` once a stop is requested:
    // both leave the question open, and the answer may still come. An answer that is there counts
    // more than a stop.
    Result<T> take(std::chrono::milliseconds timeout = forever, const std::stop_token& stop = {}) {
        const auto until = TimedCondition::after(timeout);
        const auto waker = condition_.wake_at(stop, mutex_);
        const Lock lock(mutex_);
        if (!wait_until(until, stop)) return given_up(stop);
        return std::move(*answer_);
    }
    // The same, but leaves the answer for others.
    Result<T> copy(std::chrono::milliseconds timeout = forever, const std::stop_token& stop = {}) {
        const auto until = TimedCondition::after(timeout);
        const auto waker = condition_.wake_at(stop, mutex_);
        const Lock lock(mutex_);
        if (!wait_until(until, stop)) return given_up(stop);
        return *answer_;
    }

private:
    bool wait_until(TimedCondition::Until until, const std::stop_token& stop) EK_REQUIRES(mutex_) {
        while (!answer_ && !stop.stop_requested() && condition_.wait_until(mutex_, until)) {
        }
        return answer_.has_value();
    }
    static Error given_up(const std::stop_token& stop) {
        if (stop.stop_requested()) return {ErrorCode::cancelled, "a stop was requested"};
        return {ErrorCode::timed_out, "there was no answer in time"};
    }

    mutable Mutex mutex_;
    TimedCondition condition_;
    std::optional<Result<T>> answer_ EK_GUARDED_BY(mutex_);
};

// `cancelled` if a stop was requested before a call: then nothing is begun.
inline Result<> go_ahead(const std::stop_token& stop) {
    if (!stop.stop_requested()) return {};
    return Error{ErrorCode::cancelled, "a stop was requested before the call"};
}

// Asks, and waits for the answer as long as `call` says (CallOptions). `ask` is called with a
// function that takes the answer, on any thread and also when nobody waits any more: what `ask`
// posts must not refer to the caller's stack. Not on the loop that answers.
template <typename T, typename Call, typename Ask>
Result<T> asked(const Call& call, Ask ask) {
    EK_TRY(go_ahead(call.stop));
    const auto awaited = std::make_shared<Awaited<T>>();
    ask([awaited](Result<T> answer) { awaited->set(std::move(answer)); });
    return awaited->take(call.timeout, call.stop);
}

}  // namespace evenkeel
