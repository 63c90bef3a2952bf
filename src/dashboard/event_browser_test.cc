#include "dashboard/event_browser.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "dashboard/seek.h"
#include "eventhubs/sections.h"
#include "hub/hub_fixture.h"

namespace evenkeel::dashboard {
namespace {

using Kind = BrowseStart::Kind;

class EventBrowser : public testing::Test {
protected:
    EventBrowser() { EXPECT_TRUE(world.create("homes", {.partitions = 2}).ok()); }

    void send(std::uint32_t partition, std::string_view body) {
        std::string sections;
        eventhubs::append_data_section(body, sections);
        world.run_for(std::chrono::milliseconds(10));
        ASSERT_TRUE(world.append("homes", partition, {sections}).ok());
    }
    BrowsePlace place() { return {world.node->loop, world.node->disk_1, *world.hub, "homes"}; }
    boost::json::value page(BrowseQuery query) {
        std::optional<Result<std::string>> answer;
        browse(place(), std::move(query),
               [&](Result<std::string> json) { answer.emplace(std::move(json)); });
        EXPECT_TRUE(
            world.scheduler.run_until([&] { return answer.has_value(); }, std::chrono::minutes(1)));
        EXPECT_TRUE(answer->ok());
        return boost::json::parse(**answer);
    }
    // Bodies of the page, in its order.
    static std::string bodies(const boost::json::value& page) {
        std::string all;
        for (const auto& event : page.at("events").as_array()) {
            all += std::string(event.at("body").at("value").as_string()) + " ";
        }
        return all;
    }
    static BrowseCursor cursor_of(const boost::json::value& page) {
        return *parse_browse_cursor(std::string(page.at("cursor").as_string()));
    }

