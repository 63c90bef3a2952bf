// All commands of evenkeel. Each function adds one to the parser, with its options and examples.
// It is defined beside the command: in its own file, or in the *_options.cc of commands that belong
// together. What a command does is in the file that has its name.
#pragma once

#include "cli/program.h"

namespace evenkeel::cli {

// serve_options.cc
void add_dev(CLI::App& app, Chosen& chosen);
void add_serve(CLI::App& app, Chosen& chosen);
// event_options.cc
void add_send(CLI::App& app, Chosen& chosen);
void add_read(CLI::App& app, Chosen& chosen);
// admin_options.cc
void add_hub(CLI::App& app, Chosen& chosen);
void add_backups(CLI::App& noun, Chosen& chosen);  // below `hub`
void add_group(CLI::App& app, Chosen& chosen);
void add_key(CLI::App& app, Chosen& chosen);
void add_conn(CLI::App& app, Chosen& chosen);
void add_check(CLI::App& app, Chosen& chosen);
// context_options.cc
void add_context(CLI::App& app, Chosen& chosen);
// doctor_options.cc
void add_doctor(CLI::App& app, Chosen& chosen);
// checkpoint_options.cc
void add_checkpoint(CLI::App& app, Chosen& chosen);
// deadletter_options.cc
void add_deadletter(CLI::App& app, Chosen& chosen);
// processor_options.cc
void add_process(CLI::App& app, Chosen& chosen);
void add_status(CLI::App& app, Chosen& chosen);
void add_top(CLI::App& app, Chosen& chosen);
void add_scale(CLI::App& app, Chosen& chosen);
void add_processor(CLI::App& app, Chosen& chosen);
// host_options.cc
void add_host(CLI::App& app, Chosen& chosen);
// completion.cc and bench.cc
void add_completion(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Chosen& chosen);

}  // namespace evenkeel::cli
