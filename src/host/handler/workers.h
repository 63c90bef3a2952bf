// The processes that run the functions of an app: one for all executions, and a second one while
// there are suspects (suspects.h), which runs these one at a time. So an event that crashes its
// process again and again stops nothing else.
//
//     call() ──▶ shared process, many at once ──ends──▶ `unavailable`; all that it held: suspects
//          └───▶ second one, if a suspect ──────ends──▶ `handler_failed`
//
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <poll.h>

#include "base/guarded.h"
#include "base/result.h"
#include "host/handler/handler.h"
#include "host/handler/keeper.h"
#include "host/handler/suspects.h"

namespace evenkeel::host {

// `Worker` has has_ended() and, after that, was_asked_to_end(); end() ends it at once.
template <typename Worker>
class Workers {
public:
    using Start = typename Keeper<Worker>::Start;
    Workers(const std::string& name, const Start& start)
        : shared_(name, start), second_(name + " (for one execution)", start) {}

    // Starts the shared process, or waits while another thread does.
    Result<> begin() {
        while (true) {
            while (shared_.is_starting()) poll(nullptr, 0, turn_poll_ms);
            const auto worker = shared_.get();
            if (worker.ok()) return {};
            if (!shared_.is_starting()) return worker.error();
        }
    }
    // Lets go of both, and starts no other one.
    void stop() {
        static_cast<void>(shared_.stop());
        static_cast<void>(second_.stop());
    }
    // The same, and ends them at once: what they hold is `unavailable`.
    void end() {
        for (auto* keeper : {&shared_, &second_}) {
            if (const auto worker = keeper->stop()) worker->end();
        }
    }

    // `ask` answers `handler_failed` if the process ended while it held the execution. Waits for
    // the turn of a suspect: `unavailable` if it does not come soon, `cancelled` if the partition
    // is given up meanwhile.
    template <typename Answer>
    Result<Answer> call(const Invocation& invocation,
                        const std::function<Result<Answer>(Worker&)>& ask) {
        const Execution execution = execution_of(invocation);
        if (state_.with([&](State& state) { return state.suspects.has(execution); })) {
            EK_TRY(wait_for_turn(invocation));
            auto answer = call_second(execution, ask);
            end_turn();
            return answer;
        }
        EK_TRY_ASSIGN(const auto worker, shared_.get());
        auto answer = ask(*worker);
        if (!has_ended_in(answer, *worker)) return answer;
        state_.with([&](State& state) { state.suspects.add(execution); });
        return not_counted(answer.error());
    }

    // The partition has gone.
    void release(const Function& function, std::uint32_t partition) {
        const bool is_idle = state_.with([&](State& state) {
            state.suspects.forget(function.name, partition);
            return state.suspects.empty() && !state.is_taken;
        });
        if (is_idle) second_.rest();
    }

private:
    struct State {
        Suspects suspects;
        bool is_taken = false;  // the second process
    };
    static constexpr int turn_poll_ms = 20;
    static constexpr int turn_max_ms = 1'000;

    static Execution execution_of(const Invocation& invocation) {
        const Events events = invocation.events;
        return {.function = invocation.function.name,
                .partition = invocation.partition,
                .first = events.empty() ? 0 : events.front().sequence_number,
                .last = events.empty() ? 0 : events.back().sequence_number};
    }

    template <typename Answer>
    static bool has_ended_in(const Result<Answer>& answer, const Worker& worker) {
        return !answer.ok() && answer.error().code == ErrorCode::handler_failed &&
               worker.has_ended();
    }

    static Error not_counted(const Error& error) {
        return {ErrorCode::unavailable,
                fmt::format("{}; what it held runs again alone, and no attempt is counted",
                            error.detail)};
    }

    template <typename Answer>
    Result<Answer> call_second(const Execution& execution,
                               const std::function<Result<Answer>(Worker&)>& ask) {
        EK_TRY_ASSIGN(const auto worker, second_.get());
        auto answer = ask(*worker);
        if (has_ended_in(answer, *worker)) {
            const bool is_to_blame = state_.with([&](State& state) {
                return state.suspects.is_to_blame(execution, worker->was_asked_to_end());
            });
            if (!is_to_blame) return not_counted(answer.error());
        } else if (answer.ok() || answer.error().code != ErrorCode::unavailable) {
            state_.with([&](State& state) { state.suspects.answered(execution); });
        }
        return answer;
    }

    Result<> wait_for_turn(const Invocation& invocation) {
        int waited_ms = 0;
        while (state_.with([](State& state) { return std::exchange(state.is_taken, true); })) {
            if (invocation.closing()) return Error{ErrorCode::cancelled, "the partition moves"};
            // Its thread may be wanted for partitions that can run.
            if (waited_ms >= turn_max_ms) {
                return Error{ErrorCode::unavailable, "another suspect of a crash runs"};
            }
            poll(nullptr, 0, turn_poll_ms);
            waited_ms += turn_poll_ms;
        }
        return {};
    }

    // The second process goes when nothing is suspected any more.
    void end_turn() {
        if (state_.with([](State& state) { return state.suspects.empty(); })) second_.rest();
        state_.with([](State& state) { state.is_taken = false; });
    }

    Keeper<Worker> shared_;
    Keeper<Worker> second_;
    Guarded<State> state_;
};

}  // namespace evenkeel::host
