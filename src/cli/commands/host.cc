#include "cli/commands/host.h"

#include <utility>

#include <sys/prctl.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/result.h"
#include "cli/commands/host_controller.h"
#include "cli/interrupt.h"
#include "cli/remote/remote.h"
#include "cli/text/event_json.h"
#include "cli/text/listing.h"
#include "host/app.h"
#include "host/instance.h"

namespace evenkeel::cli {
namespace {

constexpr Duration look_every = std::chrono::milliseconds(100);

// Waits a little.
bool is_told_to_stop(Interrupt& interrupt, bool is_supervised) {
    if (!is_supervised) return interrupt.wait(look_every);
    return interrupt.wait_for_input(STDIN_FILENO, look_every) || interrupt.requested();
}

ExitCode run_instance(const HostCommandOptions& options, const host::App& app) {
    prctl(PR_SET_NAME, "evenkeel");  // the controller starts it as /proc/self/exe: "exe"
    Interrupt interrupt;
    const std::string& name = options.instance;
    if (!options.is_supervised) print_app(app, fmt::format("Instance {} of {}", name, app.folder));
    auto instance = host::Instance::start(
        app, {.name = name,
              .event_line =
                  [](const std::string& event_hub, std::uint32_t partition, const Event& event) {
                      return as_json({event_hub, partition}, event);
                  },
              .drain_max = options.drain_max,
              .profile = options.profile == "fast" ? Profile::fast : Profile::standard,
              .accept_store_loss = options.accept_store_loss});
    if (!instance.ok()) {
        const bool may_pass = instance.error().code == ErrorCode::unavailable ||
                              instance.error().code == ErrorCode::timed_out;
        fail(fmt::format("cannot run the app '{}'", options.folder), instance.error(),
             may_pass ? "are the hub and the store of the app running? 'evenkeel check --hub "
                        "STRING' diagnoses a hub"
                      : "");
        return exit_code_remote(instance.error().code);
    }
    fmt::print("{}\n", options.is_supervised
                           ? ready_word
                           : "Running. Ctrl-C stops after the executions that run now.");
    std::fflush(stdout);
    std::optional<Error> ended;
    while (!ended && !is_told_to_stop(interrupt, options.is_supervised)) {
        ended = (*instance)->look();
    }
    const auto report = (*instance)->stop();
    fmt::print(stderr, "{}{}, {} failed; {} handled{}{}\n",
               options.is_supervised ? name + ": " : "", plural(report.executions, "execution"),
               report.failures, plural(report.events, "event"),
               report.not_json == 0 ? ""
                                    : fmt::format("; {} passed on as text, which are not JSON",
                                                  plural(report.not_json, "event")),
               report.is_clean ? "" : "; some checkpoints could not be stored");
    if (ended) return fail("an instance ended by itself", *ended);
    return report.is_clean ? ExitCode::done : ExitCode::failed;
}

}  // namespace

ExitCode host_app(const HostCommandOptions& options) {
    auto app = host::load_app(options.folder, host::process_environment(), options.store);
    if (!app.ok())
        return fail(fmt::format("cannot load the app '{}'", options.folder), app.error());
    if (options.memory_max > 0) host::limit_memory(*app, options.memory_max);
    return options.instance.empty() ? run_scaled(options, *app) : run_instance(options, *app);
}

void print_app(const host::App& app, const std::string& title) {
    for (const auto& warning : app.warnings) fmt::print(stderr, "warning: {}\n", warning);
    for (const auto& failure : app.failures) fmt::print(stderr, "error: {}\n", failure);
    fmt::print("{}\n", title);
    for (const auto& function : app.functions) {
        fmt::print("  {:<20} {} / {}, {}{}{}\n", function.name, function.event_hub,
                   function.consumer_group,
                   function.cardinality == host::Cardinality::many
                       ? fmt::format("up to {} events", function.max_batch)
                       : "one event at a time",
                   function.outputs.empty()
                       ? ""
                       : fmt::format(", {}", plural(function.outputs.size(), "output")),
                   function.disabled ? ", disabled" : "");
    }
    std::fflush(stdout);
}

}  // namespace evenkeel::cli
