// tidy: no test: run as a process by tests/fault/serve_test.cc
#include "cli/serve.h"

#include <cstdio>

#include <unistd.h>

#include <fmt/core.h>

#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/server.h"
#include "io/system/files.h"
#include "io/system/service_manager.h"

namespace evenkeel::cli {
namespace {

constexpr auto forever = std::chrono::hours(1);  // to wait once; then again

void set_log(const Config& config, const ServeOptions& options) {
    const LogFormat format = options.log_format.value_or(config.log_format);
    const bool json =
        format == LogFormat::json || (format == LogFormat::automatic && isatty(STDERR_FILENO) == 0);
    set_trace_format(json ? TraceFormat::json : TraceFormat::text);
    set_trace_level(config.log_level);
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const auto& word : words) all += (all.empty() ? "" : " ") + word;
    return all;
}

// For people who read the log, once the log is set up.
ExitCode failed(std::string_view what, const Error& error, std::string_view hint) {
    trace(TraceLevel::error, what, {{"cause", to_string(error)}, {"try", std::string(hint)}});
    return exit_code(error.code);
}

void tell_start(const Config& config, const Server& server) {
    trace(TraceLevel::info, "the hub takes clients",
          {{"version", EVENKEEL_VERSION},
           {"data", config.server.hub.directory},
           {"listens", joined(server.addresses())}});
    if (!config.server.hub.sync_to_disk) {
        trace(TraceLevel::warning,
              "durability is \"os\": acknowledged events survive the end of the process, but not "
              "that of the machine");
    }
}

// Runs until it is asked to stop.
class Service {
public:
    Service(const ServeOptions& options, Config config, Server& server)
        : options_(options), config_(std::move(config)), server_(server) {}

    void run(Interrupt& interrupt, const io::system::ServiceManager& manager) {
        manager.ready("Takes clients");
        while (true) {
            const bool stop = interrupt.wait(manager.watchdog_interval().value_or(forever));
            if (stop) return;
            if (interrupt.take_reload()) {
                manager.reloading();
                manager.ready(reload() ? "Takes clients"
                                       : "Takes clients; the last reload failed, see the log");
            }
            // From the loop, so that one that hangs is missed.
            server_.post([&manager] { manager.alive(); });
        }
    }

private:
    bool reload() {
        auto config = load_config(files_, options_.config);
        if (!config.ok()) {
            trace(TraceLevel::error, "the configuration was not loaded again; the old one holds",
                  {{"cause", config.error().detail}});
            return false;
        }
        const auto reloaded = server_.reload(config->server);
        if (!reloaded.ok()) {
            trace(TraceLevel::error, "the configuration was not loaded again; the old one holds",
                  {{"cause", to_string(reloaded.error())}});
            return false;
        }
        set_log(*config, options_);
        trace(TraceLevel::info, "the configuration was loaded again", {{"file", options_.config}});
        // Compared with what the process was started with, so it is told each time.
        if (const auto names = needs_restart(config_, *config); !names.empty()) {
            trace(TraceLevel::warning, "these changes need a restart", {{"keys", joined(names)}});
        }
        return true;
    }

    const ServeOptions& options_;
    const Config config_;
    Server& server_;
    io::system::SystemFiles files_;
};

}  // namespace

ExitCode serve(const ServeOptions& options) {
    Interrupt interrupt(Hangup::reloads);
    io::system::SystemFiles files;
    auto config = load_config(files, options.config);
    if (!config.ok()) {
        // A line for each problem, each beginning with file and line number.
        fmt::print(stderr,
                   "error: the configuration is not good\n{}\n  try: docs/configuration.md "
                   "has all keys\n",
                   config.error().detail);
        return exit_code(config.error().code);
    }
    if (options.check) {
        fmt::print("{} is good\n", options.config);
        return ExitCode::done;
    }
    set_log(*config, options);
    const auto manager = io::system::ServiceManager::from_environment();
    auto server = Server::open(config->server);
    if (!server.ok()) {
        return failed("the hub did not start", server.error(),
                      "choose other addresses in [listen], or another folder in data");
    }
    const std::string ready_file =
        options.ready_file.empty() ? config->ready_file : options.ready_file;
    if (!ready_file.empty()) {
        const auto written = io::replace_file(files, ready_file, as_bytes((*server)->ready_text()));
        if (!written.ok()) {
            return failed("the ready file was not written", written.error(), "another ready_file");
        }
    }
    tell_start(*config, **server);
    Service(options, std::move(*config), **server).run(interrupt, manager);
    manager.stopping();
    trace(TraceLevel::info, "the hub stops: no more clients, and an end to those that are there");
    server->reset();
    if (!ready_file.empty()) (void)files.remove(ready_file);
    trace(TraceLevel::info, "the hub has stopped");
    return ExitCode::done;
}

}  // namespace evenkeel::cli
