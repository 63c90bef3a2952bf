// Tokens of identity providers (JSON Web Tokens): checked against the issuers, audiences and public
// keys that were configured, and turned into rights.
//
//   base64url(header) . base64url(claims) . base64url(signature)     RS256 or ES256
//
// Never accepted: "alg":"none", and every algorithm with a shared secret, whatever the keys are.
// Rights come from the claims "roles" and "scp": the names of Event Hubs' data roles, or
// "Send", "Listen" and "Manage", possibly behind a prefix that ends in '.' or '/'.
// Threads: any, once made.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "door/auth/access.h"
#include "io/file.h"

namespace evenkeel::door {

struct JwtOptions {
    std::vector<std::string> issuers;    // "iss" is one of them
    std::vector<std::string> audiences;  // "aud" is, or has, one of them
    std::chrono::seconds leeway{60};     // clocks differ that much
    // Given to every good token, for providers that say nothing about roles.
    Rights default_rights;
    // Told of tokens whose key is not in the set, on the thread that checks.
    std::function<void()> unknown_key = {};
};

class JwtVerifier {
public:
    // `key_set` is a JWKS document. invalid_argument names what is wrong with it or with the
    // options; keys for other uses and algorithms are passed over, but one must be left.
    static Result<std::unique_ptr<JwtVerifier>> make(JwtOptions options, std::string_view key_set);
    static Result<std::unique_ptr<JwtVerifier>> load(JwtOptions options, io::FileSystem& files,
                                                     const std::string& key_set_path);
    // Refuses every token until there are keys.
    static std::unique_ptr<JwtVerifier> without_keys(JwtOptions options);
    ~JwtVerifier();
    JwtVerifier(const JwtVerifier&) = delete;
    JwtVerifier& operator=(const JwtVerifier&) = delete;

    // `invalid_argument` with a text that begins InvalidToken, InvalidSignature, InvalidIssuer,
    // InvalidAudience or ExpiredToken. A good token reaches everything.
    Result<Claim> check(std::string_view token, WallTime now) const;

private:
    struct Keys;
    JwtVerifier(JwtOptions options, std::unique_ptr<Keys> keys);
    Result<Claim> check_claims(std::string_view text, WallTime now) const;

    const JwtOptions options_;
    std::unique_ptr<Keys> keys_;
};

}  // namespace evenkeel::door
