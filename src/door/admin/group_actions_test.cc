#include "door/admin/group_actions.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "dashboard/groups_fixture.h"
#include "door/admin/admin_fixture.h"
#include "eventhubs/sections.h"
#include "io/file.h"
#include "io/system/files.h"
#include "processor/ownership/requests.h"
#include "support/paths.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

class GroupRoutes : public AdminTest {
protected:
    GroupRoutes() {
        EXPECT_TRUE(world_.create("homes", {.partitions = 2}).ok());
        EXPECT_TRUE(world_.create("other", {.partitions = 1}).ok());
        dashboard_.emplace(
            world_.node->loop, world_.node->disk_0, *world_.hub, stores_,
            dashboard::DashboardOptions{.groups = {.groups = {{"homes", "billing", "memory:"}}}});
        restart({.dashboard = &*dashboard_});
        group_.beat("ada");
        group_.own(0, "ada", 1);
        world_.run_for(6s);
        group_.beat("ada");
        world_.run_for(1s);
    }
    http::Response post(const std::string& path, const std::string& body,
                        const std::string& rule = "root") {
        return ask({.method = "POST", .path = base + path, .body = body, .token = token(rule)});
    }
    std::string record(const std::string& key) {
        std::optional<std::string> value;
        group_.store.list_records(
            key, [&](const auto& listed) { value = listed->empty() ? "" : listed->front().value; });
        world_.run_for(1ms);
        return *value;
    }
    void add_letter(std::string_view body) {
        std::string sections;
        eventhubs::append_data_section(body, sections);
        add_letter_of(sections);
    }
    void add_letter_of(std::string_view sections, const std::string& key = "") {
        const auto bytes = as_bytes(sections);
        group_.store.add_dead_letter({.partition = {0},
                                      .sequence = {5},
                                      .partition_key = key,
                                      .cause = "bad json",
                                      .sections = {bytes.begin(), bytes.end()}},
                                     [](const auto&) {});
        world_.run_for(1ms);
    }

    const std::string base = "/api/v1/hubs/homes/groups/billing";
    dashboard::SimStores stores_{world_.scheduler};
    dashboard::SimGroup group_{world_.scheduler, stores_, world_.hub->identity()};
    std::optional<dashboard::Dashboard> dashboard_;
};

TEST_F(GroupRoutes, pause_and_resume) {
    EXPECT_EQ(post("/requests", R"({"action":"pause","partitions":[1]})").status, 202);
    EXPECT_EQ(record(std::string(processor::pause_key)), "1");
    EXPECT_EQ(post("/requests", R"({"action":"resume"})").status, 202);
    EXPECT_EQ(record(std::string(processor::pause_key)), "");
}

TEST_F(GroupRoutes, drain_a_member_that_runs) {
    EXPECT_EQ(post("/requests", R"({"action":"drain","member":"ada"})").status, 202);
    EXPECT_EQ(record(processor::drain_key("ada-1")), "drain");
    EXPECT_EQ(post("/requests", R"({"action":"drain","member":"eve"})").status, 404);
}

TEST_F(GroupRoutes, look_at_once_into_a_store_that_failed) {
    stores_.away = Error{ErrorCode::unavailable, "connection refused"};
    dashboard::Dashboard late(
        world_.node->loop, world_.node->disk_0, *world_.hub, stores_,
        dashboard::DashboardOptions{.groups = {.groups = {{"homes", "billing", "memory:"}}}});
    restart({.dashboard = &late});
    const auto state = [&] {
        const auto seen = as_root("GET", base + "/processors");
        return std::string(boost::json::parse(seen.body).at("state").as_string());
    };
    world_.run_for(17s);  // the next look is 15 s away by now
    EXPECT_EQ(state(), "failed");
    stores_.away.reset();
    EXPECT_EQ(post("/requests", R"({"action":"look"})", "listener").status, 403);
    EXPECT_EQ(post("/requests", R"({"action":"look"})").status, 202);
    world_.run_for(500ms);
    EXPECT_EQ(state(), "ok");
    restart({.dashboard = &*dashboard_});
}

