#include "eventhubs/sas.h"

#include <fmt/core.h>

#include "base/base64.h"
#include "base/hmac.h"
#include "base/number.h"
#include "base/percent.h"

namespace evenkeel::eventhubs {

std::string make_sas(std::string_view path_url, const std::string& key_name, const Secret& key,
                     WallTime expires) {
    const std::string resource = percent_encoded(path_url);
    const std::string expiry = std::to_string(expires.milliseconds / 1000);
    const std::string sign = sas_signature(resource + "\n" + expiry, key);
    return fmt::format("{}sr={}&sig={}&se={}&skn={}", sas_word, resource, percent_encoded(sign),
                       expiry, percent_encoded(key_name));
}

std::string sas_signature(std::string_view text, const Secret& key) {
    return base64_encoded(hmac_sha256(text, key));
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
        const auto seconds = parse_number<std::int64_t>(pair.substr(3));
        if (!seconds || *seconds < 0 || *seconds > seconds_max) return std::nullopt;
        return WallTime{*seconds * 1000};
    }
    return std::nullopt;
}

}  // namespace evenkeel::eventhubs
