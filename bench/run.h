// What every benchmark does around its measuring.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/report.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"

namespace evenkeel::bench {

using Measure = std::function<Result<>(const std::string& folder, cli::Interrupt& interrupt,
                                       std::vector<Line>& lines)>;

// Measures in a folder of its own inside `data` (empty: the system's place) and shows the lines,
// also those of a run that did not come to its end. The hint is for a measuring that failed.
cli::ExitCode run_benchmark(const std::string& data, bool json, const Measure& measure,
                            std::string_view hint = {});

}  // namespace evenkeel::bench
