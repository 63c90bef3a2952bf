#include "cli/text/top_view.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

using dashboard::GroupView;
using dashboard::MemberView;
using dashboard::PartitionView;

const TopPlace homes_place{"homes", "aggregator", true};

// Two owners, three partitions each, all on an even keel.
GroupView a_group() {
    GroupView view;
    for (const char* id : {"agg-7f2c", "agg-b91e"}) {
        MemberView member;
        member.id = id;
        member.state = "active";
        member.share = 3;
        member.in_per_s = 1800;
        view.members.push_back(member);
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
        PartitionView row;
        row.partition = i;
        row.owner = i < 3 ? "agg-7f2c" : "agg-b91e";
        row.phase = "owned";
        row.hub.in_per_s = 600;
        row.progress.position = 18'209'216;
        row.progress.behind_ms = 200 + 100 * i;
        row.stored_ms = 700;
        view.partitions.push_back(row);
    }
    view.moves.push_back(
        {{3}, {2}, 1'794'964'513'000, "agg-7f2c", "agg-b91e", "handed over: 'agg-b91e' joined"});
    return view;
}

Terminal terminal_of(int columns, int rows = 24) {
    return {.is_terminal = true, .utf8 = true, .rows = rows, .columns = columns};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

TEST(TopView, shows_the_whole_picture) {
    const auto lines = lines_of(top_text(a_group(), homes_place, terminal_of(100)));

    ASSERT_EQ(lines.size(), 10U);
    EXPECT_EQ(lines[0],
              "On an even keel. 2 owners share 6 partitions. Nobody is more than 0.7 s behind.");
    EXPECT_EQ(lines[1], "A agg-7f2c  3  1,800/s   B agg-b91e  3  1,800/s");
    EXPECT_NE(lines[3].find("▇ A "), std::string::npos) << lines[3];
    EXPECT_NE(lines[3].find("18,209,216  0.7 s ago"), std::string::npos) << lines[3];
    EXPECT_NE(lines[8].find("B  "), std::string::npos) << lines[8];
    EXPECT_NE(lines[9].find("  3  A → B  handed over: 'agg-b91e' joined"), std::string::npos);
}

TEST(TopView, fits_every_width) {
    GroupView view = a_group();
    view.partitions[1].state = "parked";
    view.partitions[1].progress.behind_ms = 7'200'000;
    view.partitions[2].owner.reset();
    for (int columns = 20; columns <= 140; ++columns) {
        for (const auto& line : lines_of(top_text(view, homes_place, terminal_of(columns)))) {
            EXPECT_LE(width(line), static_cast<std::size_t>(std::max(columns, 40)))
                << columns << ": " << line;
        }
    }
}

TEST(TopView, is_readable_in_forty_columns) {
    const auto lines = lines_of(top_text(a_group(), homes_place, terminal_of(40)));

    EXPECT_EQ(lines[0], "On an even keel. 2 owners share 6");
    EXPECT_EQ(lines[1], "partitions. Nobody is more than 0.7 s");
    const auto row = std::ranges::find_if(
        lines, [](const std::string& line) { return line.starts_with("0  "); });
    ASSERT_NE(row, lines.end());
    EXPECT_NE(row->find("0.2 s"), std::string::npos) << *row;
    EXPECT_TRUE(row->ends_with(" A")) << *row;
}

TEST(TopView, shows_what_needs_somebody_first_where_rows_are_few) {
    GroupView view = a_group();
    view.partitions[4].state = "stalled";

    const auto lines = lines_of(top_text(view, homes_place, terminal_of(100, 8)));

    EXPECT_LE(lines.size(), 7U) << "one more line is the header";
    EXPECT_EQ(lines[0], "1 partition needs you: 4 is stalled.");
    EXPECT_TRUE(lines[3].starts_with("4 ")) << lines[3];
    EXPECT_NE(lines[3].find("x stalled"), std::string::npos) << lines[3];
    EXPECT_TRUE(lines[4].starts_with("0 ")) << lines[4];
    EXPECT_EQ(lines[5], "... 4 partitions not shown");
}

TEST(TopView, says_that_a_partition_stands_still_beyond_its_end) {
    GroupView view = a_group();
    view.partitions[2].progress.is_beyond_end = true;
    view.partitions[2].progress.behind_ms.reset();

    const auto lines = lines_of(top_text(view, homes_place, terminal_of(100)));

    EXPECT_EQ(lines[0], "1 partition needs you: 2 stands still behind the last event.");
    EXPECT_NE(lines[5].find("beyond end"), std::string::npos) << lines[5];
}

TEST(TopView, warns_of_loss_when_half_of_what_is_kept_is_used) {
    GroupView view = a_group();
    view.retention_ms = 3'600'000;
    view.partitions[4].loss_s = 3599;
    EXPECT_TRUE(top_verdict(view, homes_place).starts_with("On an even keel."));
    view.partitions[4].loss_s = 1799;
    view.partitions[4].state = "paused";
    EXPECT_EQ(top_verdict(view, homes_place),
              "1 partition needs you: 4 loses events in 29 min 59 s.");
    view.retention_ms = 86'400'000;
    view.partitions[4].loss_s = 3599;
    EXPECT_EQ(top_verdict(view, homes_place),
              "1 partition needs you: 4 loses events in 59 min 59 s.");
}

TEST(TopView, says_who_is_silent_and_what_comes_next) {
    GroupView view = a_group();
    view.members[1].state = "silent";
    view.members[1].silent_ms = 4100;
    EXPECT_EQ(top_verdict(view, homes_place), "agg-b91e is silent for 4.1 s. It has 3 partitions.");
    view.members[1].dead_after_ms = 6000;
    EXPECT_EQ(top_verdict(view, homes_place), "agg-b91e is silent for 4.1 s. Take-over in 1.9 s.");
    view.members.clear();
    EXPECT_EQ(top_verdict(view, homes_place), "Nobody reads homes / aggregator.");
}

TEST(TopView, has_nothing_of_hostile_names_but_their_text) {
    GroupView view = a_group();
    view.members[0].id = "\x1b[2J\r\nevil\x07";
    view.partitions[0].owner = view.members[0].id;
    view.moves[0].reason = "\x1b]0;owned\x07";
    view.moves[0].from = std::string(4000, 'x');

    const std::string text = top_text(view, {"\x1b[31m", "\n", true}, terminal_of(80));

    for (const char control : {'\x1b', '\r', '\x07'}) {
        EXPECT_EQ(text.find(control), std::string::npos) << static_cast<int>(control);
    }
    for (const auto& line : lines_of(text)) EXPECT_LE(width(line), 80U) << line;
}

TEST(TopView, writes_unknown_values_as_a_dash) {
    GroupView view = a_group();
    view.partitions[0].progress = {};
    view.partitions[0].stored_ms.reset();

    const auto lines = lines_of(top_text(view, {"homes", "aggregator", false}, terminal_of(100)));

    EXPECT_EQ(lines[1], "A agg-7f2c  3   B agg-b91e  3");
    EXPECT_TRUE(lines[3].ends_with("-  -")) << lines[3];
}

TEST(TopView, shows_spans_as_the_page_does) {
    EXPECT_EQ(span_text(240), "0.2 s");
    EXPECT_EQ(span_text(9990), "9.9 s");
    EXPECT_EQ(span_text(46'000), "46 s");
    EXPECT_EQ(span_text(74'000), "1 min 14 s");
    EXPECT_EQ(span_text(19'740'000), "5 h 29 min");
    EXPECT_EQ(span_text(273'600'000), "3 d 4 h");
    EXPECT_EQ(span_text(-5), "0.0 s");
}

}  // namespace
}  // namespace evenkeel::cli
