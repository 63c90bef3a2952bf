// The benchmarks as commands, with their options.
#pragma once

#include "cli/program.h"

namespace evenkeel::bench {

// Below the help of the program and of each benchmark.
extern const char* const examples;

void add_log(CLI::App& app, cli::Chosen& chosen);
void add_amqp(CLI::App& app, cli::Chosen& chosen);
void add_restart(CLI::App& app, cli::Chosen& chosen);
void add_processor(CLI::App& app, cli::Chosen& chosen);
void add_against(CLI::App& app, cli::Chosen& chosen);
void add_remote_hub(CLI::App& app, cli::Chosen& chosen);
// The processes that benchmarks start. The help does not show them.
void add_children(CLI::App& app, cli::Chosen& chosen);

}  // namespace evenkeel::bench
