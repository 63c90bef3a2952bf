#include "host/handler/command_runner.h"

#include <chrono>
#include <deque>
#include <limits>
#include <optional>

#include <fmt/core.h>

namespace evenkeel::host {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t write_bytes = std::size_t{64} << 10;  // what a pipe holds
constexpr std::size_t lines_max = 256;                      // under way

CommandOptions with_answers(CommandOptions options) {
    options.child.answers = options.ack != CommandAck::exit_code;
    return options;
}

CommandPace::Limits batch_limits(const CommandOptions& options) {
    if (options.batch_events == 0) {
        const std::size_t all = std::numeric_limits<std::size_t>::max();
        return {.events_min = all, .events_max = all};
    }
    return {.events_min = options.batch_events,
            .events_max = std::max(options.batch_events, options.batch_events_max),
            .quick = milliseconds(100),
            .slow = milliseconds(400)};
}

Error moving() {
    return {ErrorCode::cancelled, "the partition moves"};
}

bool is_error(std::string_view line) {
    return line.starts_with("error");
}

// Which answer belongs to which event is not known any more.
Error answered_too_much() {
    return {ErrorCode::handler_failed,
            "the command answered with more lines than it was given events; its standard output "
            "must have nothing but answers, other output belongs on standard error"};
}

Error says(std::int64_t sequence, std::string_view line) {
    return {ErrorCode::handler_failed,
            fmt::format("event {}: the command says: {}", sequence, line)};
}

}  // namespace

CommandRunner::CommandRunner(CommandOptions options)
    : options_(with_answers(std::move(options))),
      batch_pace_(batch_limits(options_)),
      line_pace_({.events_min = 1,
                  .events_max = lines_max,
                  .quick = milliseconds(10),
                  .slow = milliseconds(50)}) {}

Result<> CommandRunner::run(Events events, const Calls& calls) {
    if (options_.ack != CommandAck::line) return run_batches(events, calls);
    if (!child_) {
        EK_TRY_ASSIGN(child_, CommandChild::start(options_.child));
    }
    Result<> result = ask_for_each(events, calls);
    if (result.ok()) return result;
    // What is not the command's failure is none of the events.
    if (result.error().code == ErrorCode::handler_failed) {
        if (const auto error = child_->why_not_failed(calls.wish)) result = *error;
    }
    child_.reset();
    return result;
}

void CommandRunner::close(const CommandChild::GetWish& wish) {
    if (child_) static_cast<void>(child_->finish(wish));
    child_.reset();
}

Result<> CommandRunner::run_batches(Events events, const Calls& calls) {
    while (!events.empty()) {
        const Events batch = events.first(std::min(events.size(), batch_pace_.events()));
        if (!child_) {
            EK_TRY_ASSIGN(child_, CommandChild::start(options_.child));
        }
        const Instant began = SystemClock().now();
        const bool is_by_exit = options_.ack == CommandAck::exit_code;
        Result<> result = is_by_exit ? pass_all(batch, calls) : ask_for_batch(batch, calls);
        if (!is_by_exit && !result.ok() && result.error().code == ErrorCode::handler_failed) {
            if (const auto error = child_->why_not_failed(calls.wish)) result = *error;
        }
        if (is_by_exit || !result.ok()) child_.reset();
        EK_TRY(result);
        batch_pace_.took(batch.size(), SystemClock().now() - began);
        calls.done(batch.back(), batch.size());
        events = events.subspan(batch.size());
        // The next owner takes what it was not given.
        if (!events.empty() && calls.wish() != CommandChild::Wish::go_on) return moving();
    }
    return {};
}

Result<> CommandRunner::give(Events events, const Calls& calls) {
    std::string text;
    for (const Event& event : events) {
        calls.add_line(event, text);
        if (text.size() < write_bytes) continue;
        EK_TRY(child_->write(text, calls.wish));
        text.clear();
    }
    if (options_.ack == CommandAck::batch) text += '\n';
    return child_->write(text, calls.wish);
}

Result<> CommandRunner::pass_all(Events events, const Calls& calls) {
    Result<> result = give(events, calls);
    // What it says in the end counts: it need not have read all.
    const auto finished = child_->finish(calls.wish);
    if (result.ok() || result.error().code == ErrorCode::handler_failed) result = finished;
    return result;
}

Result<> CommandRunner::ask_for_batch(Events events, const Calls& calls) {
    EK_TRY(give(events, calls));
    while (true) {
        EK_TRY_ASSIGN(const auto lines, child_->read_lines(calls.wish));
        std::string output;
        std::optional<Result<>> answer;
        for (const std::string_view line : lines) {
            if (line.empty()) {
                answer = Result<>();
            } else if (is_error(line)) {
                answer = says(events.front().sequence_number, line);
            } else {
                output.append(line) += '\n';
            }
        }
        if (!output.empty()) EK_TRY(calls.output(output));
        if (answer) return *answer;
    }
}

// A rewind brings back events that were answered, and they are wanted then.
void CommandRunner::forget_answered(const Event& first) {
    if (first.sequence_number < failed_) answered_ahead_.clear();
    while (!answered_ahead_.empty() && *answered_ahead_.begin() < first.sequence_number) {
        answered_ahead_.erase(answered_ahead_.begin());
    }
}

Result<> CommandRunner::ask_for_each(Events events, const Calls& calls) {
    if (!events.empty()) forget_answered(events.front());
    if (child_->has_written()) return answered_too_much();
    struct Given {
        const Event* event;
        Instant at;
    };
    std::deque<Given> given;  // and not answered
    std::optional<Error> failure;
    bool is_moving = false;
    std::string text;
    while (true) {
        is_moving = is_moving || calls.wish() != CommandChild::Wish::go_on;
        const Instant now = SystemClock().now();
        text.clear();
        // Nothing more behind a failure; and the next owner takes what it was not given.
        while (!failure && !is_moving && !events.empty() && given.size() < line_pace_.events()) {
            const Event& event = events.front();
            events = events.subspan(1);
            if (answered_ahead_.contains(event.sequence_number)) continue;
            calls.add_line(event, text);
            given.push_back({&event, now});
        }
        if (given.empty()) break;
        // If it has ended, its last answers are in the pipe still.
        auto written = child_->write(text, calls.wish);
        if (!written.ok() && written.error().code != ErrorCode::handler_failed) return written;
        const auto lines = child_->read_lines(calls.wish);
        if (!lines.ok()) return failure ? Result<>(*failure) : lines.error();
        const Instant answered = SystemClock().now();
        if (lines->size() > given.size()) return failure ? *failure : answered_too_much();
        line_pace_.took(given.size(), answered - given.front().at);
        for (const std::string_view line : *lines) {
            const Event& event = *given.front().event;
            given.pop_front();
            if (is_error(line)) {
                if (!failure) {
                    failure = says(event.sequence_number, line);
                    failed_ = event.sequence_number;
                }
            } else if (failure) {
                answered_ahead_.insert(event.sequence_number);
            } else {
                calls.done(event, 1);
            }
        }
    }
    if (failure) return *failure;
    return events.empty() ? Result<>() : Result<>(moving());
}

}  // namespace evenkeel::host
