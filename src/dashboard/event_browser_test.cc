#include "dashboard/event_browser.h"

#include <functional>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/time_point.h"
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
    BrowsePlace place() { return {world.node->loop, world.node->disk_1, *world.hub, hub_}; }
    boost::json::value page(BrowseQuery query) {
        std::optional<Result<std::string>> answer;
        browse(place(), std::move(query),
               [&](Result<std::string> json) { answer.emplace(std::move(json)); });
        EXPECT_TRUE(
            world.scheduler.run_until([&] { return answer.has_value(); }, std::chrono::minutes(1)));
        EXPECT_TRUE(answer->ok());
        last_size_ = (*answer)->size();
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
    // All pages, each below the largest size; backwards in the order of the pages.
    std::string all_bodies(BrowseQuery query) {
        std::string all;
        for (int i = 0; i < 100; ++i) {
            const auto answer = page(query);
            EXPECT_LE(last_size_, BrowseQuery::page_bytes_max + 100'000);
            all += bodies(answer);
            if (answer.at("cursor").is_null()) return all;
            query.cursor = cursor_of(answer);
        }
        ADD_FAILURE() << "the pages do not end";
        return all;
    }
    // Turns of the loop that others have until `done`.
    int turns_until(const std::function<bool()>& done) {
        int turns = 0;
        std::function<void()> turn = [&] {
            if (done()) return;
            ++turns;
            world.node->loop.post([&] { turn(); });
        };
        turn();
        EXPECT_TRUE(world.scheduler.run_until(done, std::chrono::minutes(1)));
        world.run_for(std::chrono::milliseconds(1));
        return turns;
    }
    static BrowsePlaces until_of(const boost::json::value& page) {
        return *parse_browse_places(std::string(page.at("until").as_string()));
    }
    static BrowseCursor cursor_of(const boost::json::value& page) {
        return *parse_browse_cursor(std::string(page.at("cursor").as_string()));
    }

    hub::HubFixture storage;
    hub::HubFixture& world = hub::opened(storage);
    std::string hub_ = "homes";
    std::size_t last_size_ = 0;
};

std::string number_of(const std::string& bodies) {
    std::string numbers;
    for (const char c : bodies) {
        if (c != '.') numbers += c;
    }
    return numbers;
}

TEST_F(EventBrowser, looks_only_at_what_came_since_the_last_page) {
    for (const char* body : {"a", "b", "c"}) send(0, body);
    const auto first = page({});
    EXPECT_EQ(bodies(first), "c b a ");
    EXPECT_EQ(first.at("until").as_string(), "0.3,1.0");
    BrowseQuery next{.since = until_of(first)};
    EXPECT_EQ(page(next).at("looked_at").as_int64(), 0);
    EXPECT_TRUE(page(next).at("cursor").is_null());

    send(0, "d");
    send(1, "e");
    next.match = [](std::uint32_t, const Event& event) { return event.text() == "e"; };
    const auto second = page(next);
    EXPECT_EQ(bodies(second), "e ");
    EXPECT_EQ(second.at("looked_at").as_int64(), 2) << "none of the first page";
    EXPECT_EQ(second.at("until").as_string(), "0.4,1.1");
}

TEST_F(EventBrowser, finds_its_way_when_the_end_is_before_the_last_page) {
    send(0, "a");
    const auto answer = page({.since = {{0, 1000}, {7, 3}}});
    EXPECT_EQ(bodies(answer), "");
    EXPECT_EQ(answer.at("until").as_string(), "0.1,1.0");
    for (const char* bad : {"0", "0.x", ".1", "0.-1", "0.1,,1.2", "1000000000000.1"}) {
        EXPECT_FALSE(parse_browse_places(bad).ok()) << bad;
    }
}

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

TEST_F(EventBrowser, has_pages_of_a_largest_size) {
    ASSERT_TRUE(world.create("many", {.partitions = 4}).ok());
    std::string forwards;
    std::string backwards;
    for (int i = 0; i < 60; ++i) {
        std::string sections;
        eventhubs::append_data_section(std::to_string(i) + std::string(400'000, '.'), sections);
        world.run_for(std::chrono::milliseconds(10));
        ASSERT_TRUE(world.append("many", static_cast<std::uint32_t>(i % 4), {sections}).ok());
        forwards += std::to_string(i) + " ";
        backwards = std::to_string(i) + " " + backwards;
    }
    hub_ = "many";
    EXPECT_EQ(number_of(all_bodies({.start = {Kind::oldest, 0}, .length = BodyLength::whole})),
              forwards);
    EXPECT_EQ(number_of(all_bodies({.length = BodyLength::whole})), backwards);
    ASSERT_TRUE(world.reopen().ok());  // nothing is in memory now
    EXPECT_EQ(number_of(all_bodies({.length = BodyLength::whole})), backwards);
}

TEST_F(EventBrowser, lets_others_run_between_partitions) {
    constexpr std::uint32_t partitions = 64;
    ASSERT_TRUE(world.create("many", {.partitions = partitions}).ok());
    for (std::uint32_t p = 0; p < partitions; ++p) {
        ASSERT_TRUE(world.append("many", p, {"x"}).ok());
    }
    hub_ = "many";
    bool is_answered = false;
    const auto answer = [&](const auto& result) { is_answered = result.ok(); };

    browse(place(), {.start = {Kind::oldest, 0}, .limit = 1}, answer);
    EXPECT_GE(turns_until([&] { return is_answered; }), static_cast<int>(partitions) - 1);

    GroupView view;
    view.partitions.resize(partitions);
    for (std::uint32_t p = 0; p < partitions; ++p) {
        view.partitions[p].partition = p;
        view.partitions[p].hub.end = {.begin = 0, .last = 0, .is_empty = false};
    }
    is_answered = false;
    plan_seek(place(), view, {Kind::time, 0}, {}, answer);
    EXPECT_GE(turns_until([&] { return is_answered; }), static_cast<int>(partitions) - 1);
}

TEST_F(EventBrowser, goes_backwards_through_all_that_match) {
    std::string expected;
    for (int i = 0; i < 300; ++i) {
        send(0, std::to_string(i));
        if (i % 2 == 0) expected = std::to_string(i) + " " + expected;
    }
    const auto is_even = [](std::uint32_t, const Event& event) {
        return (event.text().back() - '0') % 2 == 0;
    };
    EXPECT_EQ(all_bodies({.match = is_even, .limit = 7}), expected);
}

TEST_F(EventBrowser, does_not_go_on_before_its_start) {
    send(1, "old");
    world.run_for(std::chrono::seconds(1));
    const auto start = world.node->loop.clock().wall().milliseconds;
    for (const char* body : {"a", "b", "c"}) send(0, body);
    EXPECT_EQ(all_bodies({.start = {Kind::time, start}, .limit = 2}), "a b c ");
    EXPECT_EQ(all_bodies({.start = {Kind::sequence, 1}, .limit = 1}), "b c ");
}

TEST_F(EventBrowser, looks_at_so_many_bytes_with_a_filter) {
    std::string large;
    eventhubs::append_data_section(std::string(1'000'000, 'x'), large);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(world.append("homes", 0, {large, large, large, large, large}).ok());
    }
    std::string small;
    eventhubs::append_data_section("hit", small);
    ASSERT_TRUE(world.append("homes", 0, std::vector<std::string>(40, small)).ok());
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(world.append("homes", 0, {large, large, large, large, large}).ok());
    }
    const auto is_hit = [](std::uint32_t, const Event& event) { return event.text() == "hit"; };
    for (const Kind kind : {Kind::oldest, Kind::newest}) {
        BrowseQuery query{.start = {kind, 0}, .match = is_hit};
        std::int64_t matched = 0;
        int pages = 0;
        for (; pages < 20; ++pages) {
            const auto answer = page(query);
            matched += answer.at("matched").as_int64();
            // Two partitions share 32 MiB; backwards the first window does not know sizes.
            EXPECT_LE(answer.at("looked_at").as_int64(), kind == Kind::oldest ? 58 : 65);
            if (answer.at("cursor").is_null()) break;
            query.cursor = cursor_of(answer);
        }
        EXPECT_EQ(matched, 40);
        EXPECT_GE(pages, 2);
    }
}

TEST_F(EventBrowser, cuts_large_properties_and_ids) {
    const std::string large(70'000, 'p');
    const std::vector<Property> properties{{"large", large}, {"small", "x"}};
    EventData event;
    event.body = "b";
    event.message_id = std::string_view(large);
    event.properties = properties;
    const EventBatch batch = EventBatch::of({event}, {});
    const Event& made = *batch.begin();
    ASSERT_TRUE(world.append("homes", 0, {std::string(as_text(made.sections))}).ok());

    const auto cut = page({.start = {Kind::oldest, 0}}).at("events").at(0);
    EXPECT_EQ(cut.at("properties").as_object().size(), 1U);
    EXPECT_EQ(cut.at("properties").at("small").as_string(), "x");
    EXPECT_TRUE(cut.at("properties_truncated").as_bool());
    EXPECT_LT(cut.at("message_id").as_string().size(), 5000U);

    const auto whole =
        page({.start = {Kind::oldest, 0}, .length = BodyLength::whole}).at("events").at(0);
    EXPECT_EQ(whole.at("properties").at("large").as_string().size(), large.size());
    EXPECT_EQ(whole.at("message_id").as_string().size(), large.size());
    EXPECT_FALSE(whole.as_object().contains("properties_truncated"));
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
