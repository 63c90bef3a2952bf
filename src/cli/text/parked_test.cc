#include "cli/text/parked.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

const std::map<PartitionId, processor::Parked> parked = {
    {{3}, {.at_ms = 60'000, .is_storm = true, .by = "a", .reason = "20 in a row\x1b[2J"}}};

TEST(ParkedLines, tell_why_since_when_and_what_resumes) {
    EXPECT_EQ(parked_lines(parked, {"eh1", "$Default", "redis://u:secret@h"}, 90'000),
              "partition 3: parked 30s ago: 20 in a row?[2J; 'evenkeel processor resume eh1 -p 3' "
              "resumes it\n");
    EXPECT_EQ(parked_lines(parked, {"eh1", "billing", "sqlite:a.db"}, 0),
              "partition 3: parked 0s ago: 20 in a row?[2J; 'evenkeel processor resume eh1 --group "
              "billing --store sqlite:a.db -p 3' resumes it\n");
    EXPECT_EQ(parked_lines({}, {}, 0), "");
}

TEST(ParkedJson, is_null_for_what_is_not_parked) {
    EXPECT_TRUE(parked_json(parked, {2}).is_null());
    EXPECT_EQ(parked_json(parked, {3}).at("by").as_string(), "a");
    EXPECT_TRUE(parked_json(parked, {3}).at("is_storm").as_bool());
}

}  // namespace
}  // namespace evenkeel::cli
