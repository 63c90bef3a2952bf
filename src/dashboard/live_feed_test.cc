#include "dashboard/live_feed.h"

#include <gtest/gtest.h>

#include "dashboard/groups_fixture.h"
#include "processor/ownership/requests.h"

namespace evenkeel::dashboard {
namespace {

using namespace std::chrono_literals;

class LiveFeedTest : public testing::Test {
protected:
    LiveFeedTest() {
        EXPECT_TRUE(world.create("homes", {.partitions = 2}).ok());
        dashboard.emplace(
            world.node->loop, world.node->disk_0, *world.hub, stores,
            DashboardOptions{.groups = {.groups = {{"homes", "billing", "memory:"}}}});
        feed.emplace(world.node->loop, *dashboard);
        group.beat("ada");
        group.own(0, "ada", 1);
        world.run_for(3s);
    }

    // A page: takes what it is given at once, unless it sleeps.
    struct Page {
        std::shared_ptr<http::BodyStream> stream;
        std::string received;
        bool sleeps = false;
        bool is_over = false;

        void take() {
            stream->next([this](std::optional<std::string> bytes) {
                is_over = !bytes;
                if (!bytes) return;
                received += *bytes;
                if (!sleeps) take();
            });
        }
        std::size_t count(std::string_view what) const {
            std::size_t found = 0;
            for (auto at = received.find(what); at != std::string::npos;
                 at = received.find(what, at + 1)) {
                ++found;
            }
            return found;
        }
    };
    std::unique_ptr<Page> open(
        std::string_view topics = "group:homes/billing",
        std::function<bool()> may_stay = [] { return true; }, const std::string& who = "") {
        auto page = std::make_unique<Page>();
        auto parsed = parse_topics(topics);
        EXPECT_TRUE(parsed.ok());
        auto stream = feed->open({.topics = *parsed,
                                  .reach = [](const std::string&) { return true; },
                                  .reach_name = "/",
                                  .who = who.empty() ? std::to_string(++last_who) : who,
                                  .may_stay = std::move(may_stay)});
        EXPECT_TRUE(stream.ok());
        page->stream = std::move(*stream);
        page->take();
        return page;
    }

