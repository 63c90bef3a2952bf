// Tokens that a program gets by itself, against a real door on real sockets.
#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/promise.h"
#include "client/hub_process.h"
#include "eventhubs/sas.h"
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

class ClientCredential : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(hub.create("homes", 1).ok()); }

    ClientOptions with(Credential credential) {
        return {.connection = "amqp://127.0.0.1:" + std::to_string(hub.port()) + "/homes",
                .retry = {.retries_max = 3, .delay = 5ms, .delay_max = 20ms},
                .credential = std::move(credential)};
    }
    static Token token(const std::string& audience, std::chrono::seconds life,
                       const std::string& secret = key) {
        const WallTime expires = SystemClock().wall() + life;
        return {
            eventhubs::make_sas(audience, key_name, Secret(secret), expires),
            std::chrono::system_clock::time_point(std::chrono::milliseconds(expires.milliseconds))};
    }

    HubProcess hub;
};

TEST_F(ClientCredential, is_asked_for_the_event_hub_and_opens_it) {
    Promise<std::string> asked_for;
    auto producer = Producer::open(with([&](const std::string& audience) -> Result<Token> {
        asked_for.set(audience);
        return token(audience, 1h);
    }));

    ASSERT_TRUE(producer.ok()) << to_string(producer.error());
    EXPECT_EQ(asked_for.wait(), "sb://127.0.0.1/homes");
    EXPECT_TRUE((*producer)->send("hello").ok());
    EXPECT_TRUE((*producer)->properties().ok());
}

TEST_F(ClientCredential, that_fails_or_throws_is_asked_again) {
    std::atomic<int> calls = 0;
    auto producer = Producer::open(with([&](const std::string& audience) -> Result<Token> {
        switch (++calls) {
            case 1: return Error{ErrorCode::unavailable, "no network"};
            case 2: throw std::runtime_error("no identity");  // tidy: allow throw: as users may
            default: return token(audience, 1h);
        }
    }));

    ASSERT_TRUE(producer.ok()) << to_string(producer.error());
    EXPECT_EQ(calls, 3);
}

TEST_F(ClientCredential, that_is_refused_is_reported_at_once) {
    std::atomic<int> calls = 0;
    const auto producer = Producer::open(with([&](const std::string&) -> Result<Token> {
        ++calls;
        return Error{ErrorCode::not_allowed, "this machine has no identity"};
    }));

    ASSERT_FALSE(producer.ok());
    EXPECT_EQ(producer.error().code, ErrorCode::not_allowed);
    EXPECT_NE(producer.error().detail.find("this machine has no identity"), std::string::npos);
    EXPECT_EQ(calls, 1);
}

TEST_F(ClientCredential, that_gives_no_valid_token_says_so_without_it) {
    const std::string wrong_key = "d3Jvbmc=";
    const auto old = Producer::open(
        with([&](const std::string& audience) -> Result<Token> { return token(audience, -10s); }));
    const auto none =
        Producer::open(with([&](const std::string&) -> Result<Token> { return Token{}; }));
    std::string shown;
    const auto wrong = Producer::open(with([&](const std::string& audience) -> Result<Token> {
        const Token made = token(audience, 1h, wrong_key);
        shown = made.value;
        return made;
    }));

    ASSERT_FALSE(old.ok() || none.ok() || wrong.ok());
    EXPECT_NE(old.error().detail.find("has expired"), std::string::npos) << old.error().detail;
    EXPECT_NE(none.error().detail.find("empty token"), std::string::npos) << none.error().detail;
    EXPECT_EQ(wrong.error().code, ErrorCode::not_allowed);
    EXPECT_EQ(wrong.error().detail.find(shown), std::string::npos) << "the token is in the error";
}

TEST_F(ClientCredential, is_asked_before_the_token_expires_until_it_succeeds) {
    std::atomic<int> calls = 0;
    Promise<bool> renewed;
    auto producer = Producer::open(with([&](const std::string& audience) -> Result<Token> {
        switch (++calls) {
            case 1: return token(audience, 12s);
            case 2:
            case 3: return Error{ErrorCode::not_allowed, "not now"};
            default: renewed.set(true); return token(audience, 1h);
        }
    }));
    ASSERT_TRUE(producer.ok()) << to_string(producer.error());
    const SystemClock clock;
    const Instant before = clock.now();

    EXPECT_TRUE(renewed.wait());

    EXPECT_LT(clock.now() - before, Duration(12s));
    EXPECT_TRUE((*producer)->send("still there").ok());
    EXPECT_EQ(calls, 4) << "it did not connect again";
}

}  // namespace
}  // namespace evenkeel::test
