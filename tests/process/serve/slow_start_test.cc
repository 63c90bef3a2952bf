#include <chrono>

#include <unistd.h>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "process/serve/serve_process.h"
#include "support/paths.h"
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

using namespace std::chrono_literals;

int port_in(const std::string& line, std::string_view name) {
    const std::string before = std::string(name) + "127.0.0.1:";
    const std::size_t at = line.find(before);
    EXPECT_NE(at, std::string::npos) << line;
    return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + before.size());
}

TEST(ServeSlowStart, takes_clients_at_once_and_says_how_far_it_is) {
    const test::TemporaryDirectory folder;
    const std::string gate = folder.path() + "/hold";
    ServeProcess server(
        {.variables = {"LD_PRELOAD=" + test::built_path("tests/process/serve/libheld_reads.so"),
                       "ASAN_OPTIONS=verify_asan_link_order=0", "EVENKEEL_HOLD_READS=" + gate}});
    const auto send = [&](std::uint32_t retries) -> Result<> {
        const auto producer = Producer::open(ClientOptions{
            .connection = server.connection(),
            .retry = {.retries_max = retries, .delay_max = 200ms, .try_timeout = 10s}});
        if (!producer.ok()) return producer.error();
        return (*producer)->send("x", {.partition = 0});
    };
    ASSERT_TRUE(send(3).ok());
    server.stop(SIGKILL);
    write_file(gate, "");

    server.launch();
    const std::string line = server.wait_for_line("while it recovers its partitions");
    server.amqp_port = port_in(line, "amqp://");
    server.http_port = port_in(line, "http://");

    const Answer recovering = server.ask("GET", "/health");
    EXPECT_EQ(recovering.status, 503);
    EXPECT_EQ(member(recovering.body, "status"), "recovering");
    EXPECT_TRUE(has(recovering.body, "of 2 partitions are recovered")) << recovering.body;
    const auto refused = send(0);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::overloaded);
    EXPECT_TRUE(has(refused.error().detail, "is being recovered")) << refused.error().detail;

    ASSERT_EQ(::unlink(gate.c_str()), 0);
    EXPECT_NE(server.wait_for_line("the hub accepts clients"), "");
    EXPECT_EQ(server.ask("GET", "/health").status, 200);
    EXPECT_TRUE(send(3).ok());
    const auto answer = boost::json::parse(server.ask("GET", "/api/v1/hubs/eh1/partitions").body);
    EXPECT_EQ(answer.at("partitions").as_array().at(0).at("last_sequence_number").as_int64(), 1);
}

}  // namespace
}  // namespace evenkeel::serve
