#include "dashboard/explain.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/text.h"
#include "io/file.h"
#include "io/system/files.h"
#include "support/paths.h"

namespace evenkeel::dashboard {
namespace {

GroupView two_members() {
    GroupView view;
    view.members = {{.id = "ada", .state = "active", .host = "", .share = 1},
                    {.id = "bob", .state = "active", .host = "", .share = 1}};
    view.partitions.resize(2);
    view.partitions[0] = {
        .partition = 0, .owner = "ada", .epoch = 3, .owned_since_ms = 1000, .phase = "owned"};
    view.partitions[1] = {.partition = 1, .owner = "bob", .epoch = 1, .phase = "owned"};
    view.moves = {{{0}, {3}, 1000, "bob", "ada", "handed over: 'ada' joined"}};
    return view;
}

std::string origin(std::string from, std::string to, std::string reason,
                   std::optional<std::int64_t> gap_ms, std::optional<std::int64_t> repeated) {
    GroupView view = two_members();
    view.moves = {
        {{0}, {3}, 1000, std::move(from), std::move(to), std::move(reason), gap_ms, repeated}};
    return explain(view, 0).front();
}

// The page's tests and pictures show these sentences, so they must be the server's.
TEST(Explain, says_what_the_page_is_tested_with) {
    GroupView view;
    view.members = {{.id = "agg-7f2c", .state = "active", .host = "", .share = 6},
                    {.id = "agg-b91e", .state = "active", .host = "", .share = 5},
                    {.id = "agg-03da", .state = "active", .host = "", .share = 5}};
    view.partitions.resize(16);
    view.partitions[11] = {.partition = 11, .owner = "agg-03da", .epoch = 14, .phase = "owned"};
    view.partitions[11].state = "stalled";
    view.moves = {{{11}, {14}, 1, "agg-7f2c", "agg-03da", "handed over: 'agg-03da' joined", 41, 0}};

    io::system::SystemFiles files;
    const auto bytes =
        io::read_file(files, test::source_path("tests/dashboard/support/explain.json"), 1 << 20);
    ASSERT_TRUE(bytes.ok());
    std::vector<std::string> shown;
    const auto answer = boost::json::parse(std::string(as_text(*bytes)));
    for (const auto& each : answer.at("sentences").as_array()) shown.emplace_back(each.as_string());
    EXPECT_EQ(explain(view, 11), shown);
}

TEST(Explain, says_whence_it_came_and_what_that_cost) {
    EXPECT_EQ(origin("bob", "ada", "taken over: 'bob' has not been heard of", 6800, 212),
              "It was taken over from bob, which was silent; nobody read it for 6.8 s and 212 "
              "events repeated.");
    EXPECT_EQ(origin("bob", "ada", "handed over: 'bob' stops", {}, 1),
              "It came from bob, which stopped; 1 event repeated.");
    EXPECT_EQ(origin("bob", "ada", "handed over: 'ada' joined", 41, 0),
              "It came from bob when ada joined; nobody read it for 41 ms and nothing repeated.");
    EXPECT_EQ(origin("bob", "ada", "handed over: shares differ", {}, {}),
              "It came from bob because shares differed.");
    EXPECT_EQ(origin("bob", "ada", "handed over: loads differ", {}, {}),
              "It came from bob because loads differed.");
    EXPECT_EQ(origin("bob", "ada", "handed over for balance, 2 members", {}, {}),
              "It came from bob (handed over for balance, 2 members).");
    EXPECT_EQ(origin("", "ada", "nobody had it before", {}, {}), "Nobody had it before ada.");
    EXPECT_EQ(origin("ada", "ada", "taken up again after a restart", 74'000, {}),
              "ada had it before it was restarted; nobody read it for 1 min 14 s.");
    EXPECT_EQ(origin("bob", "", "released: 'bob' stops", {}, {}), "bob gave it up.");
    EXPECT_EQ(explain(two_members(), 1).front(),
              "No move of it is in the journal: it has been here for longer than that.");
}

TEST(Explain, says_why_it_stays_or_where_it_goes) {
    GroupView view = two_members();
    const auto future = [&](std::uint32_t partition) { return explain(view, partition)[1]; };
    EXPECT_EQ(future(0),
              "It stays: shares are 1 and 1. A fair share of 2 among 2 is 1, so moving it would "
              "make nothing more even.");
    view.members[0].share = 4;
    EXPECT_EQ(future(0), "Shares are 4 and 1, so partitions still move, one after another.");
    view.partitions[0].phase = "offered";
    view.partitions[0].next = "bob";
    EXPECT_EQ(future(0),
              "It is on its way to bob: it moves when its handler has ended and its checkpoint is "
              "stored.");
    view.members[1].state = "silent";
    view.partitions[1].next = "ada";
    EXPECT_EQ(future(1), "If its owner stays silent, ada takes it.");
    view.partitions[1].owner.reset();
    EXPECT_EQ(future(1), "It is free: ada takes it.");
    view.members.pop_back();
    view.partitions[0].phase = "owned";
    EXPECT_EQ(future(0), "It stays: there is no other member.");
}

TEST(Explain, says_why_a_partition_stands_still) {
    GroupView view = two_members();
    view.partitions[0].state = "parked";
    EXPECT_EQ(explain(view, 0).back(), "It is parked: nobody reads it until it is resumed.");
}

TEST(Explain, has_no_control_characters_of_names) {
    EXPECT_EQ(origin("b\x1b[31mob", "ada", "for\nfun", {}, {}), "It came from b?[31mob (for?fun).");
}

TEST(Explain, knows_only_partitions_that_there_are) {
    EXPECT_TRUE(explain(two_members(), 2).empty());
}

}  // namespace
}  // namespace evenkeel::dashboard
