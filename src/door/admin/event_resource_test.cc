#include "door/admin/event_resource.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "amqp/codec.h"
#include "door/admin/admin_fixture.h"
#include "door/admin/sent_events.h"
#include "eventhubs/encoding.h"

namespace evenkeel::door {
namespace {

class EventRoutes : public AdminTest {
protected:
    EventRoutes() { EXPECT_TRUE(world_.create("homes", {.partitions = 2}).ok()); }
    boost::json::value events(const std::string& query) {
        Ask wanted{.path = "/api/v1/hubs/homes/events", .token = token("listener")};
        wanted.query = query;
        const auto response = ask(wanted);
        EXPECT_EQ(response.status, 200) << response.body;
        return boost::json::parse(response.body);
    }
    int status(const std::string& query) {
        Ask wanted{.path = "/api/v1/hubs/homes/events", .token = token("listener")};
        wanted.query = query;
        return ask(wanted).status;
    }
    http::Response send(const std::string& body) {
        return ask({.method = "POST",
                    .path = "/api/v1/hubs/homes/events",
                    .body = body,
                    .token = token("sender")});
    }
};

TEST_F(EventRoutes, send_events_and_read_them_back) {
    const auto sent = send(R"({"partition":1,"events":[
        {"body":"{\"a\":1}","content_type":"application/json","properties":{"n":7,"s":"x"}},
        {"body_base64":"/wA="}]})");
    ASSERT_EQ(sent.status, 201) << sent.body;
    EXPECT_EQ(sent.body, "{\"sent\":[{\"partition\":1,\"first\":0,\"last\":1}]}\n");

    const auto page = events("from=oldest&p=1");
    const auto& first = page.at("events").at(0);
    EXPECT_EQ(first.at("content_type").as_string(), "application/json");
    EXPECT_EQ(first.at("properties").at("n").as_int64(), 7);
    EXPECT_EQ(first.at("body").at("kind").as_string(), "json");
    EXPECT_EQ(page.at("events").at(1).at("body").at("value").as_string(), "/wA=");
    EXPECT_EQ(ask({.path = "/api/v1/hubs/homes/partitions/1/events/1", .token = token("listener")})
                  .status,
              200);
}

TEST_F(EventRoutes, keep_a_key_in_its_partition) {
    ASSERT_EQ(send(R"({"events":[{"body":"a","partition_key":"k"}]})").status, 201);
    ASSERT_EQ(send(R"({"events":[{"body":"b","partition_key":"k"}]})").status, 201);
    const auto page = events("from=oldest");
    EXPECT_EQ(page.at("events").at(0).at("p").as_int64(),
              page.at("events").at(1).at("p").as_int64());
    EXPECT_EQ(page.at("events").at(0).at("partition_key").as_string(), "k");
}

