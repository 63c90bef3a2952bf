// How the server starts, what it writes, and whom it tells.
#include <cstring>
#include <filesystem>

#include <sys/un.h>

#include <boost/json.hpp>

#include "process/serve/serve_process.h"
#include "support/paths.h"
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

TEST(Serve, writes_its_real_ports_to_a_file_while_it_runs) {
    ServeProcess server;
    const std::string path = server.folder() + "/ready.json";
    EXPECT_EQ(member(read_text(path), "http_port"), std::to_string(server.http_port));
    EXPECT_TRUE(http(server.http_port, "GET", "/health")
                    .body.starts_with("{\"status\":\"healthy\",\"message\":\"Service is "
                                      "healthy.\","));

    const Ended ended = server.stop();

    EXPECT_TRUE(ended.exited);
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(read_text(path).starts_with("not_found")) << read_text(path);
}

TEST(Serve, ends_with_0_on_ctrl_c_too) {
    ServeProcess server;

    EXPECT_EQ(server.stop(SIGINT).code, 0);
}

TEST(Serve, outlives_the_reader_of_its_log_and_closes_its_folder) {
    ServeProcess server;
    {
        auto producer = Producer::open(ClientOptions{.connection = server.connection()}).value();
        ASSERT_TRUE(producer->send("kept").ok());
    }

    server.process().close_outputs();
    server.process().signal(SIGTERM);  // which it logs
    const Ended ended = server.process().wait();

    EXPECT_TRUE(ended.exited) << "by signal " << ended.code;
    EXPECT_EQ(ended.code, 0);
    EXPECT_FALSE(std::filesystem::exists(server.folder() + "/data/hubs/journal"));
}

TEST(Serve, writes_log_lines_that_are_json_and_have_no_secret) {
    ServeProcess server;
    EXPECT_EQ(server.ask("POST", "/api/v1/keys", R"({"name":"app","rights":["Send"]})").status,
              201);
    server.write_config("[nonsense]\n");
    server.reload();
    server.stop();

    EXPECT_GE(server.lines.size(), 5u);
    for (const auto& line : server.lines) {
        EXPECT_NE(member(line, "time"), "") << line;
        EXPECT_NE(member(line, "level"), "") << line;
        EXPECT_NE(member(line, "message"), "") << line;
        EXPECT_FALSE(has(line, root_key)) << line;
    }
}

TEST(Serve, refuses_a_folder_that_another_process_has) {
    ServeProcess first;

    const auto second = fault::run_to_end(first.command());

    EXPECT_EQ(second.exit_code, 6) << second.errors;
    EXPECT_TRUE(has(second.errors, std::to_string(first.process().id()))) << second.errors;
    EXPECT_EQ(http(first.http_port, "GET", "/health").status, 200);
}

// Somebody removes the lock file of a running server, or puts another one in its place.
class LockFile : public testing::TestWithParam<bool> {};

TEST_P(LockFile, of_a_running_server_may_go_and_no_event_is_lost) {
    ServeProcess first;
    const auto producer = Producer::open(first.connection());
    ASSERT_TRUE(producer.ok()) << producer.error().detail;
    const std::string path = first.folder() + "/data/lock";
    int acknowledged = 0;
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(::unlink(path.c_str()), 0);
        if (GetParam()) write_file(path, "1\n");

        const auto second = fault::run_to_end(first.command());

        EXPECT_EQ(second.exit_code, 6) << second.errors;
        EXPECT_TRUE(has(second.errors, "process " + std::to_string(first.process().id())))
            << second.errors;
        for (int i = 0; i < 10; ++i) acknowledged += (*producer)->send("x").ok() ? 1 : 0;
        EXPECT_EQ(read_text(path), std::to_string(first.process().id()) + "\n");
    }
    EXPECT_EQ(acknowledged, 30);
    first.stop(SIGKILL);
    first.start();
    std::int64_t stored = 0;
    const auto answer = boost::json::parse(first.ask("GET", "/api/v1/hubs/eh1/partitions").body);
    for (const auto& partition : answer.at("partitions").as_array()) {
        stored += partition.at("last_sequence_number").as_int64() + 1;
    }
    EXPECT_EQ(stored, 30);
}

INSTANTIATE_TEST_SUITE_P(Serve, LockFile, testing::Bool(), [](const auto& parameter) {
    return parameter.param ? "replaced" : "removed";
});

