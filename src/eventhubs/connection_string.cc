#include "eventhubs/connection_string.h"

#include <fmt/core.h>

#include "base/number.h"
#include "base/percent.h"
#include "base/text.h"
#include "eventhubs/sas.h"

namespace evenkeel::eventhubs {
namespace {

constexpr std::uint16_t plain_port = 5672, tls_port = 5671, wss_port = 443, ws_port = 80;
constexpr std::size_t text_bytes_max = 16 * 1024;
constexpr std::string_view blanks = " \n";

Error malformed(std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("connection string: {}", why)};
}

// host, host:port, [v6], [v6]:port; port 0 if there is none.
Result<io::Endpoint> parse_host(std::string_view text) {
    io::Endpoint endpoint;
    std::string_view port;
    bool has_port = false;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return malformed("an IPv6 address ends with ]");
        endpoint.host = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        has_port = text.starts_with(':');
        if (!text.empty() && !has_port) return malformed("after [address] comes :port or nothing");
        if (has_port) port = text.substr(1);
    } else {
        const auto colon = text.find(':');
        endpoint.host = text.substr(0, colon);
        has_port = colon != std::string_view::npos;
        if (has_port) port = text.substr(colon + 1);
    }
    const bool odd =
        endpoint.host.empty() || endpoint.host.find_first_of(" \t\r\n/@?#'\"") != std::string::npos;
    if (odd) return malformed("the host is missing or is no host name");
    if (!has_port) return endpoint;
    endpoint.port = parse_number<std::uint16_t>(port).value_or(0);
    if (endpoint.port == 0) return malformed("the port is a number from 1 to 65535");
    return endpoint;
}

void choose_port(Target& target) {
    if (target.endpoint.port != 0) return;
    if (target.websocket) {
        target.endpoint.port = target.tls ? wss_port : ws_port;
    } else {
        target.endpoint.port = target.tls ? tls_port : plain_port;
    }
}

Result<Target> parse_url(std::string_view text) {
    Target target;
    target.tls = text.starts_with("amqps://");
    text.remove_prefix(text.find("//") + 2);
    if (const auto at = text.rfind('@'); at != std::string_view::npos) {
        const std::string_view user = text.substr(0, at);
        const auto colon = user.find(':');
        if (colon == std::string_view::npos || colon == 0 || colon + 1 == user.size()) {
            return malformed("in front of the @ stands key-name:key");
        }
        target.key_name = percent_decoded(user.substr(0, colon));
        target.key = Secret(percent_decoded(user.substr(colon + 1)));
        text.remove_prefix(at + 1);
    }
    const auto slash = text.find('/');
    EK_TRY_ASSIGN(target.endpoint, parse_host(text.substr(0, slash)));
    if (slash != std::string_view::npos) {
        target.event_hub = percent_decoded(text.substr(slash + 1));
        while (target.event_hub.ends_with('/')) target.event_hub.pop_back();
    }
    choose_port(target);
    return target;
}

Result<io::Endpoint> parse_endpoint(std::string_view text, Target& target) {
    const auto scheme_end = text.find("://");
    const std::string_view scheme =
        scheme_end == std::string_view::npos ? std::string_view() : text.substr(0, scheme_end);
    if (!equal_without_case(scheme, "sb") && !equal_without_case(scheme, "amqps") &&
        !equal_without_case(scheme, "amqp")) {
        return malformed("Endpoint is sb://host, with :port behind it if need be");
    }
    if (equal_without_case(scheme, "amqp")) target.tls = false;
    text.remove_prefix(scheme_end + 3);
    while (text.ends_with('/')) text.remove_suffix(1);
    return parse_host(text);
}

Result<> check_credentials(const Target& target) {
    if (!target.token.empty()) {
        if (!target.key.empty()) {
            return malformed("SharedAccessKey and SharedAccessSignature exclude each other");
        }
        if (!sas_expiry(target.token.reveal())) {
            return malformed("SharedAccessSignature is no token with an expiry (se=...)");
        }
        return {};
    }
    if (target.key_name.empty() && !target.key.empty()) {
        return malformed("SharedAccessKey needs a SharedAccessKeyName");
    }
    if (!target.key_name.empty() && target.key.empty()) {
        return malformed("SharedAccessKeyName needs a SharedAccessKey");
    }
    return {};
}

Result<> take_pair(std::string_view name, std::string_view value, Target& target) {
    if (equal_without_case(name, "Endpoint")) {
        EK_TRY_ASSIGN(target.endpoint, parse_endpoint(value, target));
    } else if (equal_without_case(name, "SharedAccessKeyName")) {
        target.key_name = value;
    } else if (equal_without_case(name, "SharedAccessKey")) {
        target.key = Secret(std::string(value));
    } else if (equal_without_case(name, "SharedAccessSignature")) {
        target.token = Secret(std::string(value));
    } else if (equal_without_case(name, "EntityPath")) {
        target.event_hub = value;
    } else if (equal_without_case(name, "UseDevelopmentEmulator")) {
        if (!equal_without_case(value, "true") && !equal_without_case(value, "false")) {
            return malformed("UseDevelopmentEmulator is true or false");
        }
        if (equal_without_case(value, "true")) target.tls = false;
    } else if (equal_without_case(name, "TransportType")) {
        target.websocket = equal_without_case(value, "AmqpWebSockets");
        if (!target.websocket && !equal_without_case(value, "Amqp") &&
            !equal_without_case(value, "AmqpTcp")) {
            return malformed("TransportType is AmqpTcp or AmqpWebSockets");
        }
    }
    // Others, such as OperationTimeout, are for other clients.
    return {};
}

}  // namespace

Result<Target> parse_connection_string(std::string_view text) {
    text = trimmed(text, blanks);
    if (text.empty()) {
        return malformed("it is empty; give Endpoint=sb://... or amqp://host/event-hub");
    }
    if (text.size() > text_bytes_max) return malformed("it is too long");
    if (text.starts_with("amqp://") || text.starts_with("amqps://")) return parse_url(text);
    Target target;
    while (!text.empty()) {
        const auto end = text.find(';');
        const std::string_view pair = trimmed(text.substr(0, end), blanks);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            return malformed("it consists of Name=value, with ; between; one part is not so");
        }
        EK_TRY(take_pair(trimmed(pair.substr(0, equals), blanks),
                         trimmed(pair.substr(equals + 1), blanks), target));
    }
    if (target.endpoint.host.empty()) return malformed("Endpoint=sb://host is missing");
    EK_TRY(check_credentials(target));
    choose_port(target);
    return target;
}

}  // namespace evenkeel::eventhubs
