#include "door/admin/dashboard_resource.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "dashboard/groups_fixture.h"
#include "door/admin/admin_fixture.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

class DashboardRoutes : public AdminTest {
protected:
    DashboardRoutes() {
        EXPECT_TRUE(world_.create("homes", {.partitions = 2}).ok());
        EXPECT_TRUE(world_.create("other", {.partitions = 1}).ok());
        dashboard_.emplace(world_.node->loop, world_.node->disk_0, *world_.hub, stores_,
                           dashboard::DashboardOptions{
                               .groups = {.groups = {{"homes", "billing", "redis://:s3cret@db"},
                                                     {"other", "billing", "memory:"}}},
                               .mode = "dev",
                               .amqp_port = 5673});
        restart({.trust_this_host = true, .dashboard = &*dashboard_});
        world_.run_for(100ms);
    }
    json::value body(const std::string& path, const std::string& with) {
        const auto response = ask({.path = path, .token = with});
        EXPECT_EQ(response.status, 200) << response.body;
        return json::parse(response.body);
    }

    dashboard::SimStores stores_{world_.scheduler};
    std::optional<dashboard::Dashboard> dashboard_;
};

TEST_F(DashboardRoutes, say_who_asks_and_what_they_may) {
    const auto seen = body("/api/v1/server", token("listener"));
    EXPECT_EQ(seen.at("mode").as_string(), "dev");
    EXPECT_EQ(seen.at("access").at("rule").as_string(), "listener");
    EXPECT_EQ(json::serialize(seen.at("access").at("rights")), "[\"Listen\"]");
    EXPECT_FALSE(seen.at("access").at("open").as_bool());
    EXPECT_EQ(seen.at("amqp_port").as_int64(), 5673);
    EXPECT_TRUE(seen.at("amqps_port").is_null());
    const auto here = ask({.path = "/api/v1/server", .peer = "127.0.0.1", .host = "localhost:80"});
    EXPECT_TRUE(json::parse(here.body).at("access").at("open").as_bool());
}

TEST_F(DashboardRoutes, say_to_which_hub_a_token_is_limited) {
    const auto hub_of = [&](const std::string& with) {
        return body("/api/v1/server", with).at("access").at("hub");
    };
    EXPECT_TRUE(hub_of(token("root")).is_null());
    EXPECT_EQ(hub_of(token("of homes", "sb://hub/homes")).as_string(), "homes");
    EXPECT_EQ(hub_of(token("root", "sb://hub/homes")).as_string(), "homes");
    EXPECT_EQ(hub_of(token("root", "sb://hub/homes/consumergroups/g1")).as_string(), "homes");
}

// Right, reach and topic: nobody gets the feed of a group whose hub the token does not reach.
TEST_F(DashboardRoutes, feed_only_the_groups_that_the_token_reaches) {
    const auto status = [&](const std::string& with, const std::string& topics) {
        return ask({.path = "/api/v1/live", .token = with, .query = "topics=" + topics}).status;
    };
    for (const auto& of_homes :
         {token("of homes", "sb://hub/homes"), token("root", "sb://hub/homes"),
          token("listener", "sb://hub/homes"), token("sender", "sb://hub/homes")}) {
        EXPECT_EQ(status(of_homes, "group:homes/billing"), 200);
        EXPECT_EQ(status(of_homes, "overview,group:HOMES/billing"), 200);
        EXPECT_EQ(status(of_homes, "group:other/billing"), 403);
        EXPECT_EQ(status(of_homes, "group:OTHER/billing"), 403);
        EXPECT_EQ(status(of_homes, "group:%6fther/billing"), 403);
        EXPECT_EQ(status(of_homes, "overview,group:homes/billing,group:other/billing"), 403);
    }
    EXPECT_EQ(status(token("root"), "group:homes/billing,group:other/billing"), 200);
    EXPECT_EQ(status(token("nothing"), "group:homes/billing"), 403);
    EXPECT_EQ(status("", "overview"), 401);
}

TEST_F(DashboardRoutes, have_no_demo_on_a_server_that_runs_none) {
    EXPECT_TRUE(body("/api/v1/server", token("root")).at("demo").is_null());
    const auto asked = ask({.method = "POST",
                            .path = "/api/v1/demo",
                            .body = R"({"action":"kill"})",
                            .token = token("root")});
    EXPECT_EQ(asked.status, 404) << asked.body;
}

