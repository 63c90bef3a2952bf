// `evenkeel bench` starts the program evenkeel-bench.
#include <filesystem>

#include "process/cli/dev_hub.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A copy of evenkeel in a folder without evenkeel-bench, and a PATH with only `path` on it.
Outcome run_alone(const std::string& path, std::vector<std::string> arguments) {
    const test::TemporaryDirectory directory;
    const std::string copy = directory.path() + "/evenkeel";
    std::filesystem::copy_file(test::evenkeel_program(), copy);
    arguments.insert(arguments.begin(), {"/usr/bin/env", "PATH=" + path, copy});
    return run_to_end(arguments);
}

TEST(BenchCommand, runs_a_benchmark) {
    const test::TemporaryDirectory directory;

    const auto outcome =
        run_to_end({test::evenkeel_program(), "bench", "log", "--only", "single_append",
                    "--seconds", "0.2", "--rounds", "1", "--data", directory.path()});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "single_append")) << outcome.output;
}

TEST(BenchCommand, runs_functions) {
    const test::TemporaryDirectory directory;

    const auto outcome =
        run_to_end({test::evenkeel_program(), "bench", "host", "--only", "noop_exec", "--events",
                    "1000", "--rounds", "1", "--data", directory.path(), "-o", "json"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "\"noop_exec_lines\"")) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "\"host_cpu_us_per_event\"")) << outcome.output;
}

TEST(BenchCommand, completes_benchmarks_and_their_options) {
    const auto benchmarks = run_to_end({test::evenkeel_program(), "__complete", "bench", "r"});
    const auto options =
        run_to_end({test::evenkeel_program(), "__complete", "bench", "log", "--ro"});

    EXPECT_TRUE(benchmarks.output.starts_with("restart\t")) << benchmarks.output;
    EXPECT_TRUE(options.output.starts_with("--rounds\t")) << options.output;
}

TEST(BenchCommand, measures_a_hub_and_removes_what_it_made) {
    const cli_tests::DevHub hub;
    hub.make_default();
    const auto hubs = run_to_end({test::evenkeel_program(), "hub", "ls", "-o", "name"}).output;

    const auto outcome =
        run_to_end({test::evenkeel_program(), "bench", "hub", hub.connection(), "--seconds", "0.2",
                    "--rounds", "1", "--events-max", "20000", "--rate", "100", "-o", "json"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "\"ingest\"")) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "\"p99_ms\"")) << outcome.output;
    EXPECT_EQ(run_to_end({test::evenkeel_program(), "hub", "ls", "-o", "name"}).output, hubs);
}

TEST(BenchCommand, leaves_a_named_event_hub_where_it_is) {
    const cli_tests::DevHub hub;
    hub.make_default();

    const auto outcome = run_to_end({test::evenkeel_program(), "bench", "hub", hub.connection(),
                                     "--event-hub", "eh1", "--seconds", "0.2", "--rounds", "1",
                                     "--events-max", "1000", "--rate", "100"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "the events stay in event hub 'eh1'")) << outcome.errors;
    EXPECT_EQ(run_to_end({test::evenkeel_program(), "hub", "show", "eh1"}).exit_code, 0);
}

TEST(BenchCommand, refuses_another_machine_unless_told) {
    const auto outcome = run_to_end(
        {test::evenkeel_program(), "bench", "hub",
         "Endpoint=sb://hub.invalid;SharedAccessKeyName=a;SharedAccessKey=c2VjcmV0a2V5"});

    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(has(outcome.errors, "hub.invalid is not this machine")) << outcome.errors;
    EXPECT_FALSE(has(outcome.errors, "c2VjcmV0a2V5"));
}

TEST(BenchCommand, finds_the_program_on_path) {
    const auto outcome = run_alone(test::built_path("src/cli"), {"bench", "log", "--help"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "Usage: evenkeel bench log")) << outcome.output;
}

TEST(BenchCommand, ends_with_3_if_the_program_is_missing) {
    const auto outcome = run_alone("/nowhere", {"bench", "log"});

    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(has(outcome.errors, "cannot find evenkeel-bench")) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "--target evenkeel-bench")) << outcome.errors;
}

}  // namespace
}  // namespace evenkeel::fault
