// Keys made, rotated and removed while clients are connected.
#include <chrono>

#include "process/serve/serve_process.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

struct Keys {
    std::string primary;
    std::string secondary;
};

Keys create(ServeProcess& server, const std::string& rights) {
    const Answer made =
        server.ask("POST", "/api/v1/keys", R"({"name":"app","rights":[)" + rights + "]}");
    EXPECT_EQ(made.status, 201) << made.body;
    return {member(made.body, "primary_key"), member(made.body, "secondary_key")};
}

std::unique_ptr<Client> client_of(const std::string& connection) {
    // It shows its key once more when the link has gone, and is refused for good.
    return Client::open(
               ClientOptions{.connection = connection, .retry = {.retries_max = 1, .delay = 10ms}})
        .value();
}

// How long until the reader hears that it may not read any more.
std::chrono::milliseconds until_refused(Reader& reader) {
    const auto begun = SteadyClock::now();
    while (true) {
        const auto batch = reader.read(10, 10s);
        const auto took =
            std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begun);
        if (!batch.ok()) {
            EXPECT_EQ(batch.error().code, ErrorCode::not_allowed) << to_string(batch.error());
            return took;
        }
        if (took > 20s) return took;
    }
}

TEST(ServeKeys, close_an_open_link_when_they_are_rotated) {
    ServeProcess server;
    const Keys keys = create(server, R"("Listen")");
    auto first = client_of(server.connection("app", keys.primary));
    auto second = client_of(server.connection("app", keys.secondary));
    auto with_first = RemoteReader::open(*first, "$Default", 0, Position::earliest()).value();
    auto with_second = RemoteReader::open(*second, "$Default", 0, Position::earliest()).value();

    const Answer rotated = server.ask("POST", "/api/v1/keys/app/rotate", R"({"key":"primary"})");
    EXPECT_EQ(rotated.status, 200) << rotated.body;
    const auto took = until_refused(*with_first);

    EXPECT_LE(took, 5s);
    auto producer = Producer::open(server.connection()).value();
    ASSERT_TRUE(producer->send("x", {.partition = 0}).ok());
    const auto batch = with_second->read(1, 20s);
    ASSERT_TRUE(batch.ok()) << to_string(batch.error());
    EXPECT_EQ(batch->size(), 1u) << "the other key's link goes on";
    auto third = client_of(server.connection("app", member(rotated.body, "primary_key")));
    EXPECT_TRUE(RemoteReader::open(*third, "$Default", 0, Position::earliest()).ok());
}

TEST(ServeKeys, close_an_open_link_when_their_rule_is_removed) {
    ServeProcess server;
    auto client = client_of(server.connection("app", create(server, R"("Listen")").primary));
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();

    EXPECT_EQ(server.ask("DELETE", "/api/v1/keys/app").status, 204);

    EXPECT_LE(until_refused(*reader), 5s);
}

TEST(ServeKeys, hold_over_a_restart) {
    ServeProcess server;
    const Keys keys = create(server, R"("Send")");
    ASSERT_EQ(server.stop().code, 0);

    server.start();

    auto producer = Producer::open(server.connection("app", keys.secondary));
    ASSERT_TRUE(producer.ok()) << to_string(producer.error());
    EXPECT_TRUE((*producer)->send("x").ok());
    EXPECT_EQ(Producer::open(ClientOptions{.connection = server.connection("app", "d3Jvbmc="),
                                           .retry = {.retries_max = 0}})
                  .error()
                  .code,
              ErrorCode::not_allowed);
}

TEST(ServeKeys, are_asked_for_by_the_admin_interface) {
    ServeProcess server;
    for (const std::string path : {"/api/v1/hubs", "/api/v1/keys", "/api/v1/hubs/eh1"}) {
        EXPECT_EQ(http(server.http_port, "GET", path).status, 401) << path;
        EXPECT_EQ(http(server.http_port, "GET", path, "Bearer x").status, 401) << path;
        EXPECT_EQ(server.ask("GET", path).status, 200) << path;
    }
}

}  // namespace
}  // namespace evenkeel::serve
