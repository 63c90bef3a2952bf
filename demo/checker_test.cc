#include "demo/checker.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

using Kind = Report::Kind;

Report acknowledged(std::uint32_t producer, std::uint64_t number, std::uint64_t count) {
    return {.kind = Kind::acknowledged, .producer = producer, .number = number, .count = count};
}

Report read(std::int64_t sequence, std::uint32_t producer, std::uint64_t number,
            std::uint64_t count) {
    return {.kind = Kind::read,
            .producer = producer,
            .number = number,
            .count = count,
            .sequence = sequence};
}

// One partition, in which there were events up to number 9 before; two producers.
Verdict verdict_on(const std::vector<Report>& reports) {
    Checker checker(2, {9});
    for (const auto& report : reports) checker.take(report);
    Verdict verdict;
    checker.judge(verdict);
    return verdict;
}

TEST(Checker, accepts_a_complete_ordered_stream) {
    const auto verdict = verdict_on({acknowledged(0, 0, 10), acknowledged(1, 0, 5),
                                     read(10, 0, 0, 4), read(14, 1, 0, 5), read(19, 0, 4, 6)});

    EXPECT_TRUE(verdict.good());
    EXPECT_EQ(verdict.durable, 15u);
    EXPECT_EQ(verdict.handled, 15u);
}

TEST(Checker, accepts_events_read_but_not_acknowledged) {
    EXPECT_TRUE(verdict_on({read(10, 0, 0, 4)}).good());
}

TEST(Checker, counts_unread_acknowledged_events_as_lost) {
    const auto verdict = verdict_on({acknowledged(0, 0, 10), read(10, 0, 0, 3), read(13, 0, 5, 5)});

    EXPECT_EQ(verdict.lost, 2u);
    EXPECT_EQ(verdict.out_of_order, 0u) << "a producer may leave out what was refused";
}

TEST(Checker, counts_gaps_and_steps_back_as_out_of_order) {
    EXPECT_EQ(verdict_on({read(11, 0, 0, 3)}).out_of_order, 1u);
    EXPECT_EQ(verdict_on({read(10, 0, 5, 3), read(13, 0, 0, 3)}).out_of_order, 1u);
}

TEST(Checker, counts_each_repeated_event) {
    const auto verdict = verdict_on({read(10, 0, 0, 4), read(14, 0, 2, 4)});

    EXPECT_EQ(verdict.repeated, 2u);
    EXPECT_EQ(verdict.handled, 6u);
}

TEST(Checker, reports_events_of_unknown_origin) {
    const auto verdict = verdict_on({{.kind = Kind::foreign, .sequence = 10}, read(11, 0, 0, 1)});

    EXPECT_EQ(verdict.wrong_content, 1u);
    EXPECT_EQ(verdict.out_of_order, 0u);
}

TEST(Checker, fails_on_an_impossible_report) {
    Checker checker(1, {-1});

    checker.take({.kind = Kind::read, .partition = 1, .count = 1});

    EXPECT_TRUE(checker.traffic().failed);
    ASSERT_TRUE(checker.error());
    EXPECT_EQ(checker.error()->code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace evenkeel::demo
