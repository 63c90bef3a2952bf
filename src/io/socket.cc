#include "io/socket.h"

#include <charconv>

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
    Endpoint endpoint{std::string(host), 0};
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, endpoint.port);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return endpoint;
}

bool is_loopback(std::string_view host) {
    if (host == "localhost" || host == "::1") return true;
    if (host.starts_with("::ffff:")) host.remove_prefix(7);
    return host.starts_with("127.") &&
           host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace evenkeel::io
