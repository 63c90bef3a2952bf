#include "cli/text/parked.h"

#include <cstdlib>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

const std::map<PartitionId, processor::Parked> parked = {
    {{3}, {.at_ms = 60'000, .is_storm = true, .by = "a", .reason = "20 in a row\x1b[2J"}}};

TEST(ParkedLines, tell_why_since_when_and_what_resumes) {
    unsetenv("EVENKEEL_STORE");
    EXPECT_EQ(
        parked_lines(parked, {"eh1", "$Default", "redis://h"}, 90'000),
        "partition 3: parked 30s ago: 20 in a row?[2J; 'evenkeel processor resume eh1 --store "
        "redis://h -p 3' resumes it\n");
    EXPECT_EQ(parked_lines(parked, {"eh1", "billing", "sqlite:a.db"}, 0),
              "partition 3: parked 0s ago: 20 in a row?[2J; 'evenkeel processor resume eh1 --group "
              "billing --store sqlite:a.db -p 3' resumes it\n");
    EXPECT_EQ(parked_lines({}, {}, 0), "");
}

TEST(GroupCommand, names_the_store_that_it_needs) {
    const auto command = [](const char* store) {
        return group_command("status", {"eh1", "$Default", store});
    };
    unsetenv("EVENKEEL_STORE");

    EXPECT_EQ(command("redis://u:secret@h"), "evenkeel status eh1 --store STORE");
    EXPECT_EQ(command("postgres://h/db?sslmode=disable"),
              "evenkeel status eh1 --store \"postgres://h/db?sslmode=disable\"");
    setenv("EVENKEEL_STORE", "redis://h", 1);
    EXPECT_EQ(command("redis://h"), "evenkeel status eh1");
    EXPECT_EQ(command("redis://other"), "evenkeel status eh1 --store redis://other");
    unsetenv("EVENKEEL_STORE");
}

TEST(ParkedJson, has_the_time_as_others_and_valid_text) {
    const std::map<PartitionId, processor::Parked> odd = {
        {{3}, {.at_ms = 60'000, .is_storm = false, .by = "a", .reason = "caf\xe9"}}};

    const auto json = parked_json(odd, {3});

    EXPECT_EQ(json.at("at").as_string(), "1970-01-01T00:01:00.000Z");
    EXPECT_EQ(json.at("reason").as_string(), "caf?");
}

TEST(ParkedJson, is_null_for_what_is_not_parked) {
    EXPECT_TRUE(parked_json(parked, {2}).is_null());
    EXPECT_EQ(parked_json(parked, {3}).at("by").as_string(), "a");
    EXPECT_TRUE(parked_json(parked, {3}).at("is_storm").as_bool());
}

}  // namespace
}  // namespace evenkeel::cli
