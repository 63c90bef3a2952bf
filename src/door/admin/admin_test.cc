#include "door/admin/admin.h"

#include "door/admin/admin_fixture.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

TEST_F(AdminTest, refuses_every_route_without_login_and_with_a_bad_one) {
    ASSERT_TRUE(world_.create("homes"));
    int open = 0;
    for (const auto& route : Admin::routes()) {
        SCOPED_TRACE(std::string(route.method) + " " + std::string(route.path));
        Ask wanted{.method = std::string(route.method), .path = filled(route.path)};
        if (route.access == Access::open) {
            ++open;
            EXPECT_EQ(ask(wanted).status, 200);
            continue;
        }
        const auto response = ask(wanted);
        EXPECT_EQ(response.status, 401);
        EXPECT_NE(response.body.find("\"code\":\"unauthorized\""), std::string::npos);

        const Secret wrong_key("another key");
        const auto later = world_.node->loop.clock().wall() + 1h;
        for (const std::string& bad :
             {std::string("x"), std::string("Bearer x"), std::string("SharedAccessSignature"),
              make_sas("sb://hub/", "root", wrong_key, later), token("root", "sb://hub/", -1s),
              token("stranger"), token("root", "sb://elsewhere/")}) {
            wanted.token = bad;
            EXPECT_EQ(ask(wanted).status, 401) << bad;
        }
    }
    EXPECT_EQ(open, 1) << "only /health";
    EXPECT_EQ(world_.names(), std::vector<std::string>{"homes"});
}

TEST_F(AdminTest, refuses_every_route_for_another_hub) {
    ASSERT_TRUE(world_.create("homes"));
    const std::string identity = world_.hub->identity();
    for (const auto& route : Admin::routes()) {
        SCOPED_TRACE(std::string(route.method) + " " + std::string(route.path));
        Ask wanted{.method = std::string(route.method), .path = filled(route.path)};
        wanted.token = token("root");
        wanted.fields.push_back({Admin::hub_field, "0123456789abcdef0123456789abcdef"});

        const auto response = ask(wanted);

        EXPECT_EQ(response.status, 409);
        EXPECT_NE(response.body.find("another hub"), std::string::npos) << response.body;
    }
    EXPECT_EQ(world_.names(), std::vector<std::string>{"homes"});
    Ask right{.method = "DELETE", .path = "/api/v1/hubs/homes", .token = token("root")};
    right.fields.push_back({Admin::hub_field, identity});
    EXPECT_EQ(ask(right).status, 204);
    EXPECT_NE(ask({.path = "/health"}).body.find("\"identity\":\"" + identity + "\""),
              std::string::npos);
}

TEST_F(AdminTest, refuses_every_route_with_the_wrong_right) {
    ASSERT_TRUE(world_.create("homes"));
    ASSERT_TRUE(world_.create("other"));
    for (const auto& route : Admin::routes()) {
        if (route.access == Access::open) continue;
        SCOPED_TRACE(std::string(route.method) + " " + std::string(route.path));
        Ask wanted{.method = std::string(route.method), .path = filled(route.path)};
        const bool reads = route.access == Access::read || route.access == Access::metrics;

        wanted.token = token("nothing");
        EXPECT_EQ(ask(wanted).status, 403);
        for (const std::string rule : {"sender", "listener"}) {
            wanted.token = token(rule);
            const int status = ask(wanted).status;
            const bool may = reads || (rule == "sender" && route.access == Access::send) ||
                             (rule == "listener" && route.access == Access::listen);
            if (may) {
                EXPECT_TRUE(status == 200 || status == 400 || status == 404 || status == 501)
                    << rule << " " << status;
            } else {
                EXPECT_EQ(status, 403) << rule;
            }
        }
        if (route.path.find("{hub}") == std::string_view::npos && reads) continue;
        for (const std::string elsewhere : {"sb://hub/other", "sb://hub/home"}) {
            wanted.token = token("root", elsewhere);
            EXPECT_EQ(ask(wanted).status, 403) << elsewhere;
        }
    }
    EXPECT_EQ(world_.names(), (std::vector<std::string>{"homes", "other"}));
}

