#include "commitlog/log_metrics.h"

#include <gtest/gtest.h>

namespace evenkeel::commitlog {
namespace {

TEST(LogMetrics, two_logs_of_a_hub_count_together) {
    Metrics registry;
    LogMetrics one(registry);
    LogMetrics other(registry);

    one.syncs.add();
    other.syncs.add();

    EXPECT_EQ(one.syncs.value(), 2u);
}

}  // namespace
}  // namespace evenkeel::commitlog