TEST(Serve, ends_with_2_and_names_each_line_of_a_bad_file) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.path() + "/f.toml";
    write_file(path, "data = 'd'\n[listen]\namqp = '0.0.0.0:0'\n[limts]\n");

    for (const auto& arguments : {std::vector<std::string>{}, {"--check"}}) {
        std::vector<std::string> command{test::evenkeel_program(), "serve", "--config", path};
        command.insert(command.end(), arguments.begin(), arguments.end());
        const auto outcome = fault::run_to_end(command);

        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, path + ":3: listen.amqp: ")) << outcome.errors;
        EXPECT_TRUE(
            has(outcome.errors, path + ":4: limts: is not a known key, did you mean limits?"))
            << outcome.errors;
    }
    write_file(path, "data = 'd'");
    EXPECT_EQ(fault::run_to_end({test::evenkeel_program(), "serve", "--config", path, "--check"})
                  .exit_code,
              0);
    EXPECT_TRUE(read_text(folder.path() + "/d/lock").starts_with("not_found"));
}

TEST(Serve, makes_a_first_rule_whose_keys_are_in_the_data_folder_only) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.path() + "/f.toml";
    write_file(path,
               "data = 'd'\n[listen]\namqp = '127.0.0.1:0'\nhttp = '127.0.0.1:0'\n"
               "[[hub]]\nname = 'eh1'\n");
    Process process({test::evenkeel_program(), "serve", "--config", path, "--log", "json",
                     "--ready-file", folder.path() + "/ready"});
    const std::string first = process.read_error_line();
    EXPECT_EQ(member(first, "rule"), "RootManageSharedAccessKey") << first;
    ASSERT_TRUE(has(process.read_error_line(), "accepts clients"));
    const std::string keys = read_text(folder.path() + "/d/keys");
    const std::string primary =
        member(boost::json::serialize(
                   boost::json::parse(keys.substr(keys.find('\n') + 1)).at("rules").at(0)),
               "primary");
    ASSERT_EQ(primary.size(), 44u);

    const std::string port = member(read_text(folder.path() + "/ready"), "amqp_port");
    const auto producer = Producer::open("Endpoint=sb://127.0.0.1:" + port +
                                         ";SharedAccessKeyName=RootManageSharedAccessKey;"
                                         "SharedAccessKey=" +
                                         primary + ";EntityPath=eh1;UseDevelopmentEmulator=true");

    ASSERT_TRUE(producer.ok()) << producer.error().detail;
    EXPECT_TRUE((*producer)->send("x").ok());
    process.signal(SIGTERM);
    EXPECT_FALSE(has(first + process.rest_of_errors(), primary));
    EXPECT_EQ(process.wait().code, 0);
}

// What a service manager hears.
class NotifySocket {
public:
    explicit NotifySocket(std::string path) : path_(std::move(path)) {
        descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const timeval limit{20, 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path_.data(), path_.size());
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ~NotifySocket() { ::close(descriptor_); }
    const std::string& path() const { return path_; }
    // The next that is not like `passed_over`.
    std::string next(std::string_view passed_over = "WATCHDOG=1") {
        while (true) {
            char buffer[1024];
            const auto got = ::recv(descriptor_, buffer, sizeof buffer, 0);
            const std::string text = got < 0 ? "nothing" : std::string(buffer, std::size_t(got));
            if (text != passed_over) return text;
        }
    }

private:
    const std::string path_;
    int descriptor_ = -1;
};

TEST(Serve, tells_the_service_manager_how_it_is) {
    const test::TemporaryDirectory folder;
    NotifySocket manager(folder.path() + "/notify");
    ServeProcess server({.variables = {"NOTIFY_SOCKET=" + manager.path(), "WATCHDOG_USEC=100000"}});

    EXPECT_TRUE(has(manager.next(), "READY=1\n"));
    EXPECT_EQ(manager.next(""), "WATCHDOG=1");
    EXPECT_EQ(manager.next(""), "WATCHDOG=1") << "again and again";
    server.reload();
    EXPECT_TRUE(has(manager.next(), "RELOADING=1\nMONOTONIC_USEC="));
    EXPECT_TRUE(has(manager.next(), "READY=1\nSTATUS=Accepts clients\n"));
    server.stop();
    EXPECT_TRUE(has(manager.next(), "STOPPING=1\n"));
}

}  // namespace
}  // namespace evenkeel::serve
