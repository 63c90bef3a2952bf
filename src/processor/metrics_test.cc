#include "processor/metrics.h"

#include <gtest/gtest.h>

namespace evenkeel::processor {
namespace {

bool has(const std::string& text, const std::string& line) {
    return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(ProcessorMetrics, tell_lag_and_progress_of_each_partition) {
    ProcessorStatus status;
    status.members = 3;
    status.is_balanced = true;
    status.events_handled = 70;
    PartitionStatus& of_four = status.partitions.emplace_back();
    of_four.partition = 4;
    of_four.handled_sequence = 9;
    of_four.checkpoint_sequence = 7;
    of_four.last_enqueued_sequence = 20;
    of_four.events_handled = 10;
    of_four.failures = 2;
    of_four.dead_letters = 6;
    status.dead_letters = 8;

    const std::string text = "\n" + metrics_text(status, "homes", "billing");

    const std::string group = "{hub=\"homes\",group=\"billing\"} ";
    const std::string partition = "{hub=\"homes\",group=\"billing\",partition=\"4\"} ";
    EXPECT_TRUE(has(text, "evenkeel_processor_members" + group + "3")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_balanced" + group + "1")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_partitions" + group + "1")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_events_handled_total" + group + "70")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_lag_events" + partition + "11")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_checkpoint_sequence" + partition + "7")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_partition_failures_total" + partition + "2")) << text;
    EXPECT_TRUE(has(text, "evenkeel_processor_partition_dead_letters_total" + partition + "6"));
    EXPECT_TRUE(has(text, "evenkeel_processor_dead_letters_total" + group + "8")) << text;
}

TEST(ProcessorMetrics, tell_no_lag_that_is_not_known) {
    ProcessorStatus status;
    status.partitions.emplace_back().handled_sequence = 9;

    const std::string text = metrics_text(status, "homes", "$Default");

    EXPECT_EQ(text.find("evenkeel_processor_lag_events"), std::string::npos) << text;
}

TEST(ProcessorMetrics, escape_what_names_may_hold) {
    const std::string text = metrics_text({}, "ho\"mes\n", "a\\b");

    EXPECT_NE(text.find("hub=\"ho\\\"mes\\n\",group=\"a\\\\b\""), std::string::npos) << text;
}

}  // namespace
}  // namespace evenkeel::processor
