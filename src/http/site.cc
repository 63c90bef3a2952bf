#include "http/site.h"

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "http/websocket.h"

namespace evenkeel::http {
namespace {

constexpr std::size_t name_length_max = 255;

struct Authority {
    std::string_view host;  // without brackets and without a dot at its end
    std::optional<std::uint16_t> port;
};

// "hub:5300", "[::1]:5300", "hub."
std::optional<Authority> parse_authority(std::string_view text) {
    Authority authority;
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        authority.host = text.substr(1, end - 1);
        rest = text.substr(end + 1);
    } else {
        const auto colon = std::min(text.find(':'), text.size());
        authority.host = text.substr(0, colon);
        rest = text.substr(colon);
        if (authority.host.ends_with('.')) authority.host.remove_suffix(1);
    }
    if (authority.host.empty()) return std::nullopt;
    if (rest.empty() || rest == ":") return authority;
    const auto port = parse_number<std::uint16_t>(rest.substr(1));
    if (rest[0] != ':' || !port) return std::nullopt;
    authority.port = *port;
    return authority;
}

std::string_view without_scheme(std::string_view origin) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.size() > scheme.size() &&
            equal_without_case(origin.substr(0, scheme.size()), scheme)) {
            return origin.substr(scheme.size());
        }
    }
    return {};
}

bool is_default(std::uint16_t port) {
    return port == 80 || port == 443;
}

// The scheme does not count: some clients write http for what they reach by TLS.
bool is_same(std::string_view origin, std::string_view host) {
    const auto from = parse_authority(without_scheme(origin));
    const auto to = parse_authority(host);
    if (!from || !to || !equal_without_case(from->host, to->host)) return false;
    if (from->port && to->port) return *from->port == *to->port;
    return is_default(from->port.value_or(80)) && is_default(to->port.value_or(80));
}

bool changes_nothing(const Request& request) {
    return (request.method == "GET" || request.method == "OPTIONS") && !is_upgrade(request);
}

bool has_label_before(std::string_view host, std::string_view tail) {
    if (host.size() <= tail.size()) return false;
    const auto label = host.substr(0, host.size() - tail.size());
    return label.find('.') == std::string_view::npos &&
           equal_without_case(host.substr(label.size()), tail);
}

}  // namespace

std::optional<Response> Site::refuse(const Request& request) const {
    const std::string host = request.field("Host");
    if (!host.empty()) {
        const auto authority = parse_authority(host);
        if (!authority || !is_known(authority->host)) {
            return error_response(421, "misdirected",
                                  "this server is not known by the name in Host; call it by its "
                                  "address, or add the name to listen.names (serve) or "
                                  "--host-name (dev)");
        }
    }
    if (!changes_nothing(request) && is_foreign(request)) {
        return error_response(403, "forbidden",
                              "changes and WebSockets from pages of other sites are refused; "
                              "listen.origins names those that may");
    }
    return std::nullopt;
}

bool Site::is_known(std::string_view host) const {
    if (equal_without_case(host, "localhost") || io::is_address(host)) return true;
    return std::ranges::any_of(options_.names, [&](const std::string& name) {
        return name.starts_with("*.") ? has_label_before(host, std::string_view(name).substr(1))
                                      : equal_without_case(host, name);
    });
}

// A page of another site may make a browser send requests, but not hide where it comes from.
bool Site::is_foreign(const Request& request) const {
    const std::string origin = request.field("Origin");
    if (!origin.empty()) {
        const bool is_listed = std::ranges::any_of(options_.origins, [&](const auto& listed) {
            return equal_without_case(origin, listed);
        });
        if (is_listed) return false;
        if (!is_same(origin, request.field("Host"))) return true;
    }
    const std::string site = request.field("Sec-Fetch-Site");
    return !site.empty() && site != "same-origin" && site != "none";
}

bool is_origin(std::string_view text) {
    const auto authority = parse_authority(without_scheme(text));
    return authority && (is_host_name(authority->host) || io::is_address(authority->host)) &&
           !authority->host.starts_with('*');
}

bool is_host_name(std::string_view text) {
    if (text.starts_with("*.")) text.remove_prefix(2);
    return !text.empty() && text.size() <= name_length_max && !text.starts_with('.') &&
           !text.ends_with('.') && std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '-' || c == '_';
           });
}

}  // namespace evenkeel::http
