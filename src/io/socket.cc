#include "io/socket.h"

#include <algorithm>

#include <arpa/inet.h>

#include "base/number.h"

namespace evenkeel::io {

std::string to_string(const Endpoint& endpoint) {
    const bool is_v6 = endpoint.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + endpoint.host + "]" : endpoint.host;
    return host + ":" + std::to_string(endpoint.port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return std::nullopt;  // nobody knows where the address ends
    }
    if (host.empty()) return std::nullopt;
    const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
    if (!port) return std::nullopt;
    return Endpoint{std::string(host), *port};
}

bool is_loopback(std::string_view host) {
    if (host == "localhost" || host == "::1") return true;
    if (host.starts_with("::ffff:")) host.remove_prefix(7);
    return host.starts_with("127.") &&
           host.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string network_of(std::string_view host) {
    std::string text(host);
    in6_addr address{};
    if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return text;
    char shown[INET6_ADDRSTRLEN] = {};
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        return inet_ntop(AF_INET, &address.s6_addr[12], shown, sizeof shown);
    }
    std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), std::uint8_t{0});
    inet_ntop(AF_INET6, &address, shown, sizeof shown);
    return std::string(shown) + "/64";
}

bool is_address(std::string_view host) {
    const std::string text(host);
    if (text.find('\0') != std::string::npos) return false;
    in6_addr address{};  // the larger of the two
    return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace evenkeel::io
