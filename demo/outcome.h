// How the demo ends: the verdict for readers and for programs, and the exit code.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/exit_code.h"
#include "demo/demo.h"
#include "demo/verdict.h"

namespace evenkeel::demo {

// Whether the verdict can be written there: found out before the run, not after an hour of it.
Result<> check_writable(const std::string& file);

// Of a run in which not one event was sent.
cli::ExitCode tell_no_start(const Error& error, const Options& options);
// `error`: what ended the stream early, if anything did.
cli::ExitCode tell(const Verdict& verdict, const std::optional<Error>& error,
                   const Options& options);

}  // namespace evenkeel::demo
