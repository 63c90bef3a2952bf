#include "door/auth/access.h"

#include <algorithm>

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/number.h"
#include "base/percent.h"
#include "base/text.h"
#include "eventhubs/address.h"
#include "eventhubs/names.h"
#include "eventhubs/sas.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t sas_bytes_max = 8192;

// Takes as long for a wrong text as for a right one of its length.
bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// A key is remembered by this, never by itself.
std::array<std::byte, 32> hash_of(const Secret& key) {
    std::array<std::byte, 32> digest{};
    unsigned int size = 0;
    EVP_Digest(key.reveal().data(), key.reveal().size(),
               reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_sha256(), nullptr);
    return digest;
}

Error refused(std::string_view why) {
    return {ErrorCode::invalid_argument, std::string(why)};
}

// Whole names only: "eh1" covers "eh1/x", and nothing of "eh10".
bool covers(std::string_view claim, std::string_view path) {
    if (claim.empty() || claim == path) return true;
    return path.size() > claim.size() && path.starts_with(claim) && path[claim.size()] == '/';
}

bool has(const Rights& rights, Right right) {
    switch (right) {
        case Right::send: return rights.send;
        case Right::listen: return rights.listen;
        case Right::manage: return rights.manage;
    }
    return false;
}

// The parts of a token. Views point into it.
struct Parts {
    std::string_view resource;  // as it was signed
    std::string_view expiry;
    std::string signature;
    std::string name;
    std::int64_t seconds = 0;
};

// Digits as they are usually written: one time has one text.
std::optional<std::int64_t> seconds_of(std::string_view text) {
    constexpr std::int64_t seconds_max = std::int64_t{1} << 50;
    const auto seconds = parse_number<std::int64_t>(text);
    const bool is_padded = text.size() > 1 && text.front() == '0';
    if (!seconds || is_padded || *seconds < 0 || *seconds > seconds_max) return std::nullopt;
    return seconds;
}

std::string another_host(std::string_view resource, std::string_view host) {
    return fmt::format("InvalidAudience: The token's sr '{}' is not on this connection's host, {}.",
                       shown(percent_decoded(resource)),
                       host.empty() ? "which the client did not name" : "'" + shown(host) + "'");
}

// Each of the four fields once, and nothing else: what is not signed has no place in a token.
Result<Parts> take_apart(std::string_view token) {
    if (token.size() > sas_bytes_max || !token.starts_with(eventhubs::sas_word)) {
        return refused("MalformedToken: The token is not a shared access signature.");
    }
    token.remove_prefix(eventhubs::sas_word.size());
    std::optional<std::string_view> resource, expiry, sign, name;
    while (true) {
        const auto end = token.find('&');
        const std::string_view pair = token.substr(0, end);
        const auto equals = pair.find('=');
        const std::string_view key = pair.substr(0, equals);
        std::optional<std::string_view>* field = nullptr;
        if (key == "sr") field = &resource;
        if (key == "se") field = &expiry;
        if (key == "sig") field = &sign;
        if (key == "skn") field = &name;
        if (!field || equals == std::string_view::npos) {
            return refused("MalformedToken: The token has a field other than sr, sig, se and skn.");
        }
        if (*field) return refused("MalformedToken: The token has a field twice.");
        *field = pair.substr(equals + 1);
        if (end == std::string_view::npos) break;
        token.remove_prefix(end + 1);
    }
    if (!expiry || resource.value_or("").empty() || sign.value_or("").empty() ||
        name.value_or("").empty()) {
        return refused("MalformedToken: The token lacks sr, sig, se or skn.");
    }
    const auto seconds = seconds_of(*expiry);
    if (!seconds) return refused("MalformedToken: The token's se is not a time in seconds.");
    return Parts{*resource, *expiry, percent_decoded(*sign), percent_decoded(*name), *seconds};
}

}  // namespace

std::string who_of(const Claim& claim) {
    if (!claim.rule.empty()) {
        return "key:" + claim.rule + (claim.hub.empty() ? "" : "@" + claim.hub);
    }
    return claim.subject.empty() ? "-" : "subject:" + claim.subject;
}

