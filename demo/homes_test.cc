#include "demo/homes.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

TEST(HomesReport, is_what_an_aggregator_wrote) {
    HomesNews news;

    const auto report = report_of(
        "wrote partition 7 epoch 3 sequences 100 711 window 1794964513000 memory 18", 5, news);

    ASSERT_TRUE(report);
    EXPECT_EQ(report->kind, Report::Kind::read);
    EXPECT_EQ(report->partition, 7U);
    EXPECT_EQ(report->epoch, 3);
    EXPECT_EQ(report->sequence, 100);
    EXPECT_EQ(report->number, 100U);
    EXPECT_EQ(report->count, 612U);
    EXPECT_EQ(report->at_ms, 5);
}

TEST(HomesReport, ignores_lines_that_are_cut_off) {
    HomesNews news;

    for (const char* line :
         {"", "wrote", "wrote partition", "wrote partition 7 epoch 3 sequences 9",
          "wrote partition -1 epoch 3 sequences 1 2", "wrote partition 7 epoch 3 sequences 5 4",
          "alarm home", "alarm home x", "alarm home 1 glass broke, known after"}) {
        EXPECT_FALSE(report_of(line, 0, news)) << line;
    }
    EXPECT_EQ(news.alarms.with([](auto& alarms) { return alarms.count; }), 0U);
}

TEST(HomesReport, counts_alarms_and_knows_the_slowest) {
    HomesNews news;

    report_of("alarm home 17 glass broke, Terrace door at 1794964536686, known after 42 ms", 0,
              news);
    report_of("alarm home 4 carbon monoxide, Boiler room at 1794964536686, known after 29 ms", 0,
              news);
    report_of("dead letter: partition 9, invalid_argument: not a reading", 0, news);

    const auto alarms = news.alarms.with([](auto& known) { return known; });
    EXPECT_EQ(alarms.dead_letters, 1U);
    EXPECT_EQ(alarms.count, 2U);
    EXPECT_EQ(alarms.slowest_ms, 42);
    EXPECT_EQ(alarms.last_home, 4U);
}

TEST(HomesReport, of_the_page_has_its_address) {
    HomesNews news;

    const auto report = report_of("ready: http://127.0.0.1:8090/home/0", 0, news);

    ASSERT_TRUE(report);
    EXPECT_EQ(report->kind, Report::Kind::ready);
    EXPECT_EQ(news.page.with([](auto& page) { return page; }), "http://127.0.0.1:8090/home/0");
}

TEST(HomesAggregates, of_each_run_have_a_folder) {
    EXPECT_EQ(aggregates_of_run("/tmp/a", 0xab), "/tmp/a/run-00000000000000ab");
    EXPECT_EQ(aggregates_of_run("azblob:UseDevelopmentStorage=true;Container=homes", 1),
              "azblob:UseDevelopmentStorage=true;Container=homes;Folder=run-0000000000000001");
}

TEST(HomesVerify, reads_the_result_of_verify) {
    const auto found = parse_aggregates(
        R"({"homes": 5, "events": 9, "aggregates_checked": 7, "aggregates_wrong": 1})");

    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->checked, 7U);
    EXPECT_EQ(found->wrong, 1U);
    EXPECT_EQ(found->events, 9U);
    EXPECT_FALSE(parse_aggregates("cannot open").ok());
    EXPECT_FALSE(parse_aggregates(R"({"aggregates_checked": -7, "aggregates_wrong": 1})").ok());
}

}  // namespace
}  // namespace evenkeel::demo
