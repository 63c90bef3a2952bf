// Keeps one worker running: starts it, and again after it has ended, with growing pauses.
//
//     get() ──▶ running ──ended──▶ pause of 0.1 s, doubling to 30 s ──▶ starting ──▶ running
//
// A worker that ran for a minute begins with the short pause again.
// Ownership: shares the worker with those who use it; the last one destroys it, never under our
// lock, since a worker's destructor may wait for its threads.
// Threads: any; get() blocks while it starts one, and others do not wait for that.
// Failure: `unavailable` while there is none, so that partitions wait and keep their leases.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"

namespace evenkeel::host {

// Before a worker is started again, after that many ends in a row, from 1. Pure.
inline Duration restart_pause(std::uint32_t ends, Random& random) {
    constexpr Duration first = std::chrono::milliseconds(100), most = std::chrono::seconds(30);
    const Duration pause = std::min(most, first * (std::int64_t{1} << std::min(ends - 1, 20u)));
    const std::int64_t fifth = pause.count() / 5;
    return Duration(pause.count() + random.between(-fifth, fifth));
}

// `Worker` has has_ended().
template <typename Worker>
class Keeper {
public:
    // Starts one, and returns once it is ready. Blocks.
    using Start = std::function<Result<std::shared_ptr<Worker>>()>;
    Keeper(std::string name, Start start) : name_(std::move(name)), start_(std::move(start)) {}

    // Starts it if it does not run, and the pause is over.
    Result<std::shared_ptr<Worker>> get() {
        const Instant now = SystemClock().now();
        std::optional<Duration> pause;
        std::shared_ptr<Worker> last;
        auto found = state_.with([&](State& state) -> Result<std::shared_ptr<Worker>> {
            if (state.is_stopped) return away("is stopped");
            if (state.worker && !state.worker->has_ended()) return state.worker;
            if (state.worker) {
                last = std::exchange(state.worker, nullptr);
                pause = ended(state, now);
            }
            if (state.is_starting || now < state.not_before) {
                return away(state.is_starting ? "is starting" : state.why);
            }
            state.is_starting = true;
            return std::shared_ptr<Worker>();
        });
        if (pause) {
            trace(TraceLevel::warning,
                  "the process of the functions has ended; it is started again",
                  {{"process", name_},
                   {"in", fmt::format("{} ms", *pause / std::chrono::milliseconds(1))}});
        }
        if (!found.ok() || *found) return found;
        return begin();
    }

    bool is_starting() const {
        return state_.with([](const State& state) { return state.is_starting; });
    }

    // Lets go of the worker: it ends once nobody uses it any more. get() starts another one.
    void rest() {
        auto last = state_.with([](State& state) {
            state.ends = 0;
            return std::exchange(state.worker, nullptr);
        });
    }
    // Lets go of the worker: it ends once nobody uses it any more, and no other one is started.
    // The worker, if there is one.
    std::shared_ptr<Worker> stop() {
        return state_.with([](State& state) {
            state.is_stopped = true;
            return std::exchange(state.worker, nullptr);
        });
    }

private:
    struct State {
        std::shared_ptr<Worker> worker;
        bool is_starting = false;
        bool is_stopped = false;
        std::uint32_t ends = 0;  // in a row
        Instant began{};
        Instant not_before{};
        std::string why;  // there is none until then
        Random random{secure_number()};
    };
    static constexpr Duration healthy = std::chrono::minutes(1);

    Duration ended(State& state, Instant now) {
        state.ends = now - state.began > healthy ? 1 : state.ends + 1;
        const Duration pause = restart_pause(state.ends, state.random);
        state.not_before = now + pause;
        state.why = "has ended and is started again";
        return pause;
    }

    Result<std::shared_ptr<Worker>> begin() {
        auto started = start_();
        const std::string why = started.ok() ? "" : "cannot be started: " + started.error().detail;
        const Instant now = SystemClock().now();
        const bool is_late = state_.with([&](State& state) {
            state.is_starting = false;
            state.began = now;
            if (state.is_stopped) return true;
            if (started.ok()) {
                state.worker = *started;
            } else {
                ++state.ends;
                state.not_before = now + restart_pause(state.ends, state.random);
                state.why = why;
            }
            return false;
        });
        if (is_late) return away("is stopped");
        // Whatever the cause: it did not begin, and the event is not to blame.
        if (!started.ok()) return away(why);
        return started;
    }

    Error away(std::string_view why) const {
        return {ErrorCode::unavailable, fmt::format("{} {}", name_, why)};
    }

    const std::string name_;
    const Start start_;
    Guarded<State> state_;
};

}  // namespace evenkeel::host
