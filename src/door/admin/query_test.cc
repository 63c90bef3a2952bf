#include "door/admin/query.h"

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

TEST(Query, is_decoded_by_name) {
    const auto query = parse_query("p=0,3&where=a+b%3D%22c%22&&whole", {"p", "where", "whole"});
    ASSERT_TRUE(query.ok());
    EXPECT_EQ(query->at("p"), "0,3");
    EXPECT_EQ(query->at("where"), "a b=\"c\"");
    EXPECT_EQ(query->at("whole"), "");
    EXPECT_TRUE(parse_query("", {})->empty());
}

TEST(Query, refuses_what_it_does_not_understand) {
    EXPECT_EQ(parse_query("a=%zz", {"a"}).error().detail, "the query has a bad escape");
    EXPECT_EQ(parse_query("a=1&a=2", {"a"}).error().detail, "'a' is there twice in the query");
    EXPECT_EQ(parse_query("b=1", {"a"}).error().detail, "nothing is known of 'b' in the query");
}

}  // namespace
}  // namespace evenkeel::door