TEST_F(AdminTest, lets_a_rule_of_one_event_hub_see_and_change_only_that) {
    ASSERT_TRUE(world_.create("homes"));
    ASSERT_TRUE(world_.create("other"));
    Ask wanted{.path = "/api/v1/hubs", .token = token("of homes", "sb://hub/homes")};

    const auto list = ask(wanted);
    EXPECT_NE(list.body.find("\"homes\""), std::string::npos);
    EXPECT_EQ(list.body.find("\"other\""), std::string::npos);
    wanted.path = "/api/v1/hubs/HOMES";
    EXPECT_EQ(ask(wanted).status, 200);
    wanted.path = "/api/v1/hubs/other";
    EXPECT_EQ(ask(wanted).status, 403);
    wanted = {.method = "POST",
              .path = "/api/v1/hubs",
              .body = R"({"name":"mine"})",
              .token = wanted.token};
    EXPECT_EQ(ask(wanted).status, 403);
}

TEST_F(AdminTest, creates_shows_changes_and_removes_an_event_hub) {
    const auto created =
        as_root("POST", "/api/v1/hubs",
                R"({"name":"Homes","partitions":2,"retention_ms":0,"partition_bytes_max":1000})");
    EXPECT_EQ(created.status, 201) << created.body;
    EXPECT_EQ(created.body,
              "{\"name\":\"Homes\",\"partitions\":2,\"retention_ms\":0,"
              "\"partition_bytes_max\":1000,\"created_at\":\"2026-01-01T00:00:00.000Z\","
              "\"groups\":[\"$Default\"]}\n");
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/homes").body, created.body);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs").body,
              "{\"hubs\":[" + created.body.substr(0, created.body.size() - 1) + "]}\n");

    const auto altered =
        as_root("PATCH", "/api/v1/hubs/homes", R"({"partitions":3,"retention_ms":3600000})");
    EXPECT_EQ(altered.status, 200) << altered.body;
    EXPECT_NE(altered.body.find("\"partitions\":3,\"retention_ms\":3600000"), std::string::npos);

    EXPECT_EQ(as_root("DELETE", "/api/v1/hubs/homes").status, 204);
    const auto gone = as_root("GET", "/api/v1/hubs/homes");
    EXPECT_EQ(gone.status, 404);
    EXPECT_TRUE(gone.body.starts_with("{\"error\":{\"code\":\"not_found\",\"message\":\""));
}

TEST_F(AdminTest, decodes_names_with_slashes) {
    EXPECT_EQ(as_root("POST", "/api/v1/hubs", R"({"name":"a/b"})").status, 201);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/a%2Fb").status, 200);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/a%2fb/partitions").status, 200);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/a/b").status, 404);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/a%2").status, 400);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/a%252Fb").status, 404);
    EXPECT_EQ(as_root("DELETE", "/api/v1/hubs/").status, 404);
}

TEST_F(AdminTest, creates_lists_and_removes_groups) {
    ASSERT_TRUE(world_.create("homes"));
    EXPECT_EQ(as_root("POST", "/api/v1/hubs/homes/groups", R"({"name":"g1"})").status, 201);
    EXPECT_EQ(as_root("POST", "/api/v1/hubs/homes/groups", R"({"name":"g1"})").status, 409);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/homes/groups").body,
              "{\"groups\":[{\"name\":\"$Default\"},{\"name\":\"g1\"}]}\n");
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/homes/groups/G1").body, "{\"name\":\"g1\"}\n");
    EXPECT_EQ(as_root("DELETE", "/api/v1/hubs/homes/groups/g1").status, 204);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/homes/groups/g1").status, 404);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/none/groups").status, 404);
}

TEST_F(AdminTest, shows_partitions_and_purges_them) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 2}));
    ASSERT_TRUE(world_.append("homes", 1, {"a", "b", "c"}));
    const auto reader = world_.attach("homes", 1);
    ASSERT_TRUE(reader);

    const auto before = as_root("GET", "/api/v1/hubs/homes/partitions").body;
    EXPECT_NE(before.find("{\"partition\":0,\"begin_sequence_number\":-1,"
                          "\"last_sequence_number\":-1,\"last_offset\":-1,"
                          "\"last_enqueued_at\":null,\"is_empty\":true"),
              std::string::npos)
        << before;
    EXPECT_NE(before.find("{\"partition\":1,\"begin_sequence_number\":0,"
                          "\"last_sequence_number\":2"),
              std::string::npos)
        << before;
    EXPECT_NE(before.find("\"readers\":1"), std::string::npos) << before;

    const std::string purge = "/api/v1/hubs/homes/purge";
    EXPECT_EQ(as_root("POST", purge, R"({"partition":1,"before_sequence_number":2})").status, 204);
    EXPECT_EQ(world_.properties("homes", 1).begin_sequence.value, 2);
    EXPECT_EQ(as_root("POST", purge, "{}").status, 204);
    EXPECT_TRUE(world_.properties("homes", 1).is_empty);
    EXPECT_EQ(world_.properties("homes", 1).last_sequence.value, 2);
    EXPECT_EQ(as_root("POST", purge, R"({"partition":7})").status, 404);
    EXPECT_EQ(as_root("POST", purge, R"({"partition":-1})").status, 400);
}

