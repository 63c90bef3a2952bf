// Who may do what: rules with keys, shared access signatures, and the one question that all front
// doors ask (AUTH-1).
//
// A rule has a name, up to two keys and rights, for the whole namespace or for one event hub. A
// token proves knowledge of a key, for a path and everything below it, until it expires.
//
// Rules may change while clients are connected: generation() moves then, and whoever keeps claims
// asks refresh() which of them still hold.
// Threads: pinned to whoever owns it.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"

namespace evenkeel::door {

using evenkeel::Secret;

struct Rights {
    bool send = false;
    bool listen = false;
    bool manage = false;
    bool operator==(const Rights&) const = default;
};

enum class Right : std::uint8_t { send, listen, manage };

// "Send", "Listen", "Manage", as far as they are there.
std::vector<std::string_view> names_of(const Rights& rights);
// Back, without regard to case. Manage brings the other two. invalid_argument if there is none, or
// another word.
Result<Rights> parse_rights(const std::vector<std::string>& names);

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
    std::string hub = {};                     // folded; empty: of every event hub
    std::string rule = {};                    // empty: not by a key of ours
    std::array<std::byte, 32> key_hash = {};  // of the key that it was proved with
    std::string subject = {};                 // of a token of an identity provider
};

// key:NAME, key:NAME@HUB for a rule of one event hub, subject:NAME, or "-"; for log lines.
std::string who_of(const Claim& claim);
// What a shared access signature says of itself, unproved: key:NAME, or "-".
std::string who_says(std::string_view token);

// What a right is asked for.
struct Entity {
    std::string hub;   // folded
    std::string path;  // the hub's or one below it, as path_of() gives it
};

class AccessRules {
public:
    explicit AccessRules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

    // `host` is the name by which the client reached us: a token for another host covers nothing.
    // `invalid_argument` with a text that begins InvalidSignature, ExpiredToken, InvalidAudience or
    // MalformedToken.
    Result<Claim> check_sas(std::string_view token, std::string_view host, WallTime now) const;
    // PLAIN: key name and key.
    Result<Claim> check_key(std::string_view name, std::string_view key) const;

    void replace(std::vector<Rule> rules);
    std::uint64_t generation() const { return generation_; }
    // False if the claim's rule or key is gone; otherwise its rights are the rule's of now.
    bool refresh(Claim& claim) const;

private:
    std::vector<Rule> rules_;
    std::uint64_t generation_ = 1;
};

// True if one of the claims allows the right on the entity.
bool is_allowed(const std::vector<Claim>& claims, Right right, const Entity& entity, WallTime now);
// True if this one does.
bool allows(const Claim& claim, Right right, const Entity& entity, WallTime now);
// True if the claim reaches the entity, whatever its rights.
bool reaches(const Claim& claim, const Entity& entity);

}  // namespace evenkeel::door
