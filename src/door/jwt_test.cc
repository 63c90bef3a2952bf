#include "door/jwt.h"

#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now{1'767'225'600'000};

std::string base64url(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(text.data()),
        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()))));
    while (!text.empty() && text.back() == '=') text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

// An identity provider with one key.
class Provider {
public:
    explicit Provider(bool rsa, std::string id = "k1") : rsa_(rsa), id_(std::move(id)) {
        key_ = rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    }
    ~Provider() { EVP_PKEY_free(key_); }
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;

    std::string key() const {
        if (rsa_) {
            return R"({"kty":"RSA","use":"sig","kid":")" + id_ + R"(","n":")" +
                   number(OSSL_PKEY_PARAM_RSA_N) + R"(","e":")" + number(OSSL_PKEY_PARAM_RSA_E) +
                   "\"}";
        }
        return R"({"kty":"EC","crv":"P-256","kid":")" + id_ + R"(","x":")" +
               number(OSSL_PKEY_PARAM_EC_PUB_X, 32) + R"(","y":")" +
               number(OSSL_PKEY_PARAM_EC_PUB_Y, 32) + "\"}";
    }
    std::string token(const std::string& claims, std::string header = "") const {
        if (header.empty()) {
            header = R"({"alg":")";
            header += rsa_ ? "RS256" : "ES256";
            header += R"(","kid":")" + id_ + "\"}";
        }
        const std::string text = base64url(header) + "." + base64url(claims);
        return text + "." + base64url(sign(text));
    }

private:
    std::string number(const char* name, int width = 0) const {
        BIGNUM* value = nullptr;
        EVP_PKEY_get_bn_param(key_, name, &value);
        std::string bytes(static_cast<std::size_t>(width ? width : BN_num_bytes(value)), '\0');
        BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()),
                     static_cast<int>(bytes.size()));
        BN_free(value);
        return base64url(bytes);
    }
    std::string sign(const std::string& text) const {
        EVP_MD_CTX* const context = EVP_MD_CTX_new();
        EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_);
        std::size_t size = 512;
        std::string bytes(size, '\0');
        EVP_DigestSign(context, reinterpret_cast<unsigned char*>(bytes.data()), &size,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size());
        EVP_MD_CTX_free(context);
        bytes.resize(size);
        if (rsa_) return bytes;
        const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
        ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size));
        std::string raw(64, '\0');
        auto* const to = reinterpret_cast<unsigned char*>(raw.data());
        BN_bn2binpad(ECDSA_SIG_get0_r(pair), to, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), to + 32, 32);
        ECDSA_SIG_free(pair);
        return raw;
    }

    bool rsa_;
    std::string id_;
    EVP_PKEY* key_;
};

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
std::string text_of(const Claims& claims) {
    return R"({"iss":")" + claims.issuer + R"(","aud":)" + claims.audience + R"(,"exp":)" +
           std::to_string(claims.expires) + claims.more + "}";
}
std::string begin_of(const Result<Claim>& claim) {
    return claim.ok() ? "ok" : claim.error().detail.substr(0, claim.error().detail.find(':'));
}

TEST(Jwt, of_either_algorithm_is_good_and_gives_the_rights_of_its_roles) {
    for (const bool rsa : {true, false}) {
        const Provider provider(rsa);
        const auto check = verifier(provider.key());

        const auto sender = check->check(
            provider.token(text_of({.more = R"(,"roles":["Azure Event Hubs Data Sender"])"})), now);
        const auto scoped = check->check(
            provider.token(text_of({.audience = R"(["x","https://eventhubs.azure.net"])",
                                    .more = R"(,"scp":"other hub.Listen")"})),
            now);
        const auto nothing = check->check(provider.token(text_of({})), now);

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
        return begin_of(check->check(provider.token(text_of(claims)), now));
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
    EXPECT_EQ(begin_of(check->check(stranger.token(text_of({})), now)), "InvalidSignature");
    EXPECT_EQ(begin_of(check->check("", now)), "InvalidToken");
    EXPECT_EQ(begin_of(check->check("a.b.c", now)), "InvalidToken");
    EXPECT_EQ(begin_of(check->check(std::string(20'000, 'a'), now)), "InvalidToken");
}

TEST(Jwt, without_a_signature_or_with_a_shared_secret_is_never_good) {
    const Provider provider(true);
    const auto check = verifier(provider.key());
    const std::string claims = base64url(text_of({}));

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
    const std::string token = provider.token(text_of({}));
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
