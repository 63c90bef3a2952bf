#include "demo/page_watch.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

TEST(PageWatch, reads_when_sensors_reported) {
    const auto known =
        parse_home(R"({"sensors":[{"place":"Hall","known":500},{"place":"Door","known":0}]})");

    ASSERT_TRUE(known);
    EXPECT_EQ(known->at("Hall"), 500);
    EXPECT_EQ(known->at("Door"), 0);
}

TEST(PageWatch, ignores_what_is_no_answer_of_the_page) {
    for (const char* text :
         {"", "{", "[]", "{}", R"({"sensors":1})", R"({"sensors":[1]})",
          R"({"sensors":[{"place":"Hall"}]})", R"({"sensors":[{"place":"Hall","known":"x"}]})"}) {
        EXPECT_FALSE(parse_home(text)) << text;
    }
}

TEST(PageWatch, judges_readings_outside_of_take_overs) {
    const std::vector<Sighting> seen = {{1000, 900}, {2000, 1100}, {5000, 7000}, {9000, 1000}};

    const auto figures = figures_of(seen, {{4000, 8000}});

    ASSERT_TRUE(figures);
    EXPECT_EQ(figures->count, 3U);
    EXPECT_EQ(figures->p50_ms, 1000);
    EXPECT_EQ(figures->p99_ms, 1100);
    EXPECT_EQ(figures->max_ms, 7000);
    EXPECT_FALSE(figures_of({}, {}));
    EXPECT_FALSE(figures_of({{5000, 7000}}, {{4000, 8000}}));
}

}  // namespace
}  // namespace evenkeel::demo