TEST_F(AdminTest, names_what_is_wrong_with_a_body) {
    ASSERT_TRUE(world_.create("homes"));
    for (const std::string body :
         {"", "{", "[]", "1", "{}", R"({"name":1})", R"({"name":"x","partitions":"4"})",
          R"({"name":"x","partitions":-1})", R"({"name":"x","partitions":1.5})",
          R"({"name":"x","partitions":0})", R"({"name":"x","retention":1})",
          R"({"name":"x","retention_ms":99999999999999999})", R"({"name":"../x"})",
          R"({"name":"x","partitions":18446744073709551615})"}) {
        const auto response = as_root("POST", "/api/v1/hubs", body);
        EXPECT_EQ(response.status, 400) << body << ": " << response.body;
    }
    const std::string deep = std::string(100'000, '[');
    EXPECT_EQ(as_root("POST", "/api/v1/hubs", deep).status, 400);
    EXPECT_EQ(as_root("POST", "/api/v1/hubs", R"({"name":"homes"})").status, 409);
    EXPECT_EQ(as_root("PATCH", "/api/v1/hubs/homes", R"({"partitions":1})").status, 400);
}

TEST_F(AdminTest, refuses_changes_from_pages_of_other_sites) {
    Ask wanted{.method = "POST",
               .path = "/api/v1/hubs",
               .body = R"({"name":"x"})",
               .token = token("root")};
    const http::Field content{"Content-Type", "application/json; charset=utf-8"};
    for (const http::Field& field :
         {http::Field{"Origin", "https://evil.example"}, http::Field{"Origin", "null"},
          http::Field{"Origin", "http://hub:5301"}, http::Field{"Sec-Fetch-Site", "cross-site"}}) {
        wanted.fields = {content, field};
        EXPECT_EQ(ask(wanted).status, 403) << field.value;
    }
    for (const std::string type : {"text/plain", "application/x-www-form-urlencoded", ""}) {
        wanted.fields = {{"Content-Type", type}};
        EXPECT_EQ(ask(wanted).status, 415) << type;
    }
    EXPECT_TRUE(world_.names().empty());
    wanted.fields = {content, {"Origin", "http://hub:5300"}, {"Sec-Fetch-Site", "same-origin"}};
    EXPECT_EQ(ask(wanted).status, 201);
    EXPECT_EQ(ask({.method = "DELETE",
                   .path = "/api/v1/hubs/x",
                   .token = token("root"),
                   .fields = {{"Origin", "https://evil.example"}}})
                  .status,
              403);
}

TEST_F(AdminTest, says_how_it_is_as_the_emulator_does) {
    const auto well = ask({.path = "/health"});
    EXPECT_EQ(well.status, 200);
    EXPECT_TRUE(well.body.starts_with("{\"status\":\"healthy\",")) << well.body;

    admin_->set_problem("the disk is full");
    const auto unwell = ask({.path = "/health"});
    EXPECT_EQ(unwell.status, 503);
    EXPECT_EQ(unwell.body,
              "{\"status\":\"unhealthy\",\"message\":\"the disk is full\",\"identity\":\"" +
                  world_.hub->identity() + "\"}\n");
}

TEST_F(AdminTest, says_how_far_a_start_is) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 4}));
    admin_.reset();
    ring_.reset();
    world_.close();
    world_.background = true;
    ASSERT_TRUE(world_.open().ok());
    ring_.emplace(world_.node->loop, world_.node->metadata, rules_,
                  Keys::load(*world_.disk, hub::test_folder).value(), fixed_);
    restart({});

    const auto recovering = ask({.path = "/health"});
    EXPECT_EQ(recovering.status, 503);
    EXPECT_EQ(recovering.body,
              "{\"status\":\"recovering\",\"message\":\"0 of 4 partitions are recovered.\","
              "\"partitions\":4,\"recovered\":0,\"identity\":\"" +
                  world_.hub->identity() + "\"}\n");
    EXPECT_EQ(as_root("POST", "/api/v1/hubs", R"({"name":"x"})").status, 503);

    world_.hub->start();
    EXPECT_TRUE(world_.scheduler.run_until([&] { return world_.hub->recovery().done(); },
                                           std::chrono::hours(1)));
    EXPECT_EQ(ask({.path = "/health"}).status, 200);
}

