#include "host/function_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/core.h>
#include <poll.h>

#include "base/clock.h"
#include "host/handler/guid.h"
#include "host/handler/keeper.h"
#include "host/handler/worker_log.h"
#include "host/retry_pause.h"

namespace evenkeel::host {
namespace {

constexpr Duration not_json_every = std::chrono::minutes(1);
constexpr int look_ms = 50;              // whether the partition is given up
constexpr std::uint32_t pauses_max = 7;  // until outputs are sent again: up to 6.4 s

// Not a failure of an execution: it did not begin, or does not count.
bool is_passed_on(const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::overloaded ||
           error.code == ErrorCode::cancelled;
}

}  // namespace

Result<> FunctionRun::on_events(Partition& partition, Events events) {
    if (events.empty()) return {};
    if (place_.function.cardinality == Cardinality::many) return execute(partition, events);
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (partition.closing()) return Error{ErrorCode::cancelled, "the partition moves"};
        EK_TRY(execute(partition, events.subspan(i, 1)));
        partition.done(events[i]);
    }
    return {};
}

void FunctionRun::on_closed(Partition& partition, Closed) {
    place_.handler.release(place_.function, partition.id());
}

Result<> FunctionRun::execute(Partition& partition, Events events) {
    const auto& policy = place_.function.retry;
    const Tried tried = std::exchange(tried_, {});
    const bool goes_on = tried.first == events.front().sequence_number;
    std::string last_error = goes_on ? tried.error : "";
    for (std::uint32_t retry = goes_on ? tried.failures : 0;; ++retry) {
        const std::uint32_t attempt = policy ? retry : partition.attempt();
        auto result = once(partition, events, attempt, last_error);
        if (result.ok()) return result;
        if (is_passed_on(result.error())) {
            if (!events.empty()) tried_ = {events.front().sequence_number, retry, last_error};
            return result;
        }
        if (!policy || (policy->retries_max && retry >= *policy->retries_max)) {
            if (place_.rule == CheckpointRule::functions) return {};
            return result;
        }
        last_error = result.error().detail;
        const double spread = static_cast<double>(random_.between(800, 1200)) / 1000.0;
        if (!rest(partition, retry_pause(*policy, retry + 1, spread))) {
            return Error{ErrorCode::cancelled, "the partition moves"};
        }
    }
}

// Removes from `events` those that the handler has said are done.
Result<> FunctionRun::once(Partition& partition, Events& events, std::uint32_t attempt,
                           const std::string& last_error) {
    Events left = events;
    std::uint64_t bodies_as_text = 0;
    const auto done = [&](const Event& event) {
        partition.done(event);
        while (!left.empty() && left.front().sequence_number <= event.sequence_number) {
            left = left.subspan(1);
        }
    };
    const Invocation invocation{.function = place_.function,
                                .id = new_guid(),
                                .host_name = place_.host_name,
                                .partition = partition.id(),
                                .events = events,
                                .attempt = attempt,
                                .last_error = last_error,
                                .closing = [&] { return partition.closing(); },
                                .done = done,
                                .not_json = [&](std::uint64_t count) { bodies_as_text = count; }};
    auto outcome = place_.handler.invoke(invocation);
    if (outcome.ok() || !is_passed_on(outcome.error())) {
        ++place_.counts.executions;
        note_not_json(invocation, bodies_as_text);
    }
    Result<> result;
    if (outcome.ok()) {
        for (const auto& line : outcome->logs) log_invocation(invocation, "info", line);
        result = send(partition, invocation, *outcome);
    } else {
        result = outcome.error();
    }
    if (result.ok()) {
        place_.counts.events += events.size();
        return {};
    }
    events = left;
    if (is_passed_on(result.error())) return result;
    ++place_.counts.failures;
    log_invocation(invocation, "error",
                   fmt::format("failed with events {} to {} of partition {}, attempt {}: {}",
                               invocation.events.front().sequence_number,
                               invocation.events.back().sequence_number, partition.id(),
                               attempt + 1, result.error().detail));
    return events.empty() ? Result<>() : result;
}

void FunctionRun::note_not_json(const Invocation& invocation, std::uint64_t events) const {
    if (events == 0) return;
    place_.counts.not_json += events;
    const Instant now = SystemClock().now();
    const bool is_told = place_.counts.not_json_told.with([&](auto& last) {
        const auto [told, is_first] = last.try_emplace(place_.function.name, now);
        if (!is_first && now - told->second < not_json_every) return true;
        told->second = now;
        return false;
    });
    if (!is_told) log_not_json(invocation, events);
}

// The function has had its effects, so that an event hub that is away or missing is no reason to
// execute it again.
Result<> FunctionRun::send(const Partition& partition, const Invocation& invocation,
                           Outcome& outcome) {
    for (std::uint32_t tries = 1;; ++tries) {
        auto sent = place_.outputs(place_.function, outcome);
        if (sent.ok() || !is_passed_on(sent.error())) return sent;
        const Duration pause = restart_pause(std::min(tries, pauses_max), random_);
        log_invocation(
            invocation, "warning",
            fmt::format("has succeeded, but {}; partition {} waits, and only the "
                        "output is sent again, in {} ms",
                        sent.error().detail, partition.id(), pause / std::chrono::milliseconds(1)));
        if (!rest(partition, pause)) return Error{ErrorCode::cancelled, sent.error().detail};
    }
}

bool FunctionRun::rest(const Partition& partition, Duration pause) {
    const SystemClock clock;
    const Instant end = clock.now() + pause;
    while (!partition.closing()) {
        const Duration left = end - clock.now();
        if (left <= Duration(0)) return true;
        const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        poll(nullptr, 0, static_cast<int>(std::min<std::int64_t>(ms, look_ms)));
    }
    return false;
}

}  // namespace evenkeel::host