    hub::HubFixture storage;
    hub::HubFixture& world = hub::opened(storage);
};

TEST_F(EventBrowser, goes_forwards_page_by_page_in_the_order_of_time) {
    for (const char* body : {"a", "c", "e"}) {
        send(0, body);
        send(1, std::string(1, static_cast<char>(body[0] + 1)));
    }
    const auto first = page({.start = {Kind::oldest, 0}, .limit = 4});
    EXPECT_EQ(bodies(first), "a b c d ");
    const auto second = page({.limit = 4, .cursor = cursor_of(first)});
    EXPECT_EQ(bodies(second), "e f ");
    EXPECT_TRUE(second.at("cursor").is_null());
}

TEST_F(EventBrowser, goes_backwards_from_the_newest) {
    for (const char* body : {"a", "b", "c"}) send(0, body);
    send(1, "d");
    const auto first = page({.limit = 2});
    EXPECT_EQ(bodies(first), "d c ");
    const auto second = page({.limit = 2, .cursor = cursor_of(first)});
    EXPECT_EQ(bodies(second), "b a ");
    EXPECT_TRUE(second.at("cursor").is_null());
}

TEST_F(EventBrowser, starts_anywhere_also_after_a_restart) {
    for (const char* body : {"a", "b", "c", "d"}) send(0, body);
    const auto third = page({.start = {Kind::sequence, 2}, .partitions = {0}});
    EXPECT_EQ(bodies(third), "c d ");
    const std::string offset(third.at("events").at(0).at("offset").as_string());
    ASSERT_TRUE(world.reopen().ok());  // nothing is in memory now
    EXPECT_EQ(bodies(page({.start = {Kind::offset, std::stoll(offset)}, .partitions = {0}})),
              "c d ");
    EXPECT_EQ(bodies(page({.start = {Kind::sequence, 99}})), "") << "there is nothing yet";
    EXPECT_EQ(bodies(page({.start = {Kind::oldest, 0}, .partitions = {1}})), "");
}

TEST_F(EventBrowser, counts_what_it_looked_at) {
    for (int i = 0; i < 50; ++i) send(0, i % 10 == 0 ? "hit" : "miss");
    const auto matching =
        page({.start = {Kind::oldest, 0},
              .match = [](std::uint32_t, const Event& event) { return event.text() == "hit"; },
              .limit = 3});
    EXPECT_EQ(bodies(matching), "hit hit hit ");
    EXPECT_EQ(matching.at("looked_at").as_int64(), 21);
    EXPECT_EQ(matching.at("matched").as_int64(), 3);
    EXPECT_FALSE(matching.at("cursor").is_null());
}

TEST_F(EventBrowser, shows_hostile_bodies_as_what_they_are) {
    send(0, "{\"a\": [1]}");
    send(0, "<script>\x01");
    send(0, std::string_view("\xff\x00", 2));
    send(0, std::string(100'000, 'x'));
    const auto all = page({.start = {Kind::oldest, 0}});
    const auto& events = all.at("events").as_array();
    EXPECT_EQ(events[0].at("body").at("kind").as_string(), "json");
    EXPECT_EQ(events[1].at("body").at("kind").as_string(), "text");
    EXPECT_EQ(events[2].at("body").at("value").as_string(), "/wA=");
    EXPECT_TRUE(events[3].at("body").at("truncated").as_bool());
    EXPECT_EQ(events[3].at("body").at("value").as_string().size(), body_shown_max);
}

TEST_F(EventBrowser, shows_one_event_with_its_sections) {
    send(0, "a");
    std::optional<Result<std::string>> answer;
    const auto take = [&](Result<std::string> json) { answer.emplace(std::move(json)); };
    show_event(place(), {0}, {0}, take);
    world.run_for(std::chrono::seconds(1));
    EXPECT_EQ(boost::json::parse(**answer).at("sections").at(0).at("name").as_string(), "data");
    show_event(place(), {0}, {1}, take);
    world.run_for(std::chrono::seconds(1));
    EXPECT_EQ(answer->error().code, ErrorCode::not_found);
    show_event(place(), {9}, {1}, take);
    world.run_for(std::chrono::seconds(1));
    EXPECT_EQ(answer->error().code, ErrorCode::not_found);
}

TEST_F(EventBrowser, says_what_a_seek_repeats_and_skips) {
    for (int i = 0; i < 10; ++i) send(0, "x");
    GroupView view;
    view.partitions.resize(1);
    view.partitions[0].hub.end = {.begin = 0, .last = 9, .last_enqueued_ms = 0, .is_empty = false};
    view.partitions[0].progress.position = 5;
    const auto plan = [&](BrowseStart to) {
        std::optional<Result<std::vector<SeekStep>>> steps;
        plan_seek(place(), view, to, {}, [&](auto planned) { steps.emplace(std::move(planned)); });
        world.run_for(std::chrono::seconds(1));
        return to_json(**steps);
    };
    EXPECT_EQ(plan({Kind::oldest, 0}),
              R"({"partitions":[{"p":0,"from":5,"to":-1,"repeats":6,"skips":0}],)"
              R"("repeats":6,"skips":0})");
    EXPECT_NE(plan({Kind::newest, 0}).find("\"to\":9,\"repeats\":0,\"skips\":4"),
              std::string::npos);
    EXPECT_NE(plan({Kind::sequence, 3}).find("\"to\":2,\"repeats\":3"), std::string::npos);
    EXPECT_NE(plan({Kind::time, 0}).find("\"to\":-1"), std::string::npos);
    EXPECT_NE(plan({Kind::time, 32'503'680'000'000}).find("\"to\":9"), std::string::npos);
}

TEST(BrowseTexts, are_parsed_strictly) {
    EXPECT_EQ(parse_browse_start("time:2026-03-09T10:00:00Z")->value, 1773050400000);
    EXPECT_EQ(parse_browse_start("")->kind, Kind::newest);
    for (const char* bad : {"new", "seq:", "seq:-1", "time:today", "offset:x", "seq:1:2"}) {
        EXPECT_FALSE(parse_browse_start(bad).ok()) << bad;
    }
    EXPECT_EQ(to_text(*parse_browse_cursor("b:0.12,3.99")), "b:0.12,3.99");
    for (const char* bad : {"", "x:0.1", "f:0", "f:0.-1", "f:a.1"}) {
        EXPECT_FALSE(parse_browse_cursor(bad).ok()) << bad;
    }
}

}  // namespace
}  // namespace evenkeel::dashboard
