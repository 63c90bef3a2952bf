#include "door/auth/key_set.h"

#include <gtest/gtest.h>

#include "door/auth/jwt_fixture.h"
#include "http/server.h"
#include "io/sim/network.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

class KeySetTest : public testing::Test {
protected:
    KeySetTest() {
        server_.emplace(
            loop_, http::ServerOptions{},
            [this](const http::Request& request, Callback<void(http::Response)> answer) {
                asked_.push_back(request.path + "?" + request.query);
                answer(answer_);
            },
            nullptr);
        auto listener = network_.host("provider", loop_).listen({"provider", 80});
        server_->serve(std::move(*listener));
    }
    ~KeySetTest() override {
        keys_.reset();
        server_.reset();
    }

    void start(const std::string& text = {}, const std::string& url = "http://provider/keys?p=1") {
        KeySetOptions options{.url = url, .refresh = 1h, .pause = 10s};
        options.jwt.issuers = {"i"};
        options.jwt.audiences = {"a"};
        keys_ = KeySet::make(hub_loop_, network_.host("hub", hub_loop_), options, [this](auto jwt) {
                    jwt_ = std::move(jwt);
                    ++changes_;
                }).value();
        hub_loop_.post([this, text] { keys_->start(text); });
        scheduler_.run_for(1s);
    }
    std::string outcome(const Provider& provider) {
        std::string text = "not asked";
        hub_loop_.post([&] {
            const WallTime now = hub_loop_.clock().wall();
            const auto claim =
                jwt_->check(provider.token(R"({"iss":"i","aud":"a","exp":)" +
                                           std::to_string(now.milliseconds / 1000 + 3600) + "}"),
                            now);
            text = claim.ok() ? "good" : claim.error().detail;
        });
        scheduler_.run_for(1s);
        return text;
    }

    io::sim::Scheduler scheduler_{test::test_seed()};
    io::sim::SimLoop loop_{scheduler_, "provider"};
    io::sim::SimLoop hub_loop_{scheduler_, "hub"};
    io::sim::SimNetwork network_{scheduler_};
    const Provider first_{false, "first"};
    const Provider second_{false, "second"};
    http::Response answer_{.body = key_set_of(first_)};
    std::vector<std::string> asked_;
    std::optional<http::Server> server_;
    std::unique_ptr<KeySet> keys_;
    std::shared_ptr<const JwtVerifier> jwt_;
    int changes_ = 0;
};

TEST_F(KeySetTest, is_fetched_at_the_start_and_now_and_then) {
    start();

    EXPECT_EQ(asked_, std::vector<std::string>{"/keys?p=1"});
    EXPECT_EQ(outcome(first_), "good");
    scheduler_.run_for(30min);
    EXPECT_EQ(asked_.size(), 1u);
    scheduler_.run_for(31min);
    EXPECT_EQ(asked_.size(), 2u);
}

TEST_F(KeySetTest, is_fetched_for_an_unknown_key_but_not_too_often) {
    start();
    scheduler_.run_for(1min);
    answer_.body = key_set_of(second_);

    EXPECT_EQ(outcome(second_).substr(0, 17), "InvalidSignature:");
    EXPECT_EQ(outcome(second_), "good");
    EXPECT_EQ(asked_.size(), 2u);
    // Whoever makes up key ids has the provider asked once in a pause, and not more.
    for (int i = 0; i < 25; ++i) EXPECT_NE(outcome(first_), "good");
    EXPECT_GE(asked_.size(), 4u);
    EXPECT_LE(asked_.size(), 5u);
}

TEST_F(KeySetTest, retries_and_refuses_tokens_while_the_provider_is_down) {
    network_.cut("hub", "provider");
    start();
    EXPECT_EQ(outcome(first_),
              "InvalidSignature: The identity provider's keys have not been fetched yet.");

    network_.heal("hub", "provider");
    scheduler_.run_for(1min);

    EXPECT_EQ(outcome(first_), "good");
}

TEST_F(KeySetTest, keeps_the_keys_it_has_if_the_answer_is_not_good) {
    start();
    const std::vector<http::Response> bad{
        {.status = 500, .body = key_set_of(second_)},
        {.status = 302, .body = "", .fields = {{"Location", "http://elsewhere/"}}},
        {.body = "<html>"},
        {.body = R"({"keys":[]})"},
        {.body = R"({"keys":[]})" + std::string(KeySet::bytes_max, ' ')}};
    for (const auto& answer : bad) {
        answer_ = answer;
        const auto before = asked_.size();

        scheduler_.run_for(2h);

        EXPECT_GT(asked_.size(), before);
        EXPECT_EQ(outcome(first_), "good") << answer.status << answer.body.substr(0, 30);
    }
}

TEST_F(KeySetTest, knows_at_once_what_one_before_it_had_fetched) {
    network_.cut("hub", "provider");

    start(key_set_of(first_));

    EXPECT_EQ(outcome(first_), "good");
}

TEST_F(KeySetTest, of_a_bad_address_is_refused) {
    for (const auto* const url : {"", "provider/keys", "ftp://provider/", "http://provider/?a b",
                                  "http://provider/?\r\nX: y"}) {
        EXPECT_EQ(KeySet::check(url).error().code, ErrorCode::invalid_argument) << url;
    }
    EXPECT_TRUE(KeySet::check("https://login.example/common/keys?p=b2c_1").ok());
}

}  // namespace
}  // namespace evenkeel::door
