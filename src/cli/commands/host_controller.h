// The scale controller of `evenkeel host` with real processes: instances of the app are children of
// this one, each `evenkeel host APP --instance NAME`.
//
//     looks at hub and store ──▶ host::ScaleController ──▶ children started, drained, killed
//                                         └──▶ the status file, for `evenkeel host status`
//
// A child is drained by the end of its standard input, which the kernel closes as well if this
// process is killed: then all children finish what they run, and end.
#pragma once

#include "cli/commands/host.h"
#include "cli/exit_code.h"
#include "host/app.h"

namespace evenkeel::cli {

// What an instance says on its standard output once it takes part.
inline constexpr const char* ready_word = "ready";

// Runs until a signal asks it to stop; then drains all instances.
ExitCode run_scaled(const HostCommandOptions& options, const host::App& app);

}  // namespace evenkeel::cli
