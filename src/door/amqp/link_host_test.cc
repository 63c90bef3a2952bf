#include "door/amqp/link_host.h"

#include <gtest/gtest.h>

#include "door/amqp/link_fixture.h"

namespace evenkeel::door {
namespace {

TEST(LinkHost, adds_what_operators_search_their_logs_for) {
    const LinkFixture door;

    const auto tracked = door.tracked({"amqp:not-found", "It is not there."}, "eh1");

    EXPECT_EQ(tracked.name, "amqp:not-found");
    EXPECT_TRUE(tracked.description.starts_with("It is not there. TrackingId:"));
    EXPECT_NE(tracked.description.find("SystemTracker:eh1"), std::string::npos);
}

TEST(LinkHost, names_urls_by_the_host_that_the_client_asked_for) {
    LinkFixture door;
    EXPECT_EQ(door.url_of("eh1"), "sb://evenkeel/eh1");

    door.host = "hub.example";

    EXPECT_EQ(door.url_of("eh1"), "sb://hub.example/eh1");
}

TEST(LinkHost, counts_a_refused_link_by_its_reason) {
    LinkFixture door;
    const struct {
        std::string_view condition;
        Refusal reason;
    } all[] = {{amqp::condition::unauthorized, Refusal::right},
               {amqp::condition::not_found, Refusal::unknown_hub},
               {amqp::condition::invalid_field, Refusal::link}};
    for (const auto& each : all) {
        door.recorder.attach = [&](amqp::Link& link) {
            door.recorder.links.push_back(&link);
            door.refuse(link, {std::string(each.condition), "why"}, "eh1");
        };
        door.attach();

        const auto detached = amqp::all<amqp::Detach>(door.frames());
        ASSERT_EQ(detached.size(), 1u);
        EXPECT_EQ(detached[0].error->name, each.condition);
        EXPECT_EQ(
            door.metrics.counter("evenkeel_refusals_total", "", {{"reason", name_of(each.reason)}})
                .value(),
            1u);
    }
}

}  // namespace
}  // namespace evenkeel::door