// With message id and correlation id, which JSON does not have.
TEST_F(EventRoutes, store_a_copy_that_differs_in_nothing) {
    amqp::Buffer buffer;
    const std::vector<Property> properties{{"n", Value(std::int8_t{7})}};
    EventData data{.body = "\xff\x00 bytes"};
    data.message_id = Value("m-1");
    data.correlation_id = Value("c-1");
    data.content_type = "text/x";
    data.properties = properties;
    eventhubs::append_message(data, buffer);
    ASSERT_TRUE(world_.append("homes", 1, {std::string(as_text(ByteView(buffer)))}).ok());
    ASSERT_TRUE(world_.create("other", {.partitions = 1}).ok());
    const std::string wish = R"({"copy_of":{"hub":"homes","partition":1,"sequence_number":0}})";
    const auto copy = [&](const std::string& with, const std::string& body) {
        return ask(
            {.method = "POST", .path = "/api/v1/hubs/other/events", .body = body, .token = with});
    };
    const auto sent = copy(token("root"), wish);
    EXPECT_EQ(sent.body, "{\"sent\":[{\"partition\":0,\"first\":0,\"last\":0}]}\n");

    const auto shown = [&](const std::string& path) {
        auto event = boost::json::parse(ask({.path = path, .token = token("root")}).body);
        return boost::json::serialize(event.at("sections"));
    };
    EXPECT_EQ(shown("/api/v1/hubs/other/partitions/0/events/0"),
              shown("/api/v1/hubs/homes/partitions/1/events/0"));

    EXPECT_EQ(copy(token("sender"), wish).status, 403) << "it may not read";
    EXPECT_EQ(copy(token("listener"), wish).status, 403) << "it may not send";
    EXPECT_EQ(copy(token("root", "sb://hub/other"), wish).status, 403) << "not that one";
    for (const auto& [body, status] :
         {std::pair<std::string, int>{
              R"({"copy_of":{"hub":"homes","partition":1,"sequence_number":1}})", 404},
          {R"({"copy_of":{"hub":"homes","partition":9,"sequence_number":0}})", 404},
          {R"({"copy_of":{"hub":"none","partition":0,"sequence_number":0}})", 404},
          {R"({"copy_of":{"hub":"homes","partition":1}})", 400},
          {R"({"copy_of":{"hub":"homes","partition":1,"sequence_number":-1}})", 400},
          {R"({"copy_of":{"hub":"homes","partition":1,"sequence_number":0},"events":[{}]})", 400},
          {R"({"copy_of":1})", 400}}) {
        EXPECT_EQ(copy(token("root"), body).status, status) << body;
    }
}

TEST_F(EventRoutes, refuse_what_they_do_not_understand) {
    for (const char* bad :
         {"", "[]", "{}", R"({"events":[]})", R"({"events":[1]})", R"({"events":[{"bdy":"a"}]})",
          R"({"events":[{"body":1}]})", R"({"events":[{"body":"a","body_base64":"YQ=="}]})",
          R"({"events":[{"body_base64":"?"}]})", R"({"events":[{"properties":[1]}]})",
          R"({"events":[{"properties":{"a":[1]}}]})", R"({"events":[{}],"partition":-1})",
          R"({"events":[{"partition_key":"k"}],"partition":1})", R"({"events":[{}],"x":1})"}) {
        EXPECT_EQ(send(bad).status, 400) << bad;
    }
    EXPECT_EQ(send(R"({"events":[{}],"partition":9})").status, 404);
    for (const char* bad : {"from=now", "p=a", "limit=0", "limit=9999", "cursor=x", "since=x",
                            "from=oldest&since=0.1", "x=1"}) {
        EXPECT_EQ(status(bad), 400) << bad;
    }
    EXPECT_EQ(status("where=key"), 501) << "this server was given no filters";
    EXPECT_EQ(status("p=9"), 404);
    EXPECT_EQ(
        ask({.path = "/api/v1/hubs/homes/partitions/x/events/1", .token = token("root")}).status,
        400);
}

TEST_F(EventRoutes, use_the_filter_that_they_were_given) {
    ASSERT_EQ(send(R"({"events":[{"body":"a"},{"body":"b"}],"partition":0})").status, 201);
    restart({.event_filter = [](const std::string& hub,
                                std::string_view text) -> Result<dashboard::EventMatch> {
        EXPECT_EQ(hub, "homes");
        if (text == "bad") return Error{ErrorCode::invalid_argument, "bad at 1"};
        return dashboard::EventMatch([body = std::string(text)](std::uint32_t, const Event& event) {
            return event.text() == body;
        });
    }});
    const auto page = events("from=oldest&where=b");
    EXPECT_EQ(page.at("matched").as_int64(), 1);
    EXPECT_EQ(page.at("looked_at").as_int64(), 2);
    EXPECT_EQ(status("where=bad"), 400);
}