TEST_F(AdminTest, shows_metrics_to_this_host_or_with_a_token_or_when_told_so) {
    world_.registry.counter("evenkeel_test_total", "for this test").add(7);
    for (const std::string peer : {"127.0.0.1", "127.1.2.3", "::1"}) {
        const auto response = ask({.path = "/metrics", .peer = peer});
        EXPECT_EQ(response.status, 200);
        EXPECT_NE(response.body.find("evenkeel_test_total 7"), std::string::npos);
        EXPECT_TRUE(response.content_type.starts_with("text/plain; version=0.0.4"));
    }
    EXPECT_EQ(ask({.path = "/metrics"}).status, 401);
    EXPECT_EQ(ask({.path = "/metrics", .token = token("listener")}).status, 200);
    restart({.metrics_open = true});
    EXPECT_EQ(ask({.path = "/metrics"}).status, 200);
}

TEST_F(AdminTest, trusts_loopback_only_if_configured_and_by_its_own_name) {
    Ask wanted{.path = "/api/v1/hubs", .peer = "127.0.0.1", .host = "localhost:8080"};
    EXPECT_EQ(ask(wanted).status, 401);

    restart({.trust_this_host = true});

    EXPECT_EQ(ask(wanted).status, 200);
    for (const std::string host : {"127.0.0.1", "[::1]:8080", "localhost"}) {
        wanted.host = host;
        EXPECT_EQ(ask(wanted).status, 200) << host;
    }
    for (const std::string host : {"evil.example:8080", "", "[", "127.example", "localhost.evil"}) {
        wanted.host = host;
        EXPECT_EQ(ask(wanted).status, 401) << host;
    }
    wanted.host = "localhost:8080";
    wanted.token = token("stranger");
    EXPECT_EQ(ask(wanted).status, 401) << "a bad token is not made good";
    wanted.token = "";
    wanted.peer = "10.1.2.3";
    EXPECT_EQ(ask(wanted).status, 401);
}

TEST_F(AdminTest, takes_any_bearer_token_only_where_it_was_told_so) {
    EXPECT_EQ(ask({.path = "/api/v1/hubs", .token = "Bearer x"}).status, 401);
    restart({.accept_any_token = true});
    EXPECT_EQ(ask({.path = "/api/v1/hubs", .token = "Bearer x"}).status, 200);
    EXPECT_EQ(ask({.path = "/api/v1/hubs", .token = "x"}).status, 401);
}

TEST_F(AdminTest, knows_what_it_does_not_have) {
    EXPECT_EQ(as_root("GET", "*").status, 404);
    EXPECT_EQ(as_root("GET", "/api/v1/hubs/x/y/z").status, 404);
    const auto response = as_root("PUT", "/api/v1/hubs");
    EXPECT_EQ(response.status, 405);
    EXPECT_EQ(response.fields.at(0).value, "GET, POST");
}

TEST_F(AdminTest, drops_the_answers_it_owes_when_it_goes) {
    bool answered = false;
    http::Request request;
    request.method = "POST";
    request.path = "/api/v1/hubs";
    request.body = R"({"name":"x"})";
    request.fields = {
        {"Content-Type", "application/json"}, {"Host", "hub"}, {"Authorization", token("root")}};
    admin_->handle(request, [&](http::Response) { answered = true; });

    admin_.reset();
    world_.run_for(1min);

    EXPECT_FALSE(answered);
}

TEST(AdminStatus, is_known_for_every_error) {
    EXPECT_EQ(status_of(ErrorCode::invalid_argument), 400);
    EXPECT_EQ(status_of(ErrorCode::not_found), 404);
    EXPECT_EQ(status_of(ErrorCode::already_exists), 409);
    EXPECT_EQ(status_of(ErrorCode::overloaded), 503);
    EXPECT_EQ(status_of(ErrorCode::timed_out), 504);
    EXPECT_EQ(status_of(ErrorCode::corrupt), 500);
}

