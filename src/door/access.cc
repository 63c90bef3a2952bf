#include "door/access.h"

#include <charconv>

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "door/address.h"

namespace evenkeel::door {
namespace {

constexpr std::string_view token_word = "SharedAccessSignature ";
constexpr std::size_t token_bytes_max = 8192;

std::string base64(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string signature(std::string_view text, const Secret& key) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    HMAC(EVP_sha256(), key.reveal().data(), static_cast<int>(key.reveal().size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
    return base64({reinterpret_cast<const char*>(digest), size});
}

// Takes as long for a wrong text as for a right one of its length.
bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        if (text[i] == '%' && i + 2 < text.size()) {
            const auto [end, error] =
                std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
            if (error == std::errc() && end == text.data() + i + 3) {
                result += static_cast<char>(value);
                i += 2;
                continue;
            }
        }
        result += text[i];
    }
    return result;
}

std::string encoded(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return result;
}

Error refused(std::string_view why) {
    return {ErrorCode::invalid_argument, std::string(why)};
}

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

}  // namespace

Result<Claim> AccessRules::check_sas(std::string_view token, WallTime now) const {
    if (token.size() > token_bytes_max || !token.starts_with(token_word)) {
        return refused("MalformedToken: The token is not a shared access signature.");
    }
    token.remove_prefix(token_word.size());
    std::string_view resource;
    std::string_view expiry;
    std::string sign;
    std::string name;
    while (!token.empty()) {
        const auto end = token.find('&');
        const std::string_view pair = token.substr(0, end);
        token = end == std::string_view::npos ? std::string_view() : token.substr(end + 1);
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = pair.substr(0, equals);
        const std::string_view value = pair.substr(equals + 1);
        if (key == "sr") resource = value;
        if (key == "se") expiry = value;
        if (key == "sig") sign = decoded(value);
        if (key == "skn") name = decoded(value);
    }
    std::int64_t seconds = 0;
    const auto parsed = std::from_chars(expiry.data(), expiry.data() + expiry.size(), seconds);
    constexpr std::int64_t seconds_max = std::int64_t{1} << 50;
    if (resource.empty() || sign.empty() || parsed.ec != std::errc() || seconds < 0 ||
        parsed.ptr != expiry.data() + expiry.size() || seconds > seconds_max) {
        return refused("MalformedToken: The token lacks sr, sig, se or skn, or se is no number.");
    }
    const std::string signed_text = std::string(resource) + "\n" + std::string(expiry);
    for (const auto& rule : rules_) {
        if (rule.name != name) continue;
        for (const Secret* key : {&rule.primary, &rule.secondary}) {
            if (key->empty() || !same(sign, signature(signed_text, *key))) continue;
            Claim claim{path_of(decoded(resource)), rule.rights, WallTime{seconds * 1000}};
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
        const bool good = (!rule.primary.empty() && same(key, rule.primary.reveal())) ||
                          (!rule.secondary.empty() && same(key, rule.secondary.reveal()));
        if (rule.name == name && good) {
            return Claim{rule.hub, rule.rights, WallTime{std::int64_t{1} << 60}};
        }
    }
    return refused("InvalidSignature: The key name or key is wrong.");
}

bool is_allowed(const std::vector<Claim>& claims, Right right, std::string_view path,
                WallTime now) {
    for (const auto& claim : claims) {
        if (claim.expires > now && has(claim.rights, right) && covers(claim.path, path)) {
            return true;
        }
    }
    return false;
}

std::string make_sas(std::string_view path_url, const std::string& key_name, const Secret& key,
                     WallTime expires) {
    const std::string resource = encoded(path_url);
    const std::string expiry = std::to_string(expires.milliseconds / 1000);
    const std::string sign = signature(resource + "\n" + expiry, key);
    return fmt::format("{}sr={}&sig={}&se={}&skn={}", token_word, resource, encoded(sign), expiry,
                       encoded(key_name));
}

}  // namespace evenkeel::door
