// The command line as its users meet it: what it writes, and how it ends.
#include <fstream>

#include <signal.h>

#include <boost/json/parse.hpp>

#include "base/bytes.h"
#include "io/system/files.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

Outcome evenkeel(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::evenkeel_program());
    return run_to_end(arguments);
}

std::string content(const std::string& path) {
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, path, 1 << 20);
    return bytes.ok() ? std::string(as_text(*bytes)) : to_string(bytes.error());
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(CommandLine, prints_its_version) {
    const auto outcome = evenkeel({"--version"});

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.output.starts_with("evenkeel ")) << outcome.output;
}

TEST(CommandLine, helps_with_examples_for_each_command) {
    for (const auto& arguments : {std::vector<std::string>{"--help"},
                                  {"demo", "--help"},
                                  {"bench", "--help"},
                                  {"help"},
                                  {"help", "bench", "log"},
                                  {"bench", "log", "--help"}}) {
        const auto outcome = evenkeel(arguments);

        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_TRUE(has(outcome.output, "Examples:")) << outcome.output;
        EXPECT_EQ(outcome.errors, "");
        EXPECT_FALSE(has(outcome.output, "child")) << "what is not for people is shown to them";
    }
}

TEST(CommandLine, exits_with_2_and_a_hint_on_wrong_usage) {
    struct Case {
        std::vector<std::string> arguments;
        std::string expected;
    };
    for (const auto& [arguments, expected] : {
             Case{{"dmo"}, "unknown command 'dmo'; did you mean 'demo'?\n"},
             Case{{"hub"}, "evenkeel hub needs a command"},
             Case{{"--nope"}, "unknown option '--nope'\n"},
             Case{{"demo", "--partition", "3"}, "did you mean '--partitions'?"},
             Case{{"demo", "--for", "10"}, "'10' is not a time"},
             Case{{"demo", "--for", "-3s"}, "is not a time"},
             Case{{"demo", "--partitions", "0"}, "--partitions"},
             Case{{"demo", "--event-bytes", "7"}, "--event-bytes"},
             Case{{"bench"}, "--help"},
             Case{{"bench", "log", "-o", "xml"}, "table"},
         }) {
        const auto outcome = evenkeel(arguments);

        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, expected)) << outcome.errors;
        EXPECT_EQ(outcome.output, "");
    }
}

TEST(Demo, writes_a_good_verdict_as_json) {
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() + "/verdict.json";

    const auto outcome = evenkeel({"demo", "--for", "1s", "--rate", "20000", "--json", file});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
    EXPECT_TRUE(has(outcome.output, "VERDICT")) << outcome.output;
    const std::string json = content(file);
    EXPECT_TRUE(has(json, "\"lost\": 0,")) << json;
    EXPECT_TRUE(has(json, "\"out_of_order\": 0,")) << json;
    EXPECT_TRUE(has(json, "\"handled\": ")) << json;
    EXPECT_FALSE(has(json, "\"sent\": 0,")) << json;
}

TEST(Demo, reports_a_store_that_cannot_be_opened) {
    const auto outcome = evenkeel({"demo", "--for", "1s", "--store", "redis://127.0.0.1:1"});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.output, "") << "no verdict on nothing";
    EXPECT_TRUE(outcome.errors.starts_with("error: the demo did not start\n")) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "127.0.0.1:1")) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "--store")) << outcome.errors;
}

TEST(Demo, reopens_its_folder_with_more_partitions) {
    const test::TemporaryDirectory directory;
    const std::string data = directory.path() + "/data";

    for (const char* partitions : {"2", "4"}) {
        const auto outcome = evenkeel({"demo", "--for", "200ms", "--rate", "10000", "--data", data,
                                       "--partitions", partitions});

        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
    }
}

TEST(Demo, gives_a_verdict_and_exits_with_130_on_sigint) {
    Process process({test::evenkeel_program(), "demo", "--rate", "10000", "--json", "-"});
    char first_words[8];
    ASSERT_TRUE(process.read_errors(first_words, sizeof first_words));

    process.signal(SIGINT);

    const std::string output = process.rest_of_output();
    EXPECT_TRUE(has(output, "\"interrupted\": true")) << output;
    EXPECT_TRUE(has(output, "\"lost\": 0,")) << output;
    const Ended ended = process.wait();
    EXPECT_TRUE(ended.exited);
    EXPECT_EQ(ended.code, 130);
}

TEST(Demo, leaves_no_process_behind_when_it_is_killed) {
    const test::TemporaryDirectory directory;
    Process process({test::evenkeel_program(), "demo", "--rate", "10000", "--data",
                     directory.path() + "/data"});
    char first_words[8];
    ASSERT_TRUE(process.read_errors(first_words, sizeof first_words));
    std::ifstream children("/proc/" + std::to_string(process.id()) + "/task/" +
                           std::to_string(process.id()) + "/children");
    std::string child;
    children >> child;
    EXPECT_NE(child, "") << "events go through processes of their own";

    process.signal(SIGKILL);

    // The children have the same stderr: it ends when the last of them has.
    process.rest_of_errors();
    EXPECT_FALSE(process.wait().exited);
}

TEST(Demo, reduces_batches_to_the_message_size) {
    const auto outcome = evenkeel({"demo", "--for", "300ms", "--event-bytes", "300000", "--batch",
                                   "10", "--rate", "100", "--json", "-"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
    EXPECT_TRUE(has(outcome.output, "\"refused\": 0,")) << outcome.output;
    EXPECT_FALSE(has(outcome.output, "\"handled\": 0,")) << outcome.output;
}

TEST(Demo, gives_a_hint_if_the_folder_is_not_writable) {
    const auto outcome = evenkeel({"demo", "--for", "1s", "--data", "/dev/null/data"});

    EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "/dev/null/data")) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "try: --data")) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
}

