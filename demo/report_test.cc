#include "demo/report.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

using Kind = Report::Kind;

Report through_a_line(const Report& report) {
    std::string line = to_line(report);
    EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line, and whole";
    line.pop_back();
    const auto parsed = parse_report(line);
    EXPECT_TRUE(parsed.ok()) << line;
    return parsed.ok() ? *parsed : Report{};
}

TEST(Report, survives_a_round_trip) {
    const auto report = through_a_line({.kind = Kind::acknowledged,
                                        .partition = 7,
                                        .producer = 3,
                                        .number = 1ull << 40,
                                        .count = 100,
                                        .sequence = -1,
                                        .took = std::chrono::milliseconds(3),
                                        .epoch = 4,
                                        .at_ms = 1'700'000'000'123});

    EXPECT_EQ(report.kind, Kind::acknowledged);
    EXPECT_EQ(report.partition, 7u);
    EXPECT_EQ(report.producer, 3u);
    EXPECT_EQ(report.number, 1ull << 40);
    EXPECT_EQ(report.count, 100u);
    EXPECT_EQ(report.sequence, -1);
    EXPECT_EQ(report.took, std::chrono::milliseconds(3));
    EXPECT_EQ(report.epoch, 4);
    EXPECT_EQ(report.at_ms, 1'700'000'000'123);
}

TEST(Report, keeps_an_error_on_its_line) {
    const auto report = through_a_line(
        {.kind = Kind::failed, .error = {ErrorCode::overloaded, "the disk\nis full"}});

    EXPECT_EQ(report.kind, Kind::failed);
    EXPECT_EQ(report.error.code, ErrorCode::overloaded);
    EXPECT_EQ(report.error.detail, "the disk is full");
}

TEST(Report, refuses_an_invalid_line) {
    for (const char* line :
         {"", "hello", "read", "read 1 2 3", "read 1 2 3 4 5 6", "read 1 2 3 4 5 6 7 8 9",
          "failed x", "read 99999999999 0 0 1 0 0 0 0"}) {
        EXPECT_FALSE(parse_report(line).ok()) << line;
    }
}

}  // namespace
}  // namespace evenkeel::demo
