// tidy: no test: run as a real process by the tests of the command line
#include "bench/run.h"

#include "cli/temporary_folder.h"

namespace evenkeel::cli {

ExitCode run_benchmark(const std::string& data, bool json, const Measure& measure,
                       std::string_view hint) {
    Interrupt interrupt;
    const auto folder = TemporaryFolder::make(data, "bench");
    if (!folder.ok()) {
        return fail("cannot make a folder for the benchmark's data", folder.error(),
                    "--data DIR with a folder that exists and that you may write to");
    }
    std::vector<BenchLine> lines;
    const auto result = measure((*folder)->path(), interrupt, lines);
    show(lines, json);
    if (interrupt.wait(Duration(0))) return ExitCode::interrupted;
    if (!result.ok()) return fail("the benchmark did not come to its end", result.error(), hint);
    return ExitCode::done;
}

}  // namespace evenkeel::cli
