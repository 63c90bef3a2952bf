// `evenkeel dev` in the place of the official emulator.
#include "process/serve/serve_process.h"
#include "support/paths.h"
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

// The emulator's own sample, word for word in its shape.
const std::string emulator_config = R"({
  "UserConfig": {
    "NamespaceConfig": [
      {
        "Type": "EventHub",
        "Name": "emulatorNs1",
        "Entities": [
          {"Name": "orders", "PartitionCount": "3", "ConsumerGroups": [{"Name": "billing"}]}
        ]
      }
    ],
    "LoggingConfig": {"Type": "File"}
  }
})";

class Dev {
public:
    explicit Dev(const std::vector<std::string>& more) {
        std::vector<std::string> command{test::evenkeel_program(),
                                         "dev",
                                         "--ephemeral",
                                         "--port",
                                         "0",
                                         "--http-port",
                                         "0",
                                         "--ready-file",
                                         folder_.path() + "/ready"};
        command.insert(command.end(), more.begin(), more.end());
        process_ = std::make_unique<Process>(command);
        // The ports are in the file before anything is said.
        char next = 0;
        while (!has(output, "Ctrl-C stops.") && process_->read_output(&next, 1)) output += next;
        ports = read_text(folder_.path() + "/ready");
    }
    int port(std::string_view name) const { return std::atoi(member(ports, name).c_str()); }

    std::string output;
    std::string ports;

private:
    const test::TemporaryDirectory folder_;
    std::unique_ptr<Process> process_;
};

std::string beside(const test::TemporaryDirectory& folder) {
    const std::string path = folder.path() + "/Config.json";
    write_file(path, emulator_config);
    return path;
}

TEST(Dev, takes_the_emulators_file_and_answers_its_health_address) {
    const test::TemporaryDirectory folder;
    Dev dev({"--config", beside(folder), "--health-port", "0"});

    const Answer health = http(dev.port("health_port"), "GET", "/health");
    EXPECT_EQ(health.status, 200);
    EXPECT_EQ(member(health.body, "status"), "healthy");
    EXPECT_EQ(member(health.body, "message"), "Service is healthy.");
    EXPECT_TRUE(has(dev.output, "orders (3 partitions)")) << dev.output;
    EXPECT_TRUE(has(dev.output, "billing")) << dev.output;
    EXPECT_FALSE(has(dev.output, "eh1")) << "only what the file has";
}

TEST(Dev, takes_the_emulators_connection_string) {
    Dev dev({"--hub", "orders:2"});

    auto producer = Producer::open(
        "Endpoint=sb://localhost:" + std::to_string(dev.port("amqp_port")) +
        ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
        "UseDevelopmentEmulator=true;EntityPath=orders");

    ASSERT_TRUE(producer.ok()) << to_string(producer.error());
    EXPECT_TRUE((*producer)->send("x").ok());
}

TEST(Dev, wants_no_token_for_its_admin_interface_from_this_machine) {
    Dev dev({});
    const int port = dev.port("http_port");

    EXPECT_EQ(http(port, "GET", "/api/v1/hubs").status, 200);
    EXPECT_EQ(http(port, "POST", "/api/v1/keys", "", R"({"name":"app","rights":["Send"]})").status,
              201);
    EXPECT_EQ(http(port, "GET", "/api/v1/hubs", "Bearer x").status, 401);
    EXPECT_FALSE(has(dev.output, "WARNING")) << dev.output;
}

TEST(Dev, refuses_pages_of_other_sites_on_every_route_and_upgrade) {
    Dev dev({"--host-name", "emulator"});
    const int port = dev.port("http_port");
    const std::string token =
        eventhubs::make_sas("sb://emulator/", "RootManageSharedAccessKey", Secret("SAS_KEY_VALUE"),
                            SystemClock().wall() + std::chrono::hours(1));
    const std::string rest = "Connection: close\r\nAuthorization: " + token + "\r\n";
    const std::string upgrade =
        "GET /$servicebus/websocket HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: AMQPWSB10\r\nHost: localhost:" +
        std::to_string(port) + "\r\n";

    const std::string live = "/api/v1/live?topics=overview";
    for (const std::string path : {"/health", "/metrics", "/api/v1/hubs", "/api/v1/overview",
                                   "/ui/", "/nothing", live.c_str()}) {
        const std::string get = "GET " + path + " HTTP/1.1\r\n";
        EXPECT_EQ(raw_http(port, get + "Host: evil.example\r\n" + rest + "\r\n").status, 421)
            << path;
        if (path == live) continue;  // an answer that does not end
        const int known = raw_http(port, get + "Host: emulator\r\n" + rest + "\r\n").status;
        EXPECT_EQ(known, path == "/nothing" ? 404 : 200) << path;
    }
    for (const std::string change : {"DELETE /api/v1/hubs/eh1", "POST /api/v1/hubs/eh1/events",
                                     "POST /api/v1/hubs/eh1/groups/$Default/requests"}) {
        EXPECT_EQ(raw_http(port, change +
                                     " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                                     "Origin: http://evil.example\r\n" +
                                     rest + "\r\n")
                      .status,
                  403)
            << change;
    }
    EXPECT_EQ(http(port, "GET", "/api/v1/hubs/eh1").status, 200);
    EXPECT_EQ(
        raw_http(port, upgrade + "Origin: http://evil.example\r\nConnection: close\r\n\r\n").status,
        403);
    // Then a frame that closes, so that the server ends.
    EXPECT_EQ(raw_http(port, upgrade + "\r\n" + std::string("\x88\x80\0\0\0\0", 6)).status, 101);
}

TEST(Dev, says_loudly_that_it_takes_any_token) {
    Dev dev({"--accept-any-token"});

    EXPECT_TRUE(has(dev.output, "WARNING  JWTs are NOT checked")) << dev.output;
    EXPECT_EQ(http(dev.port("http_port"), "GET", "/api/v1/hubs", "Bearer x").status, 200);
}

TEST(Dev, names_the_place_of_what_is_wrong_in_the_emulators_file) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.path() + "/Config.json";
    write_file(path, R"({"UserConfig":{"NamespaceConfig":[{"Type":"EventHub","Name":"emulatorNs1",)"
                     R"("Entities":[{"Name":"a","PartitionCount":0}]}]}})");

    const auto outcome =
        fault::run_to_end({test::evenkeel_program(), "dev", "--ephemeral", "--config", path});

    EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, path)) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "Entities[0].PartitionCount")) << outcome.errors;
    EXPECT_EQ(
        fault::run_to_end({test::evenkeel_program(), "dev", "--ephemeral", "--config", "/none"})
            .exit_code,
        3);
}

}  // namespace
}  // namespace evenkeel::serve