TEST_F(GroupRoutes, seek_after_a_preview) {
    ASSERT_TRUE(world_.append("homes", 0, {"a", "b", "c"}).ok());
    group_.handle(0, 2, 1);
    world_.run_for(2s);
    const auto preview =
        post("/requests", R"({"action":"seek","partitions":[0],"to":"oldest","preview":true})");
    EXPECT_EQ(preview.body,
              "{\"partitions\":[{\"p\":0,\"from\":2,\"to\":-1,\"repeats\":3,\"skips\":0}],"
              "\"repeats\":3,\"skips\":0}\n");
    const auto checkpoint = [&] {
        std::optional<std::int64_t> sequence;
        group_.store.list_checkpoints(
            [&](const auto& listed) { sequence = listed->front().sequence.value; });
        world_.run_for(1ms);
        return *sequence;
    };
    EXPECT_EQ(checkpoint(), 2) << "a preview changes nothing";
    EXPECT_EQ(post("/requests", R"({"action":"seek","partitions":[0],"to":"seq:1"})").status, 202);
    EXPECT_EQ(checkpoint(), 0);
}

TEST_F(GroupRoutes, seek_in_a_hub_that_was_created_again) {
    ASSERT_TRUE(world_.append("homes", 0, {"a", "b", "c"}).ok());
    group_.handle(0, 2, 1, 1234);  // of a hub that was removed
    world_.run_for(2s);
    EXPECT_EQ(post("/requests", R"({"action":"seek","partitions":[0],"to":"newest"})").status, 202);

    std::optional<std::int64_t> created;
    group_.store.list_checkpoints(
        [&](const auto& listed) { created = listed->front().hub_created_ms; });
    world_.run_for(1ms);

    const std::int64_t now = (*world_.hub->find("homes"))->record().created.milliseconds;
    EXPECT_EQ(created, now) << "or a processor would take the position for one of the old hub";
    EXPECT_NE(now, 1234);
}

TEST_F(GroupRoutes, refuse_requests_that_make_no_sense) {
    for (const char* bad :
         {"{}", R"({"action":"stop"})", R"({"action":"pause","partitions":[]})",
          R"({"action":"pause","partitions":["0"]})", R"({"action":"seek"})",
          R"({"action":"seek","to":"tomorrow"})", R"({"action":"seek","to":"offset:1"})",
          R"({"action":"pause","x":1})"}) {
        EXPECT_EQ(post("/requests", bad).status, 400) << bad;
    }
    EXPECT_EQ(post("/requests", R"({"action":"pause","partitions":[7]})").status, 404);
    EXPECT_EQ(post("/requests", R"({"action":"pause"})", "listener").status, 403);
    EXPECT_EQ(record(std::string(processor::pause_key)), "");
}

TEST_F(GroupRoutes, explain_a_partition_and_its_lag) {
    Ask wanted{.path = base + "/explain", .token = token("sender")};
    wanted.query = "p=0";
    const auto why = boost::json::parse(ask(wanted).body);
    EXPECT_EQ(why.at("owner").as_string(), "ada");
    EXPECT_GE(why.at("sentences").as_array().size(), 2U);
    wanted.query = "p=9";
    EXPECT_EQ(ask(wanted).status, 404);
    world_.run_for(61s);
    wanted.path = base + "/lag";
    wanted.query = "range=24h";
    const auto lag = boost::json::parse(ask(wanted).body);
    EXPECT_GE(lag.at("t").as_array().size(), 1U);
    EXPECT_EQ(lag.at("heat").at(0).as_array().size(), 2U);
    wanted.query = "range=1y";
    EXPECT_EQ(ask(wanted).status, 400);
}

