// An interpreter with one of our shims: a process that has loaded the functions of a Python or Node
// app, and executes them. A request is a line of JSON, and so is its answer; several are under way
// at a time.
//
//     start() ──▶ hello: functions, and what could not be loaded ──▶ ask(), ask(), ...
//
// Ownership: owns the process; shared by executions that are under way. Threads: any; calls block.
// Failure: when the process ends, all that wait are answered, and ask() refuses from then on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/promise.h"
#include "base/result.h"
#include "host/app.h"
#include "host/handler/worker_process.h"

namespace evenkeel::host {

class ShimWorker {
public:
    // Returns once the app is loaded. `kind` is python or node. `not_found`: there is no such
    // interpreter; `timed_out` and `unavailable`: it did not load the app; `cancelled` by `stop`.
    static Result<std::shared_ptr<ShimWorker>> start(
        Kind kind, const std::string& folder, const Environment& settings,
        std::optional<std::uint64_t> memory_max = std::nullopt, std::stop_token stop = {});

    // {"functions":[{"name":...,"bindings":[...],"retry":...}],"failures":["...traceback"]}
    const std::string& hello() const { return hello_; }
    // The answer to a request, whose id is unique. `timed_out`: it took longer, and the process is
    // killed. `handler_failed`: the process ended meanwhile. `unavailable`: it has ended before, or
    // was killed for another request.
    Result<std::string> ask(const std::string& id, std::string line,
                            std::optional<Duration> timeout);
    bool has_ended() const { return process_->has_ended(); }
    bool was_asked_to_end() const { return process_->end().was_asked; }
    // Kills it: all requests are `unavailable`.
    void end();

private:
    struct Waiting {
        Promise<Result<std::string>>* answer;
        std::optional<Instant> end;
    };
    struct State {
        std::map<std::string, Waiting, std::less<>> waiting;
        bool has_ended = false;
        bool was_killed = false;  // by us
    };

    ShimWorker() = default;
    void on_line(Stream stream, std::string_view line);
    void on_answer(std::string_view line);
    void on_tick();
    void on_end(const WorkerEnd& end);

    std::string name_;
    std::string hello_;
    Instant start_end_{};
    std::stop_token stop_start_;
    Promise<Result<std::string>> greeted_;
    Guarded<State> state_;
    std::unique_ptr<WorkerProcess> process_;  // goes first
};

}  // namespace evenkeel::host
