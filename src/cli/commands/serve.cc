// tidy: no test: run as a process by tests/process/serve/serve_test.cc
#include "cli/commands/serve.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <unistd.h>

#include <fmt/core.h>

#include "base/audit.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/text/event_filter.h"
#include "io/system/abandonable_call.h"
#include "io/system/files.h"
#include "io/system/service_manager.h"
#include "server/server.h"

namespace evenkeel::cli {
namespace {

constexpr auto forever = std::chrono::hours(1);  // to wait once; then again
// To read the configuration and all files that it names.
constexpr Duration load_time_max = std::chrono::seconds(10);
// A start that takes longer is logged.
constexpr Duration quick_start_max = std::chrono::seconds(1);
// For a reload that is under way when the process is to stop.
constexpr Duration reload_time_max = std::chrono::seconds(5);

void set_log(const server::Config& config, const ServeOptions& options) {
    const server::LogFormat format = options.log_format.value_or(config.log_format);
    const bool json = format == server::LogFormat::json ||
                      (format == server::LogFormat::automatic && isatty(STDERR_FILENO) == 0);
    set_trace_format(json ? TraceFormat::json : TraceFormat::text);
    set_trace_level(config.log_level);
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const auto& word : words) all += (all.empty() ? "" : " ") + word;
    return all;
}

// For operators who read the log, once logging is set up.
ExitCode failed(std::string_view what, const Error& error, std::string_view hint) {
    trace(TraceLevel::error, what, {{"cause", to_string(error)}, {"try", std::string(hint)}});
    return exit_code(error.code);
}

void tell_start(const server::Config& config, const server::Server& server) {
    trace(TraceLevel::info, "the hub accepts clients",
          {{"version", EVENKEEL_VERSION},
           {"data", config.server.hub.directory},
           {"listens", joined(server.addresses())}});
    if (!config.server.hub.sync_to_disk) {
        trace(TraceLevel::warning,
              "durability is \"os\": acknowledged events survive a crash of the process, but not "
              "that of the machine");
    }
}

enum class OnStop : unsigned char { leave, wait };

// How to wait for a call beside the signals.
struct StartWatch {
    Interrupt& interrupt;
    Duration interval = forever;
    Callback<void()> alive = [] {};  // every interval
};

// False after `duration`, or, if it is to be left then, once the process was asked to stop.
bool wait_for(const io::system::AbandonableCall& call, StartWatch& watch, Duration duration,
              OnStop on_stop) {
    const SystemClock clock;
    const Instant end = clock.now() + duration;
    while (!call.done() && clock.now() < end) {
        if (on_stop == OnStop::leave && watch.interrupt.requested()) break;
        watch.interrupt.wait_for_input(call.descriptor(),
                                       std::min<Duration>(watch.interval, end - clock.now()));
        watch.alive();
    }
    return call.done();
}

// A file may lie where its opening or reading never ends; signals are served all the while. The
// thread that waits for such a file is left behind.
Result<server::Config> load(const std::string& path, StartWatch& watch) {
    struct Loading {
        io::system::SystemFiles files;
        std::optional<Result<server::Config>> config;
    };
    const auto loading = std::make_shared<Loading>();
    const io::system::AbandonableCall call(
        [loading, path] { loading->config.emplace(server::load_config(loading->files, path)); });
    if (wait_for(call, watch, load_time_max, OnStop::leave)) return std::move(*loading->config);
    if (watch.interrupt.requested())
        return Error{ErrorCode::cancelled, "the server was asked to stop"};
    return Error{ErrorCode::timed_out,
                 path +
                     " or a file that it names could not be read within 10 s; is it on a mount "
                     "that does not answer?"};
}

// Partitions are recovered while clients connect; they are asked to retry soon.
Result<> finish_start(const server::Config& config, server::Server& server, StartWatch& watch) {
    Result<> started;
    const io::system::AbandonableCall call([&] { started = server.finish_start(config.server); });
    if (!wait_for(call, watch, quick_start_max, OnStop::leave)) {
        trace(TraceLevel::info, "the hub listens while it recovers its partitions",
              {{"listens", joined(server.addresses())}});
    }
    while (!call.done() && !watch.interrupt.requested()) {
        wait_for(call, watch, forever, OnStop::leave);
    }
    if (watch.interrupt.requested()) server.cancel_start();
    while (!wait_for(call, watch, forever, OnStop::wait)) {
    }
    return started;
}

// Runs until it is asked to stop.
class Service {
public:
    Service(const ServeOptions& options, server::Config config, server::Server& server)
        : options_(options), config_(std::move(config)), server_(server) {}

