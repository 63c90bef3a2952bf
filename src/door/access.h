// Who may do what: rules with keys, shared access signatures, and the one question that all front
// doors ask (I21).
//
// A rule has a name, up to two keys and rights, for the whole namespace or for one event hub. A
// token proves knowledge of a key, for a path and everything below it, until it expires.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace evenkeel::door {

// A key or token: cannot be printed (I24).
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}
    const std::string& reveal() const { return text_; }
    bool empty() const { return text_.empty(); }

private:
    std::string text_;
};

struct Rights {
    bool send = false;
    bool listen = false;
    bool manage = false;
};

enum class Right : std::uint8_t { send, listen, manage };

struct Rule {
    std::string name;
    std::string hub;  // folded; empty: the whole namespace
    Secret primary;
    Secret secondary;
    Rights rights;
};

// What a good token allows, to whoever showed it.
struct Claim {
    std::string path;  // as path_of() gives it; empty: everything
    Rights rights;
    WallTime expires;
};

class AccessRules {
public:
    explicit AccessRules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

    // `invalid_argument` with a text that begins InvalidSignature, ExpiredToken or MalformedToken.
    Result<Claim> check_sas(std::string_view token, WallTime now) const;
    // PLAIN: key name and key.
    Result<Claim> check_key(std::string_view name, std::string_view key) const;

private:
    std::vector<Rule> rules_;
};

// True if one of the claims allows the right on the path, which is as path_of() gives it.
bool is_allowed(const std::vector<Claim>& claims, Right right, std::string_view path, WallTime now);

// A token for the path, as a client makes it.
std::string make_sas(std::string_view path_url, const std::string& key_name, const Secret& key,
                     WallTime expires);

}  // namespace evenkeel::door
