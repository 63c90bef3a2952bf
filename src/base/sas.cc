#include "base/sas.h"

#include <charconv>

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace evenkeel {
namespace {

std::string base64(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

}  // namespace

std::string make_sas(std::string_view path_url, const std::string& key_name, const Secret& key,
                     WallTime expires) {
    const std::string resource = percent_encoded(path_url);
    const std::string expiry = std::to_string(expires.milliseconds / 1000);
    const std::string sign = sas_signature(resource + "\n" + expiry, key);
    return fmt::format("{}sr={}&sig={}&se={}&skn={}", sas_word, resource, percent_encoded(sign),
                       expiry, percent_encoded(key_name));
}

std::string sas_signature(std::string_view text, const Secret& key) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    HMAC(EVP_sha256(), key.reveal().data(), static_cast<int>(key.reveal().size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
    return base64({reinterpret_cast<const char*>(digest), size});
}

std::optional<WallTime> sas_expiry(std::string_view token) {
    if (!token.starts_with(sas_word)) return std::nullopt;
    token.remove_prefix(sas_word.size());
    while (!token.empty()) {
        const auto end = token.find('&');
        const std::string_view pair = token.substr(0, end);
        token = end == std::string_view::npos ? std::string_view() : token.substr(end + 1);
        if (!pair.starts_with("se=")) continue;
        constexpr std::int64_t seconds_max = std::int64_t{1} << 50;
        std::int64_t seconds = 0;
        const auto parsed = std::from_chars(pair.data() + 3, pair.data() + pair.size(), seconds);
        if (parsed.ec != std::errc() || parsed.ptr != pair.data() + pair.size() || seconds < 0 ||
            seconds > seconds_max) {
            return std::nullopt;
        }
        return WallTime{seconds * 1000};
    }
    return std::nullopt;
}

std::string percent_encoded(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return result;
}

std::string percent_decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        if (text[i] == '%' && i + 2 < text.size()) {
            const char* const digits = text.data() + i + 1;
            const auto parsed = std::from_chars(digits, digits + 2, value, 16);
            if (parsed.ec == std::errc() && parsed.ptr == digits + 2) {
                result += static_cast<char>(value);
                i += 2;
                continue;
            }
        }
        result += text[i];
    }
    return result;
}

}  // namespace evenkeel
