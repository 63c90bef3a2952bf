// The options of `evenkeel demo`, and of the processes that it starts.
#pragma once

#include "cli/program.h"

namespace evenkeel::demo {

void add_demo(CLI::App& app, cli::Chosen& chosen);
void add_producer(CLI::App& app, cli::Chosen& chosen);
void add_program(CLI::App& app, cli::Chosen& chosen);
void add_member(CLI::App& app, cli::Chosen& chosen);

}  // namespace evenkeel::demo
