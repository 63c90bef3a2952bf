#include "door/admin/event_resource.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "door/admin/admin_fixture.h"
#include "door/admin/sent_events.h"

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
    for (const char* bad : {"from=now", "p=a", "limit=0", "limit=9999", "cursor=x", "x=1"}) {
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
