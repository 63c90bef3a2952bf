#include "cli/commands/bench.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/commands/commands.h"

namespace evenkeel::cli {
namespace {

// With a slash at its end; empty if it is not known.
std::string folder_of_this_program() {
    std::array<char, 4096> path;
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0) return {};
    const std::string program(path.data(), static_cast<std::size_t>(size));
    return program.substr(0, program.rfind('/') + 1);
}

}  // namespace

// All that follows is for the other program, --help too.
void add_bench(CLI::App& app, Chosen& chosen) {
    auto* command = app.add_subcommand("bench", "Benchmark this build on this machine");
    command->set_help_flag();
    command->prefix_command();
    command->callback([command, &chosen] { chosen.exit = bench(command->remaining()); });
}

ExitCode bench(const std::vector<std::string>& arguments) {
    std::string name = "evenkeel-bench";
    std::vector<char*> raw{name.data()};
    for (const auto& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    const std::string folder = folder_of_this_program();
    execv((folder + name).c_str(), raw.data());
    if (errno == ENOENT) execvp(name.c_str(), raw.data());
    const int error = errno;
    if (error == ENOENT) {
        return fail("cannot find evenkeel-bench, the benchmark program",
                    {ErrorCode::not_found, fmt::format("it is neither in {} nor on PATH", folder)},
                    "install evenkeel-bench beside evenkeel, or build it: "
                    "cmake --build --preset release --target evenkeel-bench");
    }
    return fail(
        "cannot start evenkeel-bench",
        {error == EACCES ? ErrorCode::not_allowed : ErrorCode::unavailable, std::strerror(error)});
}

}  // namespace evenkeel::cli
