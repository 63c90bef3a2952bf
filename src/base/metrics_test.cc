#include "base/metrics.h"

#include <thread>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Metrics, the_same_name_and_labels_give_the_same_metric) {
    Metrics metrics;

    auto& first = metrics.counter("sent_total", "Events sent.", {{"hub", "a"}});
    auto& again = metrics.counter("sent_total", "ignored", {{"hub", "a"}});
    auto& other = metrics.counter("sent_total", "ignored", {{"hub", "b"}});

    EXPECT_EQ(&first, &again);
    EXPECT_NE(&first, &other);
}

TEST(Metrics, counters_add_and_gauges_move_both_ways) {
    Metrics metrics;
    auto& counter = metrics.counter("sent_total", "");
    auto& gauge = metrics.gauge("links", "");

    counter.add();
    counter.add(4);
    gauge.set(3);
    gauge.add(-5);

    EXPECT_EQ(counter.value(), 5u);
    EXPECT_EQ(gauge.value(), -2);
}

TEST(Metrics, are_counted_from_many_threads) {
    Metrics metrics;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                auto& counter = metrics.counter("sent_total", "");
                for (int n = 0; n < 10'000; ++n) counter.add();
            });
        }
    }

    EXPECT_EQ(metrics.counter("sent_total", "").value(), 40'000u);
}

TEST(Metrics, text_is_what_prometheus_reads) {
    Metrics metrics;
    metrics.gauge("links", "Open links.").set(2);
    metrics.counter("events_total", "Events.", {{"hub", "b"}}).add(7);
    metrics.counter("events_total", "", {{"hub", "a"}, {"way", "in"}}).add(1);

    EXPECT_EQ(metrics.to_text(),
              "# HELP events_total Events.\n"
              "# TYPE events_total counter\n"
              "events_total{hub=\"a\",way=\"in\"} 1\n"
              "events_total{hub=\"b\"} 7\n"
              "# HELP links Open links.\n"
              "# TYPE links gauge\n"
              "links 2\n");
}

TEST(Metrics, label_values_are_escaped) {
    Metrics metrics;
    metrics.counter("events_total", "", {{"hub", "a\"b\\c\nd"}}).add();

    EXPECT_NE(metrics.to_text().find(R"(events_total{hub="a\"b\\c\nd"} 1)"), std::string::npos)
        << metrics.to_text();
}

TEST(Metrics, histogram_text_has_rising_buckets_sum_and_count) {
    Metrics metrics;
    auto& histogram = metrics.histogram("sync_seconds", "Syncs.", {{"disk", "0"}});
    histogram.observe(1'000);          // 1 microsecond
    histogram.observe(3'000);          // up to 4
    histogram.observe(1'000'000'000);  // 1 second

    const std::string text = metrics.to_text();
    for (const char* line :
         {"sync_seconds_bucket{disk=\"0\",le=\"0.000001\"} 1\n",
          "sync_seconds_bucket{disk=\"0\",le=\"0.000002\"} 1\n",
          "sync_seconds_bucket{disk=\"0\",le=\"0.000004\"} 2\n",
          "sync_seconds_bucket{disk=\"0\",le=\"+Inf\"} 3\n",
          "sync_seconds_sum{disk=\"0\"} 1.000004000\n", "sync_seconds_count{disk=\"0\"} 3\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
}

TEST(Histogram, quantile_is_the_bound_of_its_bucket) {
    Histogram histogram;
    EXPECT_EQ(histogram.quantile_seconds(0.5), 0);

    for (int i = 0; i < 99; ++i) histogram.observe(900);
    histogram.observe(1'000'000);

    EXPECT_EQ(histogram.count(), 100u);
    EXPECT_DOUBLE_EQ(histogram.quantile_seconds(0.5), 1e-6);
    EXPECT_DOUBLE_EQ(histogram.quantile_seconds(0.99), 1e-6);
    EXPECT_DOUBLE_EQ(histogram.quantile_seconds(1), 1024e-6);
}

TEST(Histogram, takes_times_of_nothing_and_of_hours) {
    Histogram histogram;

    histogram.observe(0);
    histogram.observe(-5);
    histogram.observe(std::int64_t{3'600'000'000'000});

    EXPECT_EQ(histogram.count(), 3u);
    EXPECT_DOUBLE_EQ(histogram.quantile_seconds(0.5), 1e-6);
    EXPECT_GT(histogram.quantile_seconds(1), 67);
}

}  // namespace
}  // namespace evenkeel
