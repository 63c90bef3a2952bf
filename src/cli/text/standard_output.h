// Standard output, which may be a file on a full disk, or a pipe that nobody reads any more.
//
// Commands print with fmt::print(), which throws when bytes cannot be written. run() in
// cli/program.h catches that, and asks here once more at the end, so that no command has to look.
// One that runs on after it has printed asks itself, by flush_output().
#pragma once

#include "base/result.h"

namespace evenkeel::cli {

// Writes what was printed. `unavailable` if that fails, or failed before.
Result<> flush_output();

// Whether it is a pipe whose reader has gone, as in `evenkeel read eh1 | head`.
bool output_is_unread();

}  // namespace evenkeel::cli