TEST_F(AdminTest, leaves_an_audit_line_for_each_change_and_refusal) {
    testing::internal::CaptureStderr();
    as_root("POST", "/api/v1/hubs", R"({"name":"homes"})");
    as_root("PATCH", "/api/v1/hubs/homes", R"({"retention_ms":1000})");
    as_root("POST", "/api/v1/hubs/homes/groups", R"({"name":"g1"})");
    as_root("POST", "/api/v1/hubs/homes/purge", "{}");
    const auto made = as_root("POST", "/api/v1/keys", R"({"name":"k1","rights":["Send"]})");
    as_root("POST", "/api/v1/keys/k1/rotate", R"({"key":"primary"})");
    as_root("GET", "/api/v1/keys/k1");
    as_root("DELETE", "/api/v1/keys/k1");
    as_root("DELETE", "/api/v1/hubs/homes/groups/g1");
    ask({.method = "DELETE", .path = "/api/v1/hubs/homes", .token = token("sender")});
    ask({.method = "DELETE", .path = "/api/v1/hubs/homes"});
    as_root("POST", "/api/v1/hubs/homes/groups/g1/requests",
            R"({"action":"seek","to":"newest","partitions":[0,3],"preview":true})");
    as_root("POST", "/api/v1/hubs/homes/groups/g1/requests",
            R"({"action":"drain","member":"ada"})");
    as_root("POST", "/api/v1/hubs/homes/groups/g1/dead-letters/0/17/resend",
            R"({"hub":"other","body":"a secret"})");
    as_root("DELETE", "/api/v1/hubs/homes/groups/g1/dead-letters/0/17");
    as_root("POST", "/api/v1/demo", R"({"action":"kill"})");
    as_root("DELETE", "/api/v1/hubs/homes");
    as_root("GET", "/api/v1/hubs");
    const std::string lines = testing::internal::GetCapturedStderr();

    const std::string who = "audit who=key:root from=10.1.2.3:1234 did=";
    for (const std::string did :
         {"create-hub what=homes", "change-hub what=homes", "create-group what=homes/g1",
          "purge-hub what=homes", "create-key what=k1", "rotate-key what=k1", "show-key what=k1",
          "remove-key what=k1", "remove-group what=homes/g1", "remove-hub what=homes"}) {
        EXPECT_NE(lines.find(who + did + " result=ok"), std::string::npos) << did << "\n" << lines;
    }
    for (const std::string did :
         {"change-group what=\"homes/g1 action=seek to=newest preview partitions=0,3\"",
          "change-group what=\"homes/g1 action=drain member=ada\"",
          "resend-dead-letter what=\"homes/g1/0/17 hub=other\"",
          "remove-dead-letter what=homes/g1/0/17", "change-demo what=\"action=kill\""}) {
        EXPECT_NE(lines.find(who + did + " result=refused:4"), std::string::npos) << did << "\n"
                                                                                  << lines;
    }
    EXPECT_EQ(lines.find("a secret"), std::string::npos);
    EXPECT_NE(lines.find("audit who=key:sender from=10.1.2.3:1234 did=remove-hub what=homes "
                         "result=refused:403"),
              std::string::npos)
        << lines;
    EXPECT_NE(lines.find("audit who=- from=10.1.2.3:1234 did=remove-hub what=homes "
                         "result=refused:401"),
              std::string::npos)
        << lines;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 17) << "a look leaves none";
    EXPECT_EQ(lines.find("primary_key"), std::string::npos);
}

// Guessing keys by looking is no quieter than by a change or over AMQP.
TEST_F(AdminTest, counts_and_logs_refused_logins_of_looks) {
    Activity activity(world_.registry, world_.node->loop.clock());
    restart({.activity = &activity});
    const std::string wrong = make_sas("sb://hub/", "root", Secret("not-the-key"),
                                       world_.node->loop.clock().wall() + std::chrono::hours(1));
    testing::internal::CaptureStderr();
    EXPECT_EQ(ask({.path = "/api/v1/hubs", .token = wrong}).status, 401);
    EXPECT_EQ(ask({.path = "/api/v1/hubs"}).status, 401) << "no key was tried";
    for (int i = 0; i < 100; ++i) ask({.path = "/api/v1/live", .token = wrong});
    const std::string lines = testing::internal::GetCapturedStderr();
    restart({});

    EXPECT_NE(lines.find("audit who=key:root from=10.1.2.3:1234 did=login what=http result="),
              std::string::npos)
        << lines;
    EXPECT_EQ(lines.find("not-the-key"), std::string::npos);
    EXPECT_LE(std::count(lines.begin(), lines.end(), '\n'), Activity::lines_per_second);
    EXPECT_NE(world_.registry.to_text().find("evenkeel_refusals_total{reason=\"bad_token\"} 101"),
              std::string::npos);
}

}  // namespace
}  // namespace evenkeel::door