TEST_F(GroupRoutes, tell_how_many_instances_are_wanted) {
    group_.own(1, "ada", 1);
    std::vector<std::string> events(250, "x");
    ASSERT_TRUE(world_.append("homes", 0, events).ok());
    group_.handle(0, 9, 1);
    group_.beat("ada");
    world_.run_for(2s);
    Ask wanted{.path = base + "/scale", .token = token("listener")};

    const auto answer = ask(wanted);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto json = boost::json::parse(answer.body);
    EXPECT_EQ(json.at("wanted").as_int64(), 2);
    EXPECT_EQ(json.at("instances").as_int64(), 1);
    EXPECT_EQ(json.at("unread").as_int64(), 240);
    EXPECT_EQ(json.at("state").as_string(), "known");

    wanted.query = "target=1000&min=1&max=1&standby=1";
    EXPECT_EQ(boost::json::parse(ask(wanted).body).at("wanted").as_int64(), 1);
    for (const char* bad : {"target=0", "target=-1", "target=x", "min=5&max=2", "max=1e9",
                            "target=99999999999", "window=5"}) {
        wanted.query = bad;
        EXPECT_EQ(ask(wanted).status, 400) << bad;
    }
    EXPECT_EQ(
        ask({.path = "/api/v1/hubs/other/groups/billing/scale", .token = token("root")}).status,
        404)
        << "it is not watched";
    EXPECT_EQ(ask({.path = base + "/scale"}).status, 401);
}

// What the example for KEDA asks for, and where it finds the number.
TEST_F(GroupRoutes, have_the_number_where_the_keda_manifest_looks) {
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, test::source_path("packaging/keda.yaml"), 1 << 16);
    ASSERT_TRUE(bytes.ok());
    const std::string manifest(as_text(*bytes));
    const auto value_of = [&](const std::string& name) {
        const auto begin = manifest.find(name + ": \"") + name.size() + 3;
        return manifest.substr(begin, manifest.find('"', begin) - begin);
    };
    std::string url = value_of("url");
    const auto path = url.find("/api/");
    ASSERT_NE(path, std::string::npos) << url;
    url = url.substr(path);
    const auto query = url.find('?');
    Ask wanted{.path = url.substr(0, query), .token = token("listener")};
    wanted.query = query == std::string::npos ? "" : url.substr(query + 1);
    for (const auto& [name, ours] :
         {std::pair("orders", "homes"), std::pair("billing", "billing")}) {
        const auto at = wanted.path.find(name);
        ASSERT_NE(at, std::string::npos) << wanted.path;
        wanted.path.replace(at, std::string(name).size(), ours);
    }

    const auto answer = ask(wanted);

    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto json = boost::json::parse(answer.body);
    EXPECT_TRUE(json.at(value_of("valueLocation")).is_int64()) << answer.body;
    EXPECT_EQ(value_of("targetValue"), "1") << "so that the wanted count is taken as it is";
}

TEST_F(GroupRoutes, answer_503_while_the_lag_is_not_known) {
    dashboard::SimStores away{world_.scheduler};
    away.away = Error{ErrorCode::unavailable, "no answer from redis://:secret@cache"};
    dashboard::Dashboard blind(
        world_.node->loop, world_.node->disk_0, *world_.hub, away,
        dashboard::DashboardOptions{.groups = {.groups = {{"homes", "billing", "memory:"}}}});
    restart({.dashboard = &blind});
    world_.run_for(6s);

    const auto answer = ask({.path = base + "/scale", .token = token("listener")});

    EXPECT_EQ(answer.status, 503) << answer.body;
    const auto json = boost::json::parse(answer.body);
    EXPECT_EQ(json.at("state").as_string(), "unknown");
    EXPECT_TRUE(json.at("wanted").is_null());
    EXPECT_EQ(answer.body.find("secret"), std::string::npos);
    restart({.dashboard = &*dashboard_});
}

