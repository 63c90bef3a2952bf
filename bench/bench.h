// `evenkeel bench`: what this machine and this build reach, measured against the raw device in the
// same run. A benchmark checks its result too, and fails if that is wrong; a missed goal is only
// reported, because it says as much about the machine as about us.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/report.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"

namespace evenkeel::bench {

struct LogOptions {
    std::string data;    // where the temporary folder is made; empty: the system's place
    double seconds = 2;  // of one round of one line
    int rounds = 3;
    std::string only;  // lines whose name contains this; empty: all
    bool json = false;
};
cli::ExitCode measure_log(const LogOptions& options);

struct RestartOptions {
    std::string data;
    double gib = 1;
    std::uint32_t partitions = 32;
    bool json = false;
};
cli::ExitCode measure_restart(const RestartOptions& options);

struct AmqpOptions {
    std::string data;
    double seconds = 2;
    int rounds = 3;
    std::uint32_t connections = 10'000;  // of the idle ones
    std::uint32_t slow_links = 1000;
    std::string only;
    bool json = false;
};
cli::ExitCode measure_amqp(const AmqpOptions& options);

struct ProcessorBenchOptions {
    std::string data;
    double seconds = 2;  // of one round of the latency
    int rounds = 3;
    std::uint64_t events = 4'000'000;  // the backlog of one round
    bool full = false;                 // as many kills and hand-overs as the goals name
    std::string only;
    bool json = false;
};
cli::ExitCode measure_processor(const ProcessorBenchOptions& options);
// The line end_to_end_20k_N of it alone.
Result<> add_end_to_end(const ProcessorBenchOptions& options, const std::string& folder,
                        cli::Interrupt& interrupt, std::vector<Line>& lines,
                        std::uint32_t partitions);

// A hub that runs elsewhere.
struct RemoteHubOptions {
    std::string connection;
    std::string url;
    std::string ca_file;
    std::string event_hub;  // that exists, and keeps the events; empty: one that is made for it
    std::string group = "$Default";
    std::uint32_t partitions = 4;  // of the one that is made
    double seconds = 2;            // of one round
    int rounds = 3;
    double rate = 1000;  // events a second, while latencies are measured
    std::size_t event_bytes = 100;
    std::uint64_t events_max = 10'000'000;  // all together
    bool yes = false;                       // also if it is another machine
    bool json = false;
};
cli::ExitCode measure_remote_hub(const RemoteHubOptions& options);

// What benchmarks run in processes of their own. They talk on stdout, in words
// that bench/restart.cc explains; a hub tells its port.
struct ChildOptions {
    std::string data;
    std::uint64_t bytes = 0;
    std::uint32_t partitions = 32;
};
cli::ExitCode run_fill_child(const ChildOptions& options);
cli::ExitCode run_idle_child(const ChildOptions& options);
cli::ExitCode run_bare_child(const ChildOptions& options);
struct HubProcessOptions;
cli::ExitCode run_hub_child(const HubProcessOptions& options);

}  // namespace evenkeel::bench