    hub::HubFixture storage;
    hub::HubFixture& world = hub::opened(storage);
    SimStores stores{world.scheduler};
    SimGroup group{world.scheduler, stores, world.hub->identity()};
    std::optional<Dashboard> dashboard;
    std::optional<LiveFeed> feed;
    int last_who = 0;
};

TEST_F(LiveFeedTest, leaves_room_for_others_than_one_key) {
    std::vector<std::unique_ptr<Page>> pages;
    const auto may_stay = [] { return true; };
    for (std::size_t i = 0; i < LiveFeed::clients_of_one_max; ++i) {
        pages.push_back(open("overview", may_stay, "key:device"));
    }
    const auto one_more = [&](const std::string& who) {
        return feed->open({.topics = *parse_topics("overview"),
                           .reach = [](const std::string&) { return true; },
                           .reach_name = "/",
                           .who = who,
                           .may_stay = may_stay});
    };
    EXPECT_EQ(one_more("key:device").error().code, ErrorCode::overloaded);
    EXPECT_TRUE(one_more("key:root").ok());
    pages.pop_back();
    EXPECT_TRUE(one_more("key:device").ok());
}

TEST_F(LiveFeedTest, begins_with_a_snapshot) {
    const auto page = open("overview,group:homes/billing");
    EXPECT_EQ(page->count("event: snapshot\n"), 2U) << page->received;
    EXPECT_NE(page->received.find("\"topic\":\"group:homes/billing\""), std::string::npos);
    EXPECT_NE(page->received.find("\"history\""), std::string::npos);
}

TEST_F(LiveFeedTest, tells_changes_as_soon_as_they_are_seen) {
    const auto page = open();
    world.run_for(1500ms);  // what there is is known
    group.own(1, "bob", 7);
    group.beat("bob");
    group.write(std::string(processor::pause_key), "1");
    group.write(processor::moves_key({1}),
                processor::encode_moves({{{1}, {7}, 90, "", "bob", "was free"}}));
    world.run_for(1500ms);

    EXPECT_EQ(page->count("event: snapshot"), 1U);
    EXPECT_NE(page->received.find("event: owner\ndata: {\"topic\":\"group:homes/billing\",\"p\":1,"
                                  "\"owner\":\"bob\",\"epoch\":7"),
              std::string::npos)
        << page->received;
    EXPECT_EQ(page->count("event: move"), 1U);
    EXPECT_EQ(page->count("\"state\":\"paused\""), 1U);
    EXPECT_EQ(page->count("event: request"), 1U);
    EXPECT_NE(page->received.find("\"id\":\"bob\",\"state\":\"active\""), std::string::npos);
}

TEST_F(LiveFeedTest, loses_nothing_that_changes_right_after_the_snapshot) {
    const auto page = open();
    group.write(std::string(processor::pause_key), "1");
    world.run_for(1500ms);

    EXPECT_EQ(page->count("\"state\":\"paused\""), 1U) << page->received;
}

TEST_F(LiveFeedTest, ticks_only_for_partitions_that_changed) {
    const auto page = open();
    world.run_for(20s);  // rates are back at 0
    page->received.clear();
    ASSERT_TRUE(world.append("homes", 1, {"a"}).ok());
    world.run_for(1s);

    EXPECT_EQ(page->count("event: tick"), 1U);
    EXPECT_NE(page->received.find("\"p\":[1],"), std::string::npos) << page->received;
    EXPECT_NE(page->received.find("\"end\":[0]"), std::string::npos);
}

TEST_F(LiveFeedTest, shares_frames_between_pages) {
    const auto one = open();
    const auto two = open();
    one->received.clear();
    two->received.clear();
    ASSERT_TRUE(world.append("homes", 1, {"a"}).ok());
    world.run_for(5s);

    EXPECT_FALSE(one->received.empty());
    EXPECT_EQ(one->received, two->received) << "with the same ids";
}

TEST_F(LiveFeedTest, drops_honestly_what_a_page_does_not_take) {
    const auto page = open();
    page->sleeps = true;
    for (int i = 0; i < 400; ++i) {
        ASSERT_TRUE(world.append("homes", 0, {"a"}).ok());
        world.run_for(1s);
    }
    page->sleeps = false;
    page->received.clear();
    page->take();

    const std::string begin = "event: dropped\ndata: {\"count\":";
    ASSERT_TRUE(page->received.starts_with(begin)) << page->received.substr(0, 200);
    EXPECT_GE(std::stoi(page->received.substr(begin.size())), 399);
    EXPECT_EQ(page->count("event: snapshot"), 1U);
}

TEST_F(LiveFeedTest, pings_a_page_that_hears_nothing) {
    const auto page = open();
    world.run_for(20s);
    page->received.clear();
    ASSERT_TRUE(world.scheduler.run_until([&] { return !page->received.empty(); }, 16s));
    world.run_for(30500ms);
    EXPECT_EQ(page->received, ": ping\n\n: ping\n\n: ping\n\n");
}

TEST_F(LiveFeedTest, ends_with_the_token) {
    bool may_stay = true;
    const auto page = open("overview", [&] { return may_stay; });
    world.run_for(3s);
    EXPECT_FALSE(page->is_over);
    may_stay = false;
    world.run_for(2s);
    EXPECT_TRUE(page->is_over);
}

TEST_F(LiveFeedTest, takes_a_bounded_number_of_pages) {
    std::vector<std::unique_ptr<Page>> pages;
    for (std::size_t i = 0; i < LiveFeed::clients_max; ++i) pages.push_back(open("overview"));
    const LiveFeed::Listener one_more{.topics = {{}},
                                      .reach = [](const std::string&) { return true; },
                                      .reach_name = "/",
                                      .may_stay = [] { return true; }};
    EXPECT_EQ(feed->open(one_more).error().code, ErrorCode::overloaded);
    pages.pop_back();
    EXPECT_TRUE(feed->open(one_more).ok());
}

TEST_F(LiveFeedTest, outlives_no_page_but_is_outlived_by_them) {
    const auto page = open();
    feed.reset();
    world.run_for(3s);
    page->stream.reset();
    EXPECT_EQ(page->count("event: snapshot"), 1U);
}

TEST(LiveTopics, are_parsed_strictly) {
    const auto topics = parse_topics("overview,group:a%2Fb/%24Default");
    ASSERT_TRUE(topics.ok());
    EXPECT_EQ((*topics)[1].hub, "a/b");
    EXPECT_EQ((*topics)[1].group, "$Default");
    for (const char* bad : {"", "all", "group:", "group:homes", "group:/g", "group:a/%zz"}) {
        EXPECT_FALSE(parse_topics(bad).ok()) << bad;
    }
    std::string many = "overview";
    for (int i = 0; i < 20; ++i) many += ",overview";
    EXPECT_FALSE(parse_topics(many).ok());
}

}  // namespace
}  // namespace evenkeel::dashboard
