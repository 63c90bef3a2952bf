// One instance of an app in this process: every enabled function, each with one processor that
// shares the partitions of its consumer group with the other instances. The app outlives it, and
// the processes of the app outlive its processors.
//
//     start() ──▶ processes of the app ──▶ processors ──▶ executions ──▶ stop(): drains
//
// Functions are started side by side. One that cannot be started, because of its hub or of what
// runs it, or whose processor ends by itself, does not stop the others: it is started again after
// 0.1 s, then after twice as long each time, up to 30 s.
// Threads: start(), look() and stop() one; all else is its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/random.h"
#include "base/result.h"
#include "host/app.h"
#include "host/function_run.h"
#include "host/handler/command_handler.h"
#include "host/outputs.h"
#include "io/system/worker_pool.h"

namespace evenkeel::host {

struct InstanceOptions {
    std::string name;      // names its members in the store
    EventLine event_line;  // how commands get events
    Duration drain_max = std::chrono::seconds(30);
    Profile profile = Profile::standard;  // the same for all instances
    bool accept_store_loss = false;
};

struct InstanceReport {
    bool is_clean = false;         // all handed over or released, all progress stored
    std::uint64_t executions = 0;  // that began
    std::uint64_t failures = 0;
    std::uint64_t events = 0;
    std::uint64_t not_json = 0;  // bodies that were passed on as text
};

class Instance {
public:
    // Returns once one function runs, or after 90 s in which none could be started or refused: the
    // others go on starting. `app` outlives it. An error names the function; there is one only if
    // no function could be started.
    static Result<std::unique_ptr<Instance>> start(const App& app, InstanceOptions options);
    // Stops.
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    // Starts functions again whose pause is over. The error of one of them, once none runs.
    std::optional<Error> look();
    // Lets running executions end, writes checkpoints, hands over. Executions of Python, Node and
    // custom handlers that take longer than drain_max are ended with their process.
    InstanceReport stop();
    // So far; whether it is clean shows only at the end. Threads: any.
    InstanceReport report() const;

private:
    Instance(const App& app, InstanceOptions options);
    void make_handlers();
    std::optional<Error> wait_for_first();
    Result<std::unique_ptr<Processor>> started(const Function& function) const;
    void take_started();
    void take_ended();
    void start_due();
    std::optional<Error> error_if_none_runs() const;
    void end_handlers() const;
    Handler& handler_of(const Function& function) const;
    Result<ProcessorOptions> processor_options(const Function& function) const;

    // A function that is run, and its processor while it has one.
    struct Running {
        const Function* function;
        std::unique_ptr<Processor> processor = nullptr;
        bool is_starting = false;  // on the thread for that
        std::uint32_t ends = 0;    // in a row
        Instant began = {};        // of the processor
        Instant not_before = {};   // of the next start
        Error why = {};            // it does not run
    };
    void failed(Running& running, const Error& why);
    using Starts = std::vector<std::pair<std::size_t, Result<std::unique_ptr<Processor>>>>;

    const App& app_;
    const InstanceOptions options_;
    Outputs outputs_;
    const SendOutputs send_outputs_;
    mutable Counts counts_;
    const SystemClock clock_;
    Random random_;
    std::unique_ptr<Handler> commands_;
    std::unique_ptr<Handler> custom_;
    std::unique_ptr<Handler> python_;
    std::unique_ptr<Handler> node_;
    std::unique_ptr<Handler> cloud_;
    std::vector<Running> running_;  // goes before the handlers
    Guarded<Starts> starts_;        // that are over, by the place in running_
    std::stop_source stopping_;
    std::atomic<std::uint32_t> ending_ = 0;  // processors that ended, with executions left
    // Go first: their tasks use all else.
    io::system::WorkerPool starter_;
    io::system::WorkerPool ender_{"end", 1};
};

}  // namespace evenkeel::host