TEST(Demo, checks_first_that_the_verdict_can_be_written) {
    const auto outcome = evenkeel({"demo", "--json", "/no/such/folder/verdict.json"});

    EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "/no/such/folder/verdict.json")) << outcome.errors;
}

TEST(Demo, exits_with_6_if_the_folder_is_in_use) {
    const test::TemporaryDirectory directory;
    const std::string data = directory.path() + "/data";
    Process first({test::evenkeel_program(), "demo", "--rate", "1000", "--data", data});
    char first_words[8];
    ASSERT_TRUE(first.read_errors(first_words, sizeof first_words));

    const auto second = evenkeel({"demo", "--for", "1s", "--data", data});

    EXPECT_EQ(second.exit_code, 6) << second.errors;
    EXPECT_TRUE(has(second.errors, std::to_string(first.id()))) << second.errors;
    first.signal(SIGINT);
    EXPECT_EQ(first.wait().code, 130);
}

TEST(Bench, reports_throughput_and_device_limit) {
    const test::TemporaryDirectory directory;

    const auto outcome =
        evenkeel({"bench", "log", "-o", "json", "--only", "single_append", "--seconds", "0.1",
                  "--rounds", "1", "--data", directory.path()});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    for (const char* key : {"events_per_second", "limit_per_second", "ratio", "events_per_sync"}) {
        EXPECT_TRUE(has(outcome.output, key)) << outcome.output;
    }
    io::system::SystemFiles files;
    EXPECT_TRUE(files.list(directory.path())->empty()) << "the benchmark's data are removed";
}

TEST(Bench, compares_amqp_with_a_bare_socket) {
    const test::TemporaryDirectory directory;

    const auto outcome =
        evenkeel({"bench", "amqp", "-o", "json", "--only", "deliver_1k", "--seconds", "0.1",
                  "--rounds", "1", "--data", directory.path()});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    for (const char* key : {"events_per_second", "limit_per_second", "ratio", "hub_cpu_ns"}) {
        EXPECT_TRUE(has(outcome.output, key)) << outcome.output;
    }
    io::system::SystemFiles files;
    EXPECT_TRUE(files.list(directory.path())->empty()) << "the benchmark's data are removed";
}

TEST(Bench, measures_idle_connections_and_slow_consumers) {
    const test::TemporaryDirectory directory;
    for (const char* name :
         {"idle_connections", "slow_consumers", "slow_consumers_large", "single_sends"}) {
        const auto outcome = evenkeel({"bench", "amqp", "-o", "json", "--only", name, "--seconds",
                                       "0.2", "--rounds", "1", "--connections", "20",
                                       "--slow-links", "20", "--data", directory.path()});

        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_TRUE(has(outcome.output, name)) << outcome.output;
    }
}

TEST(Bench, measures_processors_in_separate_processes) {
    const test::TemporaryDirectory directory;
    for (const char* name : {"noop_100b", "end_to_end_20k_16", "end_to_end_20k_beside_backlog",
                             "balance_after_start"}) {
        const auto outcome =
            evenkeel({"bench", "processor", "-o", "json", "--only", name, "--events", "20000",
                      "--seconds", "0.1", "--rounds", "1", "--data", directory.path()});

        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        boost::system::error_code error;
        const auto parsed = boost::json::parse(outcome.output, error);
        ASSERT_FALSE(error) << outcome.output;
        ASSERT_EQ(parsed.as_array().size(), 1U) << outcome.output;
        const auto& line = parsed.as_array()[0].as_object();
        EXPECT_EQ(line.at("name").as_string(), name);
        for (const char* key : {"events_per_second", "limit_per_second", "ratio"}) {
            EXPECT_GT(line.at(key).to_number<double>(), 0) << key << ": " << outcome.output;
        }
    }
    io::system::SystemFiles files;
    EXPECT_TRUE(files.list(directory.path())->empty()) << "the benchmark's data are removed";
}

TEST(Bench, puts_the_same_load_on_another_server) {
    if (::access("/usr/bin/redis-server", X_OK) != 0) GTEST_SKIP() << "Redis is not installed";
    const test::TemporaryDirectory directory;

    const auto outcome = evenkeel({"bench", "--against", "redis", "-o", "json", "--seconds", "0.2",
                                   "--rounds", "1", "--data", directory.path()});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    boost::system::error_code error;
    const auto parsed = boost::json::parse(outcome.output, error);
    ASSERT_FALSE(error) << outcome.output;
    EXPECT_EQ(parsed.as_array().size(), 6U) << outcome.output;
    for (const auto& each : parsed.as_array()) {
        const auto& line = each.as_object();
        EXPECT_FALSE(line.at("acknowledged_by").as_string().empty());
        EXPECT_GT(line.at("partitions").to_number<double>(), 0);
        EXPECT_GT(line.at("p99_ms").to_number<double>(), 0) << line.at("line").as_string();
    }
}

TEST(Bench, says_which_servers_it_can_be_compared_with) {
    const auto outcome = evenkeel({"bench", "--against", "kafka"});

    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_TRUE(has(outcome.errors, "redis and postgresql are supported")) << outcome.errors;
}

TEST(Bench, restart_reads_acknowledged_events_after_a_kill) {
    const test::TemporaryDirectory directory;

    const auto outcome = evenkeel({"bench", "restart", "-o", "json", "--gib", "0.02",
                                   "--partitions", "4", "--data", directory.path()});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "\"restart_after_sigkill\"")) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "\"rss_mib\"")) << outcome.output;
}

}  // namespace
}  // namespace evenkeel::fault
