// `bench host`: functions in real processes, with a hub in a process of its own and a SQLite store.
//
//     noop_node, noop_python   shims, batches of 100 events of JSON that the function does not use
//     noop_exec                a command for each batch
//     noop_exec_lines          a command that answers each event
//     burst                    from 100,000 waiting events to all instances reading
//     idle                     memory of a controller and one instance of ten functions
//
// The packages of the languages are stubs in a few lines, so that the host is measured, and nothing
// has to be installed. Node is compared with a bare loop that parses the same requests.
#pragma once

#include <cstdint>
#include <string>

#include "cli/exit_code.h"
#include "cli/program.h"

namespace evenkeel::bench {

struct HostBenchOptions {
    std::string data;
    std::uint64_t events = 200'000;  // the backlog of one round
    int rounds = 3;
    std::string only;
    bool json = false;
};
cli::ExitCode measure_host(const HostBenchOptions& options);

// One instance. Tells "counted SECONDS CPU_SECONDS HANDLER_CPU_SECONDS PEAK_MIB EXECUTIONS" once it
// has handled so many events, from the first one on; that of the handler has its start as well. The
// connection string is in the settings of the app.
struct HostChildOptions {
    std::string app;
    std::string store;
    std::uint64_t events = 0;
};
cli::ExitCode run_host_child(const HostChildOptions& options);

void add_host(CLI::App& app, cli::Chosen& chosen);

}  // namespace evenkeel::bench
