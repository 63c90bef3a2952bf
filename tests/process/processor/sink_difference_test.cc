#include "process/processor/sink_difference.h"

#include <gtest/gtest.h>

namespace evenkeel::test {
namespace {

const std::vector<LogEntry> log_of_three = {{0, "7"}, {1, "14"}, {2, "21"}};

SinkTotal total_of(const std::vector<std::string>& bodies) {
    SinkTotal total;
    for (const std::string& body : bodies) total = with_event(total, body);
    return total;
}
const SinkTotal good_total = total_of({"7", "14", "21"});

TEST(SinkDifference, is_none_for_each_event_once_in_order) {
    const std::vector<SinkRow> rows = {{0, "7", "a", 1}, {1, "14", "a", 1}, {2, "21", "b", 2}};

    EXPECT_EQ(compare_with_log(log_of_three, rows, good_total), SinkDifference{});
    EXPECT_EQ(describe(SinkDifference{}), "none");
}

TEST(SinkDifference, a_repeat_counts_wherever_it_stands) {
    const std::vector<SinkRow> in_the_middle = {
        {0, "7", "a", 1}, {0, "7", "b", 2}, {1, "14", "b", 2}, {2, "21", "b", 2}};
    const std::vector<SinkRow> at_the_end = {
        {0, "7", "a", 1}, {1, "14", "a", 1}, {2, "21", "a", 1}, {2, "21", "b", 2}};

    for (const auto& rows : {in_the_middle, at_the_end}) {
        EXPECT_EQ(compare_with_log(log_of_three, rows, good_total), SinkDifference{.repeated = 1});
    }
}

TEST(SinkDifference, names_each_kind) {
    const auto compared = [](const std::vector<SinkRow>& rows, const SinkTotal& total) {
        return describe(compare_with_log(log_of_three, rows, total));
    };

    EXPECT_EQ(compared({{0, "7", "a", 1}, {2, "21", "a", 1}}, total_of({"7", "21"})),
              "1 missing, 1 other totals");
    EXPECT_EQ(compared({}, {}), "3 missing, 1 other totals");
    EXPECT_EQ(compared({{0, "7", "a", 1}, {2, "21", "a", 1}, {1, "14", "a", 1}}, good_total),
              "1 disordered");
    EXPECT_EQ(compared({{0, "7", "a", 1}, {1, "15", "a", 1}, {2, "21", "a", 1}}, good_total),
              "1 other values");
    EXPECT_EQ(compared({{0, "7", "b", 2}, {1, "14", "a", 1}, {2, "21", "b", 2}}, good_total),
              "1 past the fence");
    EXPECT_EQ(compared({{0, "7", "a", 1}, {1, "14", "a", 1}, {2, "21", "a", 1}, {3, "28", "a", 1}},
                       good_total),
              "1 unknown");
}

}  // namespace
}  // namespace evenkeel::test