TEST_F(DashboardRoutes, pass_the_buttons_of_a_demo_on) {
    std::vector<std::string> wanted;
    dashboard::DashboardOptions options{.mode = "dev"};
    options.demo.actions = {{"kill", "Kill -9 one"}};
    options.demo.ask = [&](const std::string& id) -> Result<> {
        if (id == "stop") return Error{ErrorCode::conflict, "one must stay"};
        if (id != "kill") return Error{ErrorCode::invalid_argument, "no such action"};
        wanted.push_back(id);
        return {};
    };
    dashboard::Dashboard demo(world_.node->loop, world_.node->disk_0, *world_.hub, stores_,
                              std::move(options));
    restart({.trust_this_host = true, .dashboard = &demo});
    const auto press = [&](const std::string& body, const std::string& rule = "root") {
        return ask({.method = "POST", .path = "/api/v1/demo", .body = body, .token = token(rule)});
    };

    EXPECT_EQ(json::serialize(body("/api/v1/server", token("root")).at("demo")),
              R"({"actions":[{"id":"kill","label":"Kill -9 one"}]})");
    EXPECT_EQ(press(R"({"action":"kill"})").status, 202);
    EXPECT_EQ(press(R"({"action":"stop"})").status, 409);
    for (const char* wrong : {R"({"action":"rm -rf /"})", "{}", "[]", R"({"action":1})",
                              R"({"action":"kill","more":1})", ""}) {
        EXPECT_EQ(press(wrong).status, 400) << wrong;
    }
    EXPECT_EQ(press(R"({"action":"kill"})", "listener").status, 403);
    EXPECT_EQ(wanted, std::vector<std::string>{"kill"});
    restart({.trust_this_host = true, .dashboard = &*dashboard_});
}

TEST_F(DashboardRoutes, show_groups_without_the_passwords_of_their_stores) {
    stores_.away = Error{ErrorCode::unavailable, "cannot reach redis://:s3cret@db"};
    world_.run_for(5s);
    const auto response = ask({.path = "/api/v1/groups", .token = token("root")});
    EXPECT_EQ(response.body.find("s3cret"), std::string::npos) << response.body;
    const auto groups = json::parse(response.body).at("groups").as_array();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].at("store").as_string(), "redis://:***@db");
    EXPECT_EQ(json::serialize(groups[0].at("strip")), "[-1,-1]");
}

TEST_F(DashboardRoutes, show_only_what_the_token_reaches) {
    const std::string of_homes = token("of homes", "sb://hub/homes");
    EXPECT_EQ(body("/api/v1/groups", of_homes).at("groups").as_array().size(), 1U);
    EXPECT_EQ(body("/api/v1/overview", of_homes).at("hubs").as_array().size(), 1U);
    EXPECT_EQ(body("/api/v1/overview", token("root")).at("hubs").as_array().size(), 2U);
    EXPECT_EQ(
        ask({.path = "/api/v1/hubs/other/groups/billing/processors", .token = of_homes}).status,
        403);
}

TEST_F(DashboardRoutes, show_the_processors_of_a_group) {
    dashboard::SimGroup group{world_.scheduler, stores_, world_.hub->identity()};
    group.beat("<script>\xff");
    group.own(1, "<script>\xff", 2);
    world_.run_for(3s);
    const auto seen = body("/api/v1/hubs/homes/groups/billing/processors", token("sender"));
    EXPECT_EQ(seen.at("members").at(0).at("id").as_string(), "<script>\xef\xbf\xbd");
    EXPECT_EQ(seen.at("partitions").at(1).at("phase").as_string(), "owned");
    EXPECT_TRUE(seen.at("partitions").at(1).at("checkpoint").is_null());
    EXPECT_EQ(seen.at("partitions").at(1).at("end").as_int64(), -1);
}

TEST_F(DashboardRoutes, name_the_partition_that_is_furthest_behind) {
    dashboard::SimGroup group{world_.scheduler, stores_, world_.hub->identity()};
    group.beat("ada");
    world_.run_for(3s);
    const auto furthest = [&] {
        return body("/api/v1/groups", token("of homes", "sb://hub/homes"))
            .at("groups")
            .at(0)
            .at("furthest");
    };
    ASSERT_TRUE(world_.append("homes", 1, {"a", "b"}).ok());
    EXPECT_TRUE(furthest().is_null()) << "without a checkpoint it is not known";
    group.handle(1, 0, 1);
    world_.run_for(3s);
    EXPECT_EQ(furthest().as_int64(), 1);
}

TEST_F(DashboardRoutes, say_how_a_group_comes_to_be_watched) {
    const auto response =
        ask({.path = "/api/v1/hubs/homes/groups/none/processors", .token = token("root")});
    EXPECT_EQ(response.status, 404);
    EXPECT_NE(response.body.find("--watch-store"), std::string::npos);
}

TEST_F(DashboardRoutes, leave_the_page_open_to_everybody) {
    EXPECT_EQ(ask({.path = "/"}).status, 302);
    EXPECT_EQ(ask({.path = "/ui/hubs/homes"}).status, 200);
    EXPECT_EQ(ask({.method = "DELETE", .path = "/ui/"}).status, 405);
}

}  // namespace
}  // namespace evenkeel::door
