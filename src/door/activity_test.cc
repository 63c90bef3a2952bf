#include "door/activity.h"

#include <gtest/gtest.h>

#include "base/trace_fixture.h"
#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Activity, tells_of_connections_logins_refusals_and_ended_readers) {
    CapturedTrace lines(TraceLevel::debug);
    DoorFixture world;
    Client& client = world.client();
    const std::string reader = "eh1/ConsumerGroups/$Default/Partitions/0";
    const auto first =
        client.receiver(reader, {.properties = a_map({{"com.microsoft:epoch", a_long(1)}})});
    const auto second =
        client.receiver(reader, {.properties = a_map({{"com.microsoft:epoch", a_long(2)}})});
    client.sender("nowhere");
    world.stranger().sender("eh1");
    client.socket->close();
    world.scheduler.run_for(1s);

    const std::string all = lines.take();
    EXPECT_TRUE(has(all, "debug: a client has connected from=client:")) << all;
    EXPECT_TRUE(has(all, "debug: a client has logged in who=key:root from=client:")) << all;
    EXPECT_TRUE(has(all, "info: a reader was ended from=client:")) << all;
    EXPECT_TRUE(has(all, "what=eh1 why=amqp:link:stolen")) << all;
    EXPECT_TRUE(has(all, "info: a client was refused reason=unknown_entity")) << all;
    EXPECT_TRUE(has(all, "what=nowhere")) << all;
    EXPECT_TRUE(has(all, "info: a client was refused reason=missing_right")) << all;
    EXPECT_TRUE(has(all, "debug: a client has gone from=client:")) << all;
    EXPECT_FALSE(has(all, std::string(root_key.reveal()))) << "no secret";
    EXPECT_FALSE(has(all, "sig=")) << "no token";
}

TEST(Activity, audits_refused_logins_without_their_keys) {
    CapturedTrace lines(TraceLevel::debug);
    DoorFixture world;
    Client& client = world.stranger();
    const Secret wrong("not-the-key");
    const auto reply =
        client.put_token(make_sas("sb://hub/", "root", wrong, world.now() + 1h), "sb://hub/");
    EXPECT_EQ(reply.code, 401);

    const std::string all = lines.take();
    EXPECT_TRUE(has(all, " audit who=key:root from=client:")) << all;
    EXPECT_TRUE(has(all, "did=login what=client result=\"InvalidSignature: ")) << all;
    EXPECT_FALSE(has(all, "not-the-key"));
    EXPECT_FALSE(has(all, "sig="));
}

TEST(Activity, writes_so_many_lines_a_second_and_counts_the_rest) {
    CapturedTrace lines(TraceLevel::debug);
    DoorFixture world;
    Activity& activity = world.door->activity();
    const Visitor visitor{{"10.0.0.1", 1}};
    for (int i = 0; i < 100; ++i) activity.refused(Refusal::link, visitor, "x", "y");
    world.scheduler.run_for(2s);
    activity.tick();
    activity.refused(Refusal::link, visitor, "x", "y");

    const std::string all = lines.take();
    EXPECT_EQ(count_of("a client was refused", all), Activity::lines_per_second + 1);
    EXPECT_EQ(count_of("log lines were left out of=refusals count=80", all), 1u) << all;
}

TEST(Activity, counts_connections_links_logins_refusals_and_traffic_by_hub) {
    Metrics metrics;
    DoorFixture world({.metrics = &metrics});
    Client& client = world.client();
    const auto sender = client.sender("eh1/Partitions/0");
    EXPECT_EQ(client.outcome(sender, a_data("hello")), "");
    const auto receiver =
        client.receiver("eh1/ConsumerGroups/$Default/Partitions/0",
                        {.filter = a_filter("amqp.annotation.x-opt-offset > '-1'")});
    client.run_for(1s);
    client.sender("nowhere");

    std::string text = metrics.to_text();
    EXPECT_TRUE(has(text, "evenkeel_connections 1\n")) << text;
    EXPECT_TRUE(has(text, "evenkeel_logins_total 1\n")) << text;
    EXPECT_TRUE(has(text, "evenkeel_refusals_total{reason=\"unknown_entity\"} 1\n")) << text;
    EXPECT_TRUE(has(text, "evenkeel_store_duration_seconds_count 1\n")) << text;
    EXPECT_FALSE(has(text, "evenkeel_links{role=\"sender\"} 0\n")) << text;
    const auto hubs = world.door->activity().hubs_text([](const std::string&) { return true; });
    EXPECT_TRUE(has(hubs, "evenkeel_hub_events_in_total{hub=\"eh1\"} 1\n")) << hubs;
    EXPECT_TRUE(has(hubs, "evenkeel_hub_events_out_total{hub=\"eh1\"} 1\n")) << hubs;

    client.socket->close();
    world.scheduler.run_for(1s);
    text = metrics.to_text();
    EXPECT_TRUE(has(text, "evenkeel_connections 0\n")) << text;
    EXPECT_TRUE(has(text, "evenkeel_links{role=\"sender\"} 0\n")) << text;
    EXPECT_TRUE(has(text, "evenkeel_links{role=\"receiver\"} 0\n")) << text;
    EXPECT_FALSE(has(world.door->activity().hubs_text([](const std::string&) { return false; }),
                     "hub=\"eh1\""));
}

}  // namespace
}  // namespace evenkeel::door
