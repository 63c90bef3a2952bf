// `evenkeel bench`: starts evenkeel-bench, a program of its own, so that what measures is no part
// of the product.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace evenkeel::cli {

// Replaces this process by evenkeel-bench with these arguments: the one in the folder of the
// running program, else the first on PATH. Returns only if there is none (not_found), or if it
// cannot be started.
ExitCode bench(const std::vector<std::string>& arguments);

}  // namespace evenkeel::cli
