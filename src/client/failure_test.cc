#include "client/failure.h"

#include <gtest/gtest.h>

namespace evenkeel::client {
namespace {

using namespace std::chrono_literals;

Failure of(std::string name, std::string text = "why") {
    return failure_of(amqp::Condition{std::move(name), std::move(text)});
}

TEST(Failure, retries_only_temporary_conditions) {
    for (const auto* const name :
         {"com.microsoft:server-busy", "com.microsoft:timeout", "com.microsoft:entity-updated",
          "amqp:link:detach-forced", "amqp:connection:forced", "amqp:connection:framing-error",
          "amqp:internal-error", "amqp:illegal-state", "never:heard-of"}) {
        EXPECT_TRUE(of(name).retry) << name;
        EXPECT_TRUE(is_retriable(of(name).error)) << name;
    }
    for (const auto* const name :
         {"amqp:link:stolen", "amqp:not-found", "amqp:unauthorized-access",
          "com.microsoft:auth-failed", "com.microsoft:argument-error",
          "com.microsoft:argument-out-of-range", "amqp:link:message-size-exceeded",
          "amqp:resource-limit-exceeded", "com.microsoft:entity-disabled", "amqp:not-allowed",
          "com.microsoft:producer-epoch-stolen"}) {
        EXPECT_FALSE(of(name).retry) << name;
    }
}

TEST(Failure, has_the_code_of_an_embedded_hub) {
    EXPECT_EQ(of("amqp:link:stolen").error.code, ErrorCode::fenced);
    EXPECT_EQ(of("amqp:not-found").error.code, ErrorCode::not_found);
    EXPECT_EQ(of("amqp:unauthorized-access").error.code, ErrorCode::not_allowed);
    EXPECT_EQ(of("amqp:resource-limit-exceeded").error.code, ErrorCode::overloaded);
    EXPECT_EQ(of("com.microsoft:argument-out-of-range").error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(of("com.microsoft:argument-out-of-range",
                 "The specified partition is invalid for an EventHub partition sender")
                  .error.code,
              ErrorCode::not_found);
}

TEST(Failure, waits_four_seconds_for_a_busy_hub) {
    EXPECT_EQ(of("com.microsoft:server-busy").delay_min, Duration(4s));
    EXPECT_EQ(of("com.microsoft:timeout").delay_min, Duration(0));
}

TEST(Failure, keeps_the_description_or_else_the_condition) {
    EXPECT_EQ(of("amqp:not-found", "no such thing").error.detail, "no such thing");
    EXPECT_EQ(of("amqp:not-found", "").error.detail, "amqp:not-found");
    EXPECT_TRUE(failure_of(std::nullopt).retry);
}

TEST(Failure, of_a_status_uses_its_condition_or_else_its_code) {
    EXPECT_EQ(failure_of_status(404, "", "x").error.code, ErrorCode::not_found);
    EXPECT_EQ(failure_of_status(401, "", "x").error.code, ErrorCode::not_allowed);
    EXPECT_TRUE(failure_of_status(503, "", "x").retry);
    EXPECT_TRUE(failure_of_status(500, "", "x").retry);
    EXPECT_EQ(failure_of_status(500, "amqp:not-found", "x").error.code, ErrorCode::not_found);
}

TEST(Failure, of_damaged_events_has_the_last_of_them) {
    const auto of = [](std::string name, std::string text) {
        return failure_of(amqp::Condition{std::move(name), std::move(text)});
    };
    const Failure damage =
        of("amqp:internal-error", "events 17 to 19 in x.log are damaged (...) TrackingId:1");

    EXPECT_EQ(damage.error.code, ErrorCode::corrupt);
    EXPECT_EQ(damage.damaged_to, 19);
    EXPECT_FALSE(damage.retry);
    for (const auto* const text : {"", "events 17 to x are damaged", "events 17", "a bug",
                                   "events 1 to 99999999999999999999 are damaged"}) {
        EXPECT_FALSE(of("amqp:internal-error", text).damaged_to) << text;
        EXPECT_TRUE(of("amqp:internal-error", text).retry) << text;
    }
    EXPECT_FALSE(of("amqp:not-found", "events 1 to 2 are damaged").damaged_to);
}

TEST(Failure, doubles_the_retry_delay_up_to_a_limit) {
    Random random(1);
    const RetryOptions options{.delay = 100ms, .delay_max = 1s};
    const auto near = [&](std::uint32_t retry, Duration expected) {
        const Duration delay = retry_delay(options, retry, random);
        return delay >= expected * 8 / 10 && delay <= expected * 12 / 10;
    };

    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(near(1, 100ms));
        EXPECT_TRUE(near(2, 200ms));
        EXPECT_TRUE(near(4, 800ms));
        EXPECT_TRUE(near(5, 1s));
        EXPECT_TRUE(near(4'000'000'000, 1s));
    }
}

}  // namespace
}  // namespace evenkeel::client
