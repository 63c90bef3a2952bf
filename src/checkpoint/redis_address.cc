#include "checkpoint/redis_address.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

constexpr std::uint16_t default_port = 6379;

Error unreadable(std::string_view what) {
    return {ErrorCode::invalid_argument,
            fmt::format("the address of the Redis store cannot be read: {}; it is "
                        "redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS, where "
                        "characters like '@', ':', '/', '%' in a user or password are written as "
                        "%40, %3A, %2F, %25",
                        what)};
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        unsigned value = 0;
        if (i + 2 >= text.size()) return std::nullopt;
        const char* const end = text.data() + i + 3;
        if (std::from_chars(text.data() + i + 1, end, value, 16).ptr != end) return std::nullopt;
        decoded += static_cast<char>(value);
        i += 2;
    }
    return decoded;
}

template <typename T>
bool read_number(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

Result<> read_options(std::string_view text, RedisAddress& address) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view option = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = std::min(option.find('='), option.size());
        const std::string_view name = option.substr(0, equals);
        const auto value = percent_decoded(option.substr(std::min(equals + 1, option.size())));
        if (name == "ca" && value && !value->empty()) {
            address.ca_file = *value;
        } else if (name == "insecure" && value == "1") {
            address.verify = false;
        } else {
            return unreadable("of options there are ca=FILE and insecure=1, both for rediss://");
        }
    }
    if (!address.is_tls && (!address.ca_file.empty() || !address.verify)) {
        return unreadable("ca=FILE and insecure=1 are for rediss://");
    }
    return {};
}

}  // namespace

std::string RedisAddress::shown() const {
    return fmt::format("{}://{}/{}", is_tls ? "rediss" : "redis", io::to_string(endpoint),
                       database);
}

Result<RedisAddress> RedisAddress::parse(std::string_view url) {
    RedisAddress address;
    address.is_tls = url.starts_with("rediss://");
    if (!address.is_tls && !url.starts_with("redis://")) return unreadable("no '//' in it");
    url.remove_prefix(url.find("//") + 2);
    std::string_view options;
    if (const std::size_t at = url.find('?'); at != url.npos) {
        options = url.substr(at + 1);
        url = url.substr(0, at);
    }
    if (const std::size_t at = url.rfind('@'); at != url.npos) {
        const std::string_view who = url.substr(0, at);
        url.remove_prefix(at + 1);
        if (who.find_first_of("/@") != who.npos) return unreadable("the password has a '/' or '@'");
        const std::size_t colon = std::min(who.find(':'), who.size());
        const auto user = percent_decoded(who.substr(0, colon));
        const auto password = percent_decoded(who.substr(std::min(colon + 1, who.size())));
        if (!user || !password)
            return unreadable(
                "a '%' in user or password is not followed by two hexadecimal digits");
        address.user = *user;
        address.password = *password;
        if (!address.user.empty() && address.password.empty())
            return unreadable("a user without a password");
    }
    if (const std::size_t at = url.find('/'); at != url.npos) {
        const std::string_view database = url.substr(at + 1);
        url = url.substr(0, at);
        if (!database.empty() &&
            (!read_number(database, address.database) || address.database < 0)) {
            return unreadable("the database is no number");
        }
    }
    if (url.empty()) return unreadable("no host");
    if (const auto endpoint = io::parse_endpoint(url)) {
        address.endpoint = *endpoint;
    } else if (url.find(':') == url.npos || url.ends_with(']')) {
        if (url.starts_with('[') && url.ends_with(']')) url = url.substr(1, url.size() - 2);
        address.endpoint = {std::string(url), default_port};
    } else {
        return unreadable("the port is no number");
    }
    EK_TRY(read_options(options, address));
    return address;
}

}  // namespace evenkeel::checkpoint
