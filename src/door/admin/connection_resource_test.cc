#include "door/admin/connection_resource.h"

#include <boost/json.hpp>

#include "door/admin/admin_fixture.h"

namespace evenkeel::door {
namespace {

class ConnectionResourceTest : public AdminTest {
protected:
    ConnectionResourceTest() {
        EXPECT_TRUE(world_.create("homes", {.partitions = 2}));
        restart({.connections = [this](const ConnectionQuery& query) {
            asked_ = query;
            return page_;
        }});
    }
    http::Response get(const std::string& path, const std::string& query = {}) {
        return ask({.path = path, .token = token("root"), .query = query});
    }

    ConnectionQuery asked_;
    ConnectionPage page_;
};

TEST_F(ConnectionResourceTest, shows_who_is_connected_and_what_each_link_does) {
    ConnectionInfo connection{.id = 7,
                              .from = {"192.0.2.9", 40123},
                              .transport = Transport::tls,
                              .container = "agg-1",
                              .product = "evenkeel/0.2.0",
                              .who = "app",
                              .since = WallTime{1'767'225'600'000}};
    connection.links.push_back({.is_reader = true,
                                .hub = "homes",
                                .partition = PartitionId{1},
                                .group = "billing",
                                .epoch = Epoch{14},
                                .since = WallTime{1'767'225'601'000},
                                .events = 1200,
                                .credit = 300,
                                .per_second = 12.5});
    connection.links.push_back({.hub = "homes", .since = WallTime{1'767'225'601'000}});
    connection.link_count = 2;
    page_ = {.connections = {connection}, .total = 3, .next = 7};

    const auto response = get("/api/v1/connections");

    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body,
              R"({"total":3,"next":"7","connections":[{"id":"7","peer":"192.0.2.9:40123",)"
              R"("transport":"amqps","container":"agg-1","product":"evenkeel/0.2.0","rule":"app",)"
              R"("opened_at":"2026-01-01T00:00:00.000Z","link_count":2,"links":[)"
              R"({"role":"receiver","hub":"homes","partition":1,"group":"billing","epoch":14,)"
              R"("credit":300,"events":1200,"events_per_s":12.5,)"
              R"("attached_at":"2026-01-01T00:00:01.000Z"},)"
              R"({"role":"sender","hub":"homes","partition":null,"group":null,"epoch":null,)"
              R"("credit":0,"events":0,"events_per_s":0.0,)"
              R"("attached_at":"2026-01-01T00:00:01.000Z"}]}]})"
              "\n");
}

TEST_F(ConnectionResourceTest, asks_for_one_page_and_for_one_event_hub) {
    EXPECT_EQ(get("/api/v1/connections", "after=12&limit=5").status, 200);
    EXPECT_EQ(asked_.hub, "");
    EXPECT_EQ(asked_.after, 12u);
    EXPECT_EQ(asked_.limit, 5u);
    EXPECT_EQ(get("/api/v1/hubs/HOMES/connections").status, 200);
    EXPECT_EQ(asked_.hub, "homes");

    EXPECT_EQ(get("/api/v1/hubs/other/connections").status, 404);
    for (const std::string bad : {"limit=0", "limit=1001", "limit=x", "after=-1", "x=1"}) {
        EXPECT_EQ(get("/api/v1/connections", bad).status, 400) << bad;
    }
}

TEST_F(ConnectionResourceTest, writes_whatever_clients_call_themselves_as_json) {
    const std::string hostile("</script>\"\\\x01\xff\xe2\x80\xae", 17);
    page_.connections.push_back({.container = hostile, .product = hostile, .who = hostile});

    const auto response = get("/api/v1/connections");

    boost::json::error_code error;
    const auto parsed = boost::json::parse(response.body, error);
    ASSERT_FALSE(error) << response.body;
    EXPECT_EQ(response.body.find('\x01'), std::string::npos);
}

TEST_F(ConnectionResourceTest, lists_readers_with_their_epochs) {
    const auto found = world_.hub->find("homes");
    ASSERT_TRUE(found.ok());
    const auto plain = (*found)->attach("$Default", {0}, Position::earliest(), {}, {});
    const auto alone =
        (*found)->attach("$Default", {1}, Position::earliest(), {"agg-1", Epoch{9}}, {});
    ASSERT_TRUE(plain.ok());
    ASSERT_TRUE(alone.ok());

    EXPECT_EQ(get("/api/v1/hubs/homes/readers").body,
              R"({"readers":[{"partition":0,"group":"$default","name":null,"epoch":null,)"
              R"("next_sequence_number":0},{"partition":1,"group":"$default","name":"agg-1",)"
              R"("epoch":9,"next_sequence_number":0}]})"
              "\n");
    EXPECT_EQ(get("/api/v1/hubs/homes/readers", "p=0").body.find("agg-1"), std::string::npos);
    EXPECT_EQ(get("/api/v1/hubs/homes/readers", "p=2").status, 404);
    EXPECT_EQ(get("/api/v1/hubs/homes/readers", "p=x").status, 400);
    EXPECT_EQ(get("/api/v1/hubs/other/readers").status, 404);
}

}  // namespace
}  // namespace evenkeel::door
