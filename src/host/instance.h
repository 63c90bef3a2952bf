// One instance of an app in this process: every enabled function, each with one processor that
// shares the partitions of its consumer group with the other instances.
//
//     start() ──▶ processes of the app ──▶ processors ──▶ executions ──▶ stop(): drains
//
// Threads: start(), stop() and has_ended() one; all else is its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "host/app.h"
#include "host/function_run.h"
#include "host/handler/command_handler.h"
#include "host/outputs.h"

namespace evenkeel::host {

struct InstanceOptions {
    std::string name;      // names its members in the store
    EventLine event_line;  // how commands get events
    Duration drain_max = std::chrono::seconds(30);
    Profile profile = Profile::standard;  // the same for all instances
    bool accept_store_loss = false;
};

struct InstanceReport {
    bool is_clean = false;  // all handed over or released, all progress stored
    std::uint64_t executions = 0;
    std::uint64_t failures = 0;
    std::uint64_t events = 0;
};

class Instance {
public:
    // `app` outlives it. An error names the function.
    static Result<std::unique_ptr<Instance>> start(const App& app, InstanceOptions options);
    // Stops.
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    // Why a processor has ended by itself, once one has.
    std::optional<Error> why_ended();
    // Lets running executions end, writes checkpoints, hands over. Executions of Python, Node and
    // custom handlers that take longer than drain_max are ended with their process.
    InstanceReport stop();

private:
    Instance(const App& app, InstanceOptions options);
    Result<> start_handlers();
    Result<> start_function(const Function& function);
    void end_handlers() const;
    Handler& handler_of(const Function& function) const;
    Result<ProcessorOptions> processor_options(const Function& function) const;

    struct Running {
        const Function& function;
        std::unique_ptr<Processor> processor;
    };
    const App& app_;
    const InstanceOptions options_;
    Outputs outputs_;
    const SendOutputs send_outputs_;
    Counts counts_;
    std::unique_ptr<Handler> commands_;
    std::unique_ptr<Handler> custom_;
    std::unique_ptr<Handler> python_;
    std::unique_ptr<Handler> node_;
    std::unique_ptr<Handler> cloud_;
    std::vector<Running> running_;  // goes before the handlers
};

}  // namespace evenkeel::host
