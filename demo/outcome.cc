// tidy: no test: run as a process by the tests of the demo
#include "demo/outcome.h"

#include <cstdio>

#include <fmt/core.h>

#include "cli/text/terminal.h"
#include "io/file.h"
#include "io/system/files.h"

namespace evenkeel::demo {

Result<> check_writable(const std::string& file) {
    io::system::SystemFiles files;
    const std::string probe = file + ".probe";
    EK_TRY(files.open(probe, io::OpenMode::create));
    return files.remove(probe);
}

cli::ExitCode tell_no_start(const Error& error, const Options& options) {
    cli::fail("the demo did not start", error,
              options.store.empty() ? "run evenkeel demo again; if it still fails, check the disk"
                                    : "use another --store, or none: then the demo creates one");
    return cli::ExitCode::failed;
}

cli::ExitCode tell(const Verdict& verdict, const std::optional<Error>& error,
                   const Options& options) {
    std::FILE* const out = options.json_file == "-" ? stderr : stdout;
    fmt::print(out, "\n");
    for (const auto& line : lines(verdict, cli::terminal_of(out))) fmt::print(out, "{}\n", line);
    std::fflush(out);
    if (options.json_file == "-") {
        fmt::print("{}", to_json(verdict));
    } else if (!options.json_file.empty()) {
        io::system::SystemFiles files;
        const auto written = io::replace_file(files, options.json_file, as_bytes(to_json(verdict)));
        if (!written.ok()) {
            cli::fail("cannot write the verdict to " + options.json_file, written.error());
            return cli::ExitCode::failed;
        }
    }
    if (error) {
        cli::fail("the stream failed", *error,
                  error->code == ErrorCode::overloaded
                      ? "free some space, or give --data on another disk"
                      : "run evenkeel demo again; if it still fails, check the disk");
        return cli::ExitCode::failed;
    }
    if (!verdict.good()) return cli::ExitCode::failed;
    return verdict.interrupted ? cli::ExitCode::interrupted : cli::ExitCode::done;
}

}  // namespace evenkeel::demo
