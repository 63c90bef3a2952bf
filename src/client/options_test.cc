#include "client/options.h"

#include <gtest/gtest.h>

namespace evenkeel::client {
namespace {

TEST(ConnectionOptions, take_the_event_hub_from_string_or_option) {
    const auto inside = connection_options({.connection = "amqp://localhost/homes"});
    const auto beside =
        connection_options({.connection = "amqp://localhost", .event_hub = "homes"});

    ASSERT_TRUE(inside.ok());
    ASSERT_TRUE(beside.ok());
    EXPECT_EQ(inside->target.event_hub, "homes");
    EXPECT_EQ(beside->target.event_hub, "homes");
}

TEST(ConnectionOptions, report_missing_and_contradicting_options) {
    EXPECT_EQ(connection_options({.connection = "amqp://localhost"}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(connection_options({.connection = "amqp://localhost/homes", .event_hub = "cars"})
                  .error()
                  .code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(connection_options(
                  {.connection = "amqp://localhost/homes", .token_life = std::chrono::seconds(1)})
                  .error()
                  .code,
              ErrorCode::invalid_argument);
}

TEST(ConnectionOptions, refuse_a_key_beside_a_credential) {
    const auto credential = [](const std::string&) -> Result<Token> { return Token{}; };

    const auto both = connection_options(
        {.connection = "amqp://app:c2VjcmV0@localhost/homes", .credential = credential});
    const auto one =
        connection_options({.connection = "amqp://localhost/homes", .credential = credential});

    ASSERT_FALSE(both.ok());
    EXPECT_EQ(both.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(both.error().detail.find("c2VjcmV0"), std::string::npos);
    ASSERT_TRUE(one.ok());
    EXPECT_TRUE(one->credential);
}

}  // namespace
}  // namespace evenkeel::client
