// tidy: no test: run as a real process by the tests of the command line
#include "bench/run.h"

#include "cli/temporary_folder.h"

namespace evenkeel::bench {

cli::ExitCode run_benchmark(const std::string& data, bool json, const Measure& measure,
                            std::string_view hint) {
    cli::Interrupt interrupt;
    const auto folder = cli::TemporaryFolder::make(data, "bench");
    if (!folder.ok()) {
        return cli::fail("cannot make a folder for the benchmark's data", folder.error(),
                         "--data DIR with a folder that exists and that you may write to");
    }
    std::vector<Line> lines;
    const auto result = measure((*folder)->path(), interrupt, lines);
    show(lines, json);
    if (interrupt.wait(Duration(0))) return cli::ExitCode::interrupted;
    if (!result.ok())
        return cli::fail("the benchmark did not come to its end", result.error(), hint);
    return cli::ExitCode::done;
}

}  // namespace evenkeel::bench
