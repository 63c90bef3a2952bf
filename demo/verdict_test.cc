#include "demo/verdict.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

Verdict a_verdict() {
    Verdict verdict;
    verdict.seconds = 10;
    verdict.usage = {
        {.name = "hub", .processes = 1, .cpu_seconds = 4, .memory_mb_max = 61},
        {.name = "aggregators", .processes = 3, .cpu_seconds = 6.5, .memory_mb_max = 20}};
    return verdict;
}

bool has_line(const Verdict& verdict, const std::string& part) {
    for (const auto& line : lines(verdict, {})) {
        if (line.find(part) != std::string::npos) return true;
    }
    return false;
}

TEST(Verdict, shows_cores_and_memory_by_kind_of_process) {
    const auto verdict = a_verdict();

    EXPECT_DOUBLE_EQ(verdict.cores(), 1.05);
    EXPECT_TRUE(has_line(verdict, "1.05 cores   hub 0.40, 3 aggregators 0.65"));
    EXPECT_TRUE(has_line(verdict, "61 MB   at most: hub 61, 3 aggregators each 20"));
    const std::string json = to_json(verdict);
    EXPECT_NE(
        json.find("\"cores\": 1.050, \"cpu_seconds\": {\"hub\": 4.00, \"aggregators\": 6.50}, "
                  "\"memory_mb_max\": {\"hub\": 61, \"aggregators\": 20}}"),
        std::string::npos)
        << json;
}

TEST(Verdict, shows_how_old_news_was_on_the_page) {
    auto verdict = a_verdict();
    EXPECT_NE(to_json(verdict).find("\"page_p99_ms\": null"), std::string::npos);
    EXPECT_FALSE(has_line(verdict, "on the page"));

    verdict.page = PageFigures{.count = 9, .p50_ms = 1040, .p99_ms = 2100, .max_ms = 6900};

    EXPECT_TRUE(has_line(verdict, "2.1 s   after the sensor (p99 of 9; p50 1.0 s); 6.9 s at most"));
    EXPECT_NE(to_json(verdict).find("\"page_p50_ms\": 1040, \"page_p99_ms\": 2100, "
                                    "\"page_ms_max\": 6900, "),
              std::string::npos);
}

}  // namespace
}  // namespace evenkeel::demo