TEST_F(GroupRoutes, show_and_discard_dead_letters) {
    add_letter("<b>");
    const auto list = ask({.path = base + "/dead-letters", .token = token("listener")});
    EXPECT_EQ(boost::json::parse(list.body).at("total").as_int64(), 1) << list.body;
    const auto one = ask({.path = base + "/dead-letters/0/5", .token = token("listener")});
    EXPECT_EQ(boost::json::parse(one.body).at("body").at("value").as_string(), "<b>");
    EXPECT_EQ(as_root("DELETE", base + "/dead-letters/0/5").status, 204);
    EXPECT_EQ(ask({.path = base + "/dead-letters/0/5", .token = token("listener")}).status, 404);
}

TEST_F(GroupRoutes, resend_a_dead_letter_where_the_token_may_send) {
    add_letter("a");
    EXPECT_EQ(ask({.method = "POST",
                   .path = base + "/dead-letters/0/5/resend",
                   .body = R"({"hub":"other"})",
                   .token = token("of homes", "sb://hub/homes")})
                  .status,
              403);
    const auto sent = post("/dead-letters/0/5/resend", R"({"body":"better"})");
    EXPECT_EQ(sent.body, "{\"partition\":0,\"sequence_number\":0}\n");
    EXPECT_EQ(world_.properties("homes", 0).last_sequence.value, 0);
    EXPECT_EQ(ask({.path = base + "/dead-letters/0/5", .token = token("listener")}).status, 404)
        << "it is no letter any more";
}

// In its own hub it stays in its partition, elsewhere its key chooses one.
TEST_F(GroupRoutes, resend_a_dead_letter_with_its_key) {
    std::string sections;
    eventhubs::append_data_section("a", sections);
    add_letter_of(sections, "home-48213");
    const auto elsewhere = post("/dead-letters/0/5/resend", R"({"hub":"other","remove":false})");
    EXPECT_EQ(elsewhere.status, 200) << elsewhere.body;
    const auto sent = post("/dead-letters/0/5/resend", "{}");
    EXPECT_EQ(sent.body, "{\"partition\":0,\"sequence_number\":0}\n");
    const auto stored = as_root("GET", "/api/v1/hubs/homes/partitions/0/events/0");
    EXPECT_EQ(boost::json::parse(stored.body).at("partition_key").as_string(), "home-48213");
}

TEST_F(GroupRoutes, count_for_quotas_when_they_resend) {
    const Quotas quotas({}, {{"", "other", {.events_per_second = 1}}},
                        world_.node->loop.clock().now());
    Activity activity(world_.registry, world_.node->loop.clock());
    restart({.activity = &activity, .dashboard = &*dashboard_, .quotas = &quotas});
    add_letter("a");
    const std::string keep = R"({"hub":"other","remove":false})";
    EXPECT_EQ(post("/dead-letters/0/5/resend", keep).status, 200);
    EXPECT_EQ(post("/dead-letters/0/5/resend", keep).status, 429);
    EXPECT_EQ(world_.properties("other", 0).last_sequence.value, 0);
    EXPECT_EQ(activity.hub("other")->events_in, 1U);
    restart({.dashboard = &*dashboard_});
}

// Somebody else may have written it, or the store is damaged.
TEST_F(GroupRoutes, store_no_malformed_letter_again) {
    using namespace std::string_literals;
    std::string body;
    eventhubs::append_data_section("a", body);
    for (const std::string& bad :
         {"\0\x53\x74\xc1\x03\x03\x40\x40"s + body,              // a map with an odd count
          "\0\x53\x74\xc1\x06\x02\xa1\x01\xff\x54\x01"s + body,  // a name that is no UTF-8
          body + "\0\x53\x78"s,                                  // cut
          "not AMQP"s, ""s}) {
        add_letter_of(bad);
        const auto answer = post("/dead-letters/0/5/resend", "{}");
        EXPECT_EQ(answer.status, 500) << answer.body;
        EXPECT_NE(answer.body.find("\"corrupt\""), std::string::npos) << answer.body;
        EXPECT_EQ(as_root("DELETE", base + "/dead-letters/0/5").status, 204) << "it is still there";
    }
    EXPECT_TRUE(world_.properties("homes", 0).is_empty);
}

}  // namespace
}  // namespace evenkeel::door
