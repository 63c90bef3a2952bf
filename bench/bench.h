// `evenkeel bench`: what this machine and this build reach, measured against the raw device in the
// same run. A benchmark checks its result too, and fails if that is wrong; a missed goal is only
// reported, because it says as much about the machine as about us.
#pragma once

#include <cstdint>
#include <string>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct BenchLogOptions {
    std::string data;    // where the temporary folder is made; empty: the system's place
    double seconds = 2;  // of one round of one line
    int rounds = 3;
    std::string only;  // lines whose name contains this; empty: all
    bool json = false;
};
ExitCode bench_log(const BenchLogOptions& options);

struct BenchRestartOptions {
    std::string data;
    double gib = 1;
    std::uint32_t partitions = 32;
    bool json = false;
};
ExitCode bench_restart(const BenchRestartOptions& options);

struct BenchAmqpOptions {
    std::string data;
    double seconds = 2;
    int rounds = 3;
    std::uint32_t connections = 10'000;  // of the idle ones
    std::uint32_t slow_links = 1000;
    std::string only;
    bool json = false;
};
ExitCode bench_amqp(const BenchAmqpOptions& options);

struct BenchProcessorOptions {
    std::string data;
    double seconds = 2;  // of one round of the latency
    int rounds = 3;
    std::uint64_t events = 4'000'000;  // the backlog of one round
    bool full = false;                 // as many kills and hand-overs as the goals name
    std::string only;
    bool json = false;
};
ExitCode bench_processor(const BenchProcessorOptions& options);

// What benchmarks run in processes of their own. They talk on stdout, in words
// that bench_restart.cc explains; a hub tells its port.
struct BenchChildOptions {
    std::string data;
    std::uint64_t bytes = 0;
    std::uint32_t partitions = 32;
};
ExitCode bench_fill_child(const BenchChildOptions& options);
ExitCode bench_idle_child(const BenchChildOptions& options);
ExitCode bench_bare_child(const BenchChildOptions& options);
struct BenchHubOptions;
ExitCode bench_hub_child(const BenchHubOptions& options);

}  // namespace evenkeel::cli
