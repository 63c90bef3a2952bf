#include "checkpoint/own/entries.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

OwnKeys some_keys() {
    return OwnKeys::of({"Localhost", "Homes", "$Default"}).value();
}

TEST(OwnStoreKeys, have_parts_that_are_safe_as_names_of_files) {
    EXPECT_EQ(some_keys().checkpoint({7}), "localhost/homes/%24default/checkpoint/7");
    EXPECT_EQ(some_keys().member("..").value(), "localhost/homes/%24default/member/%2E.");
    EXPECT_EQ(some_keys().member("a/b").value(), "localhost/homes/%24default/member/a%2Fb");
    EXPECT_EQ(some_keys().record("moves/2"), "localhost/homes/%24default/record/moves~2");
    EXPECT_EQ(OwnKeys::of({"h", "", "g"}).value().kind("member"), "h/%/g/member/");
    EXPECT_EQ(some_keys().dead_letter({1}, {-1}), "localhost/homes/%24default/dead/1/-1");
}

TEST(OwnStoreKeys, refuse_names_that_are_too_long) {
    const std::string name(251, 'n');

    EXPECT_EQ(OwnKeys::of({"h", name, "g"}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(some_keys().member(name).error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(some_keys().member(name.substr(1)).ok());
    EXPECT_EQ(some_keys().record(std::string(200, '/')).size(),
              some_keys().kind("record").size() + 200);
}

TEST(OwnStoreValues, are_the_bytes_that_the_format_names) {  // docs/formats/own_store.md
    EXPECT_EQ(to_value(Ownership{
                  .partition = {3}, .owner = "alice", .epoch = {7}, .since_ms = 5, .load = 0.5}),
              "5:alice,1:7,1:5,3:0.5,");
    EXPECT_EQ(to_value(Checkpoint{.partition = {3},
                                  .sequence = {41},
                                  .offset = "4100",
                                  .epoch = {7},
                                  .attempts = 2,
                                  .hub_created_ms = 1,
                                  .enqueued_ms = 2,
                                  .written_ms = 3}),
              "2:41,4:4100,1:7,1:2,1:1,1:2,1:3,");
    EXPECT_EQ(to_value(Member{.id = "alice",
                              .incarnation = "i1",
                              .since_ms = 5,
                              .note = "host:1",
                              .restarts = 2,
                              .generation = 9,
                              .expecting = true,
                              .offers = {{{2}, "bob"}}}),
              "2:i1,6:active,1:5,6:host:1,1:2,1:9,1:1,8:2:3:bob;,");
}

TEST(OwnStoreValues, that_are_damaged_are_reported_with_their_key) {
    for (const std::string value : {"", "x", "1:7,", "5:alice,1:x,1:5,3:0.5,", "99:alice,"}) {
        const CheckpointStore::Entry entry{"h/e/g/ownership/3", value, "1", {}};

        const auto read = ownership_of(entry);

        ASSERT_FALSE(read.ok()) << value;
        EXPECT_EQ(read.error().code, ErrorCode::corrupt);
        EXPECT_NE(read.error().detail.find("h/e/g/ownership/3"), std::string::npos);
        EXPECT_FALSE(checkpoint_of({"h/e/g/checkpoint/x", value, "1", {}}).ok());
        EXPECT_FALSE(member_of({"h/e/g/member/x", value, "1", {}}).ok());
        EXPECT_FALSE(dead_letter_of({"h/e/g/dead/1/2", value, "1", {}}).ok());
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