std::string who_says(std::string_view token) {
    const auto parts = take_apart(token);
    return parts.ok() ? "key:" + shown(parts->name) : "-";
}

std::vector<std::string_view> names_of(const Rights& rights) {
    std::vector<std::string_view> names;
    if (rights.send) names.emplace_back("Send");
    if (rights.listen) names.emplace_back("Listen");
    if (rights.manage) names.emplace_back("Manage");
    return names;
}

Result<Rights> parse_rights(const std::vector<std::string>& names) {
    Rights rights;
    for (const auto& name : names) {
        const std::string folded = eventhubs::folded(name);
        if (folded == "send") {
            rights.send = true;
        } else if (folded == "listen") {
            rights.listen = true;
        } else if (folded == "manage") {
            rights = {true, true, true};
        } else {
            return refused("'" + shown(name) + "' is no right; there are Send, Listen and Manage");
        }
    }
    if (rights == Rights{}) return refused("a rule needs a right: Send, Listen or Manage");
    return rights;
}

Result<Claim> AccessRules::check_sas(std::string_view token, std::string_view host,
                                     WallTime now) const {
    EK_TRY_ASSIGN(const Parts parts, take_apart(token));
    const std::string signed_text = std::string(parts.resource) + "\n" + std::string(parts.expiry);
    for (const auto& rule : rules_) {
        if (rule.name != parts.name) continue;
        for (const Secret* key : {&rule.primary, &rule.secondary}) {
            if (key->empty() || !same(parts.signature, eventhubs::sas_signature(signed_text, *key)))
                continue;
            const auto path = eventhubs::path_on(host, percent_decoded(parts.resource));
            if (!path) return refused(another_host(parts.resource, host));
            Claim claim{*path,    rule.rights, WallTime{parts.seconds * 1000},
                        rule.hub, rule.name,   hash_of(*key)};
            if (claim.expires <= now) {
                return refused("ExpiredToken: The token is expired. Expiration time: " +
                               to_string(claim.expires));
            }
            // A rule of one event hub reaches no further, whatever its token says.
            if (!rule.hub.empty()) {
                if (claim.path.empty()) claim.path = rule.hub;
                if (!covers(rule.hub, claim.path)) break;
            }
            return claim;
        }
    }
    return refused("InvalidSignature: The token has an invalid signature.");
}

Result<Claim> AccessRules::check_key(std::string_view name, std::string_view key) const {
    for (const auto& rule : rules_) {
        const bool primary = !rule.primary.empty() && same(key, rule.primary.reveal());
        const bool secondary = !rule.secondary.empty() && same(key, rule.secondary.reveal());
        if (rule.name == name && (primary || secondary)) {
            return Claim{rule.hub, rule.rights, WallTime{std::int64_t{1} << 60},
                         rule.hub, rule.name,   hash_of(primary ? rule.primary : rule.secondary)};
        }
    }
    return refused("InvalidSignature: The key name or key is wrong.");
}

void AccessRules::replace(std::vector<Rule> rules) {
    rules_ = std::move(rules);
    ++generation_;
}

bool AccessRules::refresh(Claim& claim) const {
    if (claim.rule.empty()) return true;
    for (const auto& rule : rules_) {
        if (rule.name != claim.rule || rule.hub != claim.hub) continue;
        for (const Secret* key : {&rule.primary, &rule.secondary}) {
            if (key->empty() || hash_of(*key) != claim.key_hash) continue;
            claim.rights = rule.rights;
            return true;
        }
    }
    return false;
}

bool reaches(const Claim& claim, const Entity& entity) {
    return (claim.hub.empty() || claim.hub == entity.hub) && covers(claim.path, entity.path);
}

bool allows(const Claim& claim, Right right, const Entity& entity, WallTime now) {
    return claim.expires > now && has(claim.rights, right) && reaches(claim, entity);
}

bool is_allowed(const std::vector<Claim>& claims, Right right, const Entity& entity, WallTime now) {
    return std::any_of(claims.begin(), claims.end(),
                       [&](const Claim& claim) { return allows(claim, right, entity, now); });
}

}  // namespace evenkeel::door
