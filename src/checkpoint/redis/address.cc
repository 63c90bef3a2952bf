#include "checkpoint/redis/address.h"

#include <optional>

#include <fmt/format.h>

#include "base/number.h"
#include "base/percent.h"

namespace evenkeel::checkpoint {

namespace {

constexpr std::uint16_t default_port = 6379;
constexpr std::uint16_t default_sentinel_port = 26'379;
constexpr std::size_t sentinels_max = 16;

Error unreadable(std::string_view what) {
    return {ErrorCode::invalid_argument,
            fmt::format("the address of the Redis store cannot be read: {}; it is "
                        "redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS, where "
                        "characters like '@', ':', '/', '%' in a user or password are written as "
                        "%40, %3A, %2F, %25",
                        what)};
}

Result<> read_options(std::string_view text, RedisAddress& address) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view option = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = std::min(option.find('='), option.size());
        const std::string_view name = option.substr(0, equals);
        const auto value =
            percent_decoded_strictly(option.substr(std::min(equals + 1, option.size())));
        if (name == "ca" && value && !value->empty()) {
            address.ca_file = *value;
        } else if (name == "insecure" && value == "1") {
            address.verify = false;
        } else if (name == "sentinel" && value && !value->empty()) {
            address.primary = *value;
        } else if (name == "sentinel_user" && value && !value->empty()) {
            address.sentinel_user = *value;
        } else if (name == "sentinel_password" && value && !value->empty()) {
            address.sentinel_password = *value;
        } else {
            return unreadable(
                "of options there are sentinel=NAME, with it sentinel_user=USER and "
                "sentinel_password=PASSWORD, and for rediss:// ca=FILE and insecure=1");
        }
    }
    if (address.primary.empty() &&
        !(address.sentinel_user.empty() && address.sentinel_password.empty())) {
        return unreadable("a user or password of Sentinels needs sentinel=NAME");
    }
    if (!address.sentinel_user.empty() && address.sentinel_password.empty()) {
        return unreadable("sentinel_user without sentinel_password");
    }
    if (!address.is_tls && (!address.ca_file.empty() || !address.verify)) {
        return unreadable("ca=FILE and insecure=1 are for rediss://");
    }
    return {};
}

Result<io::Endpoint> read_endpoint(std::string_view text, std::uint16_t port) {
    if (text.empty()) return unreadable("no host");
    if (const auto endpoint = io::parse_endpoint(text)) return *endpoint;
    if (text.find(':') != text.npos && !text.ends_with(']')) {
        return unreadable("the port is no number");
    }
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    return io::Endpoint{std::string(text), port};
}

// One host, or Sentinels with commas between them.
Result<> read_hosts(std::string_view text, RedisAddress& address) {
    if (address.primary.empty()) {
        if (text.find(',') != text.npos) {
            return unreadable("several hosts are Sentinels, and need ?sentinel=NAME");
        }
        EK_TRY_ASSIGN(address.endpoint, read_endpoint(text, default_port));
        return {};
    }
    for (bool is_more = true; is_more;) {
        const std::size_t comma = text.find(',');
        is_more = comma != text.npos;
        EK_TRY_ASSIGN(auto endpoint, read_endpoint(text.substr(0, comma), default_sentinel_port));
        if (address.sentinels.size() == sentinels_max) return unreadable("too many Sentinels");
        address.sentinels.push_back(std::move(endpoint));
        if (is_more) text.remove_prefix(comma + 1);
    }
    address.endpoint = address.sentinels.front();
    return {};
}

}  // namespace

std::string RedisAddress::shown() const {
    const char* const scheme = is_tls ? "rediss" : "redis";
    if (sentinels.empty()) {
        return fmt::format("{}://{}/{}", scheme, io::to_string(endpoint), database);
    }
    std::string hosts;
    for (const io::Endpoint& each : sentinels) {
        hosts += fmt::format("{}{}", hosts.empty() ? "" : ",", io::to_string(each));
    }
    return fmt::format("{}://{}/{}?sentinel={}", scheme, hosts, database, primary);
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
        const auto user = percent_decoded_strictly(who.substr(0, colon));
        const auto password = percent_decoded_strictly(who.substr(std::min(colon + 1, who.size())));
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
    EK_TRY(read_options(options, address));
    EK_TRY(read_hosts(url, address));
    return address;
}

}  // namespace evenkeel::checkpoint
