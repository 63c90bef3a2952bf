#include "door/quotas.h"

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1'000'000'000};

TEST(Quotas, count_a_message_for_all_that_it_falls_under_or_for_none) {
    const Quotas quotas({.events_per_second = 100},
                        {{"app", "", {.events_per_second = 10}},
                         {"", "orders", {.bytes_per_second = 1000}},
                         {"other", "", {.events_per_second = 1}},
                         {"app", "orders", {.events_per_second = 5}}},
                        start);
    const auto of = quotas.of("app", "orders");
    ASSERT_EQ(of.size(), 4u);

    EXPECT_FALSE(take(of, 5, 100, start));
    const auto excess = take(of, 1, 100, start);

    ASSERT_TRUE(excess);
    EXPECT_EQ(excess->quota->name(), "key 'app' at event hub 'orders'");
    EXPECT_EQ(excess->limit, "events_per_second = 5");
    // What was refused was taken from nobody.
    EXPECT_FALSE(take(quotas.of("app", "else"), 5, 100, start));
    EXPECT_EQ(take(quotas.of("app", "else"), 1, 1, start)->quota->name(), "key 'app'");
    EXPECT_FALSE(take(quotas.of("", "orders"), 1, 900, start));
    EXPECT_EQ(take(quotas.of("", "orders"), 1, 1, start)->limit, "bytes_per_second = 1000");
}

TEST(Quotas, without_a_rate_are_not_asked_for_one) {
    const Quotas quotas({}, {{"app", "", {}, 1}, {"", "orders", {}, 2}}, start);

    EXPECT_TRUE(quotas.of("app", "orders").empty());
    EXPECT_EQ(quotas.of_key("app")->options().connections_max, 1u);
    EXPECT_EQ(quotas.of_hub("orders")->options().connections_max, 2u);
    EXPECT_EQ(quotas.of_key("other"), nullptr);
    EXPECT_EQ(quotas.of_key(""), nullptr);
    EXPECT_EQ(quotas.of_hub("other"), nullptr);
}

TEST(Quotas, that_stay_keep_count_when_others_change) {
    Quotas quotas({}, {{"app", "", {.events_per_second = 10}, 2}}, start);
    const auto before = quotas.generation();
    const Place place(quotas.of_key("app"));
    EXPECT_FALSE(take(quotas.of("app", ""), 20, 0, start));

    quotas.change({}, {{"", "orders", {}, 1}, {"app", "", {.events_per_second = 10}, 1}}, start);

    EXPECT_GT(quotas.generation(), before);
    EXPECT_TRUE(take(quotas.of("app", ""), 1, 0, start));
    EXPECT_TRUE(quotas.of_key("app")->is_full());
    quotas.change({}, {{"app", "", {.events_per_second = 11}, 2}}, start);
    EXPECT_FALSE(take(quotas.of("app", ""), 1, 0, start));
    EXPECT_FALSE(quotas.of_key("app")->is_full());
    EXPECT_EQ(quotas.of_hub("orders"), nullptr);
}

}  // namespace
}  // namespace evenkeel::door