    void run(Interrupt& interrupt, const io::system::ServiceManager& manager) {
        manager.ready("Accepts clients");
        // A signal may have come while the start or a reload was waited for.
        while (!interrupt.requested()) {
            bool wanted = interrupt.take_reload();
            if (!wanted) {
                if (interrupt.wait(manager.watchdog_interval().value_or(forever))) return;
                wanted = interrupt.take_reload();
            }
            if (wanted) {
                manager.reloading();
                manager.ready(reload(interrupt, manager)
                                  ? "Accepts clients"
                                  : "Accepts clients; the last reload failed, see the log");
            }
            alive(manager);
        }
    }

private:
    // From the loop, so that one that hangs is missed.
    void alive(const io::system::ServiceManager& manager) {
        server_.post([&manager] { manager.alive(); });
    }

    bool reload(Interrupt& interrupt, const io::system::ServiceManager& manager) {
        StartWatch watch{interrupt, manager.watchdog_interval().value_or(forever),
                         [&] { alive(manager); }};
        auto config = load(options_.config, watch);
        if (!config.ok()) return not_loaded(config.error().detail);
        const auto reloaded = apply(config->server, watch);
        if (!reloaded.ok()) return not_loaded(to_string(reloaded.error()));
        set_log(*config, options_);
        audit({"operator", "SIGHUP", "reload", options_.config, "ok"});
        trace(TraceLevel::info, "the configuration was reloaded", {{"file", options_.config}});
        // Compared with the configuration at start, so it is logged at each reload.
        if (const auto names = server::needs_restart(config_, *config); !names.empty()) {
            trace(TraceLevel::warning, "these changes need a restart", {{"keys", joined(names)}});
        }
        return true;
    }

    bool not_loaded(const std::string& why) const {
        audit({"operator", "SIGHUP", "reload", options_.config, "refused"});
        trace(TraceLevel::error,
              "the configuration was not reloaded; the previous one stays in effect",
              {{"cause", why}});
        return false;
    }

    // Event hubs are made on the disk, which may hang; whoever asks us to stop is heard all the
    // same.
    Result<> apply(const server::ServerOptions& wanted, StartWatch& watch) {
        Result<> result;
        const io::system::AbandonableCall call([&] { result = server_.reload(wanted); });
        while (!call.done() && !watch.interrupt.requested()) {
            wait_for(call, watch, forever, OnStop::leave);
        }
        if (!wait_for(call, watch, reload_time_max, OnStop::wait)) {
            // It still uses the server, which cannot be closed beneath it. What was acknowledged is
            // durable, and the next start recovers as after a crash.
            trace(TraceLevel::error, "the hub exits immediately: the disk does not respond");
            std::_Exit(static_cast<int>(ExitCode::failed));
        }
        return result;
    }

    const ServeOptions& options_;
    const server::Config config_;
    server::Server& server_;
};

}  // namespace

ExitCode serve(const ServeOptions& options) {
    ignore_closed_pipes();
    Interrupt interrupt(Hangup::reloads);
    io::system::SystemFiles files;
    StartWatch watch{interrupt};
    auto config = load(options.config, watch);
    if (!config.ok()) {
        // A line for each problem, each beginning with file and line number.
        fmt::print(stderr,
                   "error: the configuration is not valid\n{}\n  try: docs/configuration.md "
                   "lists all keys\n",
                   config.error().detail);
        return exit_code(config.error().code);
    }
    if (options.check) {
        fmt::print("{} is good\n", options.config);
        return ExitCode::done;
    }
    const std::string ready_file =
        options.ready_file.empty() ? config->ready_file : options.ready_file;
    if (!ready_file.empty()) {
        // It is written by a rename, which would remove a device or a pipe.
        const auto checked = io::system::is_replaceable(ready_file);
        if (!checked.ok()) {
            return fail("the hub did not start", checked.error(), "another ready_file");
        }
    }
    set_log(*config, options);
    config->server.hub.trust_clock = options.trust_clock;
    const auto manager = io::system::ServiceManager::from_environment();
    config->server.event_filter = &parse_filter_of_server;
    auto server = server::Server::listen(config->server);
    if (server.ok()) {
        const auto started = finish_start(*config, **server, watch);
        if (!started.ok() && interrupt.requested()) {
            trace(TraceLevel::info, "the hub stopped before recovery was complete");
            return ExitCode::done;
        }
        if (!started.ok()) server = started.error();
    }
    if (!server.ok()) {
        return failed("the hub did not start", server.error(),
                      server.error().detail.starts_with("listen on ")
                          ? "choose other addresses in [listen]"
                          : "look at the folder that data names, and at who may write to it");
    }
    if (!ready_file.empty()) {
        const auto written = io::replace_file(files, ready_file, as_bytes((*server)->ready_text()));
        if (!written.ok()) {
            return failed("cannot write the ready file", written.error(), "another ready_file");
        }
    }
    tell_start(*config, **server);
    Service(options, std::move(*config), **server).run(interrupt, manager);
    manager.stopping();
    trace(TraceLevel::info, "the hub stops: it refuses new clients and drains the connected ones");
    server->reset();
    if (!ready_file.empty()) (void)files.remove(ready_file);
    trace(TraceLevel::info, "the hub has stopped");
    return ExitCode::done;
}

}  // namespace evenkeel::cli