TEST_F(EventRoutes, count_for_quotas) {
    const Instant now = world_.node->loop.clock().now();
    const Quotas quotas(
        {},
        {{"sender", "", {.events_per_second = 2}}, {"", "homes", {.bytes_per_second = 500'000}}},
        now);
    Activity activity(world_.registry, world_.node->loop.clock());
    restart({.activity = &activity, .quotas = &quotas});
    const std::string three =
        R"({"events":[{"body":"a"},{"body":"b"},{"body":"c"}],"partition":0})";
    EXPECT_EQ(send(three).status, 201) << "a batch is taken whole while anything is left";

    const auto refused = send(three);
    EXPECT_EQ(refused.status, 429);
    EXPECT_NE(refused.body.find("key 'sender'"), std::string::npos) << refused.body;
    EXPECT_EQ(refused.fields.front().name, "Retry-After");
    EXPECT_EQ(world_.properties("homes", 0).last_sequence.value, 2) << "nothing of it is stored";
    EXPECT_EQ(as_root("POST", "/api/v1/hubs/homes/events",
                      R"({"events":[{"body":")" + std::string(900'000, 'x') + R"("}]})")
                  .status,
              201)
        << "another key";
    EXPECT_EQ(as_root("POST", "/api/v1/hubs/HOMES/events", three).status, 429) << "of the hub";
    world_.run_for(std::chrono::seconds(3));
    EXPECT_EQ(send(three).status, 201);

    const std::string metrics = world_.registry.to_text();
    EXPECT_NE(metrics.find("reason=\"throttled_key\"} 1"), std::string::npos) << metrics;
    EXPECT_NE(metrics.find("reason=\"throttled_hub\"} 1"), std::string::npos) << metrics;
    EXPECT_EQ(activity.hub("homes")->events_in, 7U);
    restart({});
}

TEST_F(EventRoutes, say_what_was_stored_if_the_rest_was_not) {
    // So much waits for the disk that partition 0 takes no more.
    const auto waiting =
        world_.start_append("homes", 0, std::vector<std::string>(40, std::string(1'000'000, 'x')));
    std::string key_of_0;
    std::string key_of_1;
    for (int i = 0; key_of_0.empty() || key_of_1.empty(); ++i) {
        const std::string each = std::to_string(i);
        const auto partition = (*world_.hub->find("homes"))->route(std::nullopt, each);
        (partition->value == 0 ? key_of_0 : key_of_1) = each;
    }
    const auto answer = send(R"({"events":[{"partition_key":")" + key_of_0 +
                             R"("},{"partition_key":")" + key_of_1 + R"("}]})");
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_NE(answer.body.find("stored nevertheless: those of the partitions 1 (0 to 0)"),
              std::string::npos)
        << answer.body;
}

TEST_F(EventRoutes, read_so_many_pages_at_once) {
    ASSERT_EQ(send(R"({"events":[{"body":"a"}]})").status, 201);
    const auto ask_for_a_page = [&](std::vector<int>& statuses) {
        http::Request request;
        request.method = "GET";
        request.path = "/api/v1/hubs/homes/events";
        request.fields = {{"Host", "hub"}, {"Authorization", token("listener")}};
        admin_->handle(request, [&](const http::Response& r) { statuses.push_back(r.status); });
    };
    std::vector<int> statuses;
    for (std::size_t i = 0; i < EventResource::browses_max + 1; ++i) ask_for_a_page(statuses);
    EXPECT_EQ(statuses, std::vector<int>{503}) << "one too many";

    world_.run_for(std::chrono::seconds(1));
    EXPECT_EQ(statuses.size(), EventResource::browses_max + 1);
    EXPECT_EQ(statuses.back(), 200);
    EXPECT_EQ(status("from=oldest"), 200) << "there is room again";
}

TEST(SentEvents, can_have_another_body) {
    const auto sent = parse_sent_events(
        R"({"events":[{"body":"a","content_type":"t","properties":{"n":7}}]})", 10);
    ASSERT_TRUE(sent.ok());
    Event event;
    event.sections = as_bytes(sent->events[0].message);
    const std::string changed = with_body(event, "b");
    event.sections = as_bytes(changed);
    EXPECT_EQ(event.text(), "b");
    EXPECT_EQ(event.content_type(), "t");
    EXPECT_EQ(event.properties()["n"].integer(), 7);
}

}  // namespace
}  // namespace evenkeel::door
