#include "door/auth/jwt.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "door/auth/claim_fixture.h"
#include "door/auth/jwt_fixture.h"
#include "support/seed.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<JwtVerifier> verifier(const std::string& keys) {
    JwtOptions options;
    options.issuers = {"https://issuer"};
    options.audiences = {"https://eventhubs.azure.net"};
    auto made = JwtVerifier::make(options, R"({"keys":[)" + keys + "]}");
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().detail);
    return std::move(*made);
}
struct Claims {
    std::string issuer = "https://issuer";
    std::string audience = R"("https://eventhubs.azure.net")";
    std::int64_t expires = now.milliseconds / 1000 + 3600;
    std::string more = {};
};
std::string json_of(const Claims& claims) {
    return R"({"iss":")" + claims.issuer + R"(","aud":)" + claims.audience + R"(,"exp":)" +
           std::to_string(claims.expires) + claims.more + "}";
}
TEST(Jwt, of_either_algorithm_gives_the_rights_of_its_roles) {
    for (const bool rsa : {true, false}) {
        const Provider provider(rsa);
        const auto check = verifier(provider.key());

        const auto sender = check->check(
            provider.token(json_of({.more = R"(,"roles":["Azure Event Hubs Data Sender"])"})), now);
        const auto scoped = check->check(
            provider.token(json_of({.audience = R"(["x","https://eventhubs.azure.net"])",
                                    .more = R"(,"scp":"other hub.Listen")"})),
            now);
        const auto nothing = check->check(provider.token(json_of({})), now);

        ASSERT_TRUE(sender.ok()) << sender.error().detail;
        EXPECT_EQ(sender->rights, (Rights{true, false, false}));
        ASSERT_TRUE(scoped.ok()) << scoped.error().detail;
        EXPECT_EQ(scoped->rights, (Rights{false, true, false}));
        EXPECT_EQ(nothing->rights, Rights{});
        EXPECT_EQ(sender->expires, now + 1h + 1min);
    }
}

TEST(Jwt, is_refused_for_each_fault_and_says_which) {
    const Provider provider(false);
    const Provider stranger(false);
    const auto check = verifier(provider.key());
    const auto with = [&](const Claims& claims) {
        return begin_of(check->check(provider.token(json_of(claims)), now));
    };
    const std::int64_t seconds = now.milliseconds / 1000;

    EXPECT_EQ(with({}), "ok");
    EXPECT_EQ(with({.issuer = "https://other"}), "InvalidIssuer");
    EXPECT_EQ(with({.audience = "\"other\""}), "InvalidAudience");
    EXPECT_EQ(with({.audience = "[]"}), "InvalidAudience");
    EXPECT_EQ(with({.expires = seconds - 61}), "ExpiredToken");
    EXPECT_EQ(with({.expires = seconds - 59}), "ok");
    EXPECT_EQ(with({.expires = -5}), "InvalidToken");
    EXPECT_EQ(with({.more = ",\"nbf\":" + std::to_string(seconds + 61)}), "InvalidToken");
    EXPECT_EQ(with({.more = ",\"nbf\":" + std::to_string(seconds + 59)}), "ok");
    EXPECT_EQ(with({.more = ",\"nbf\":\"soon\""}), "InvalidToken");
    EXPECT_EQ(begin_of(check->check(stranger.token(json_of({})), now)), "InvalidSignature");
    EXPECT_EQ(begin_of(check->check("", now)), "InvalidToken");
    EXPECT_EQ(begin_of(check->check("a.b.c", now)), "InvalidToken");
    EXPECT_EQ(begin_of(check->check(std::string(20'000, 'a'), now)), "InvalidToken");
}

TEST(Jwt, without_a_signature_or_with_a_shared_secret_is_never_good) {
    const Provider provider(true);
    const auto check = verifier(provider.key());
    const std::string claims = base64url(json_of({}));

    for (const char* const header :
         {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"HS256"})", R"({"alg":"RS512"})",
          R"({"typ":"JWT"})", R"({"alg":"RS256","crit":["x"]})"}) {
        EXPECT_EQ(begin_of(check->check(base64url(header) + "." + claims + ".", now)),
                  "InvalidToken")
            << header;
    }
    // The algorithm of another kind of key, and no signature at all.
    EXPECT_EQ(begin_of(check->check(base64url(R"({"alg":"ES256"})") + "." + claims + ".", now)),
              "InvalidSignature");
    EXPECT_EQ(begin_of(check->check(base64url(R"({"alg":"RS256"})") + "." + claims + ".", now)),
              "InvalidSignature");
}

TEST(Jwt, changed_anywhere_is_not_good) {
    const Provider provider(false);
    const auto check = verifier(provider.key());
    const std::string token = provider.token(json_of({}));
    Random random(test::test_seed());
    for (int i = 0; i < 300; ++i) {
        std::string changed = token;
        changed[random.below(changed.size())] = "aZ09-_."[random.below(7)];
        if (changed == token) continue;
        EXPECT_FALSE(check->check(changed, now).ok()) << changed;
    }
}

TEST(JwtKeys, of_other_uses_are_passed_over_and_bad_ones_named) {
    const Provider provider(false);
    const JwtOptions options{{"i"}, {"a"}, 60s, {}};
    const auto problem = [&](const std::string& keys) {
        const auto made = JwtVerifier::make(options, keys);
        return made.ok() ? "" : made.error().detail;
    };

    EXPECT_EQ(problem(R"({"keys":[{"kty":"oct","k":"x"},)" + provider.key() + "]}"), "");
    EXPECT_EQ(problem(R"({"keys":[{"kty":"oct","k":"x"}]})"),
              "the key set has no key for RS256 or ES256");
    EXPECT_EQ(problem(R"({"keys":[{"kty":"RSA","kid":"small","n":"AQAB","e":"AQAB"}]})"),
              "key 'small' of the key set is not a good RSA key of 2048 bits or more");
    EXPECT_EQ(problem("x"), "the key set is not JSON with a list 'keys'");
    EXPECT_FALSE(JwtVerifier::make({}, R"({"keys":[]})").ok());
}

}  // namespace
}  // namespace evenkeel::door
