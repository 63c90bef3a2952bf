#include "http/message.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"

namespace evenkeel::http {

namespace {

struct Status {
    int number;
    std::string_view reason;
};
constexpr Status statuses[] = {{101, "Switching Protocols"},
                               {200, "OK"},
                               {201, "Created"},
                               {202, "Accepted"},
                               {204, "No Content"},
                               {302, "Found"},
                               {304, "Not Modified"},
                               {400, "Bad Request"},
                               {401, "Unauthorized"},
                               {403, "Forbidden"},
                               {404, "Not Found"},
                               {405, "Method Not Allowed"},
                               {408, "Request Timeout"},
                               {409, "Conflict"},
                               {413, "Content Too Large"},
                               {415, "Unsupported Media Type"},
                               {417, "Expectation Failed"},
                               {421, "Misdirected Request"},
                               {426, "Upgrade Required"},
                               {429, "Too Many Requests"},
                               {431, "Request Header Fields Too Large"},
                               {500, "Internal Server Error"},
                               {501, "Not Implemented"},
                               {503, "Service Unavailable"},
                               {504, "Gateway Timeout"},
                               {505, "HTTP Version Not Supported"},
                               {507, "Insufficient Storage"}};

std::string_view reason_of(int status) {
    for (const auto& known : statuses) {
        if (known.number == status) return known.reason;
    }
    return "Status";
}

// Also on errors. Pages of ours, which need scripts and styles, replace the policy.
constexpr std::pair<std::string_view, std::string_view> security_fields[] = {
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"}};

// A value may repeat what a client sent, and must not end its line.
void append_field(std::string& to, std::string_view name, std::string_view value) {
    to.append(name).append(": ");
    for (const char c : value) {
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) to += c;
    }
    to += "\r\n";
}

// "Mon, 02 Mar 2026 09:14:00 GMT"
std::string date_text(WallTime time) {
    using namespace std::chrono;
    const sys_seconds seconds_since{duration_cast<seconds>(milliseconds(time.milliseconds))};
    const sys_days day = floor<days>(seconds_since);
    const year_month_day date(day);
    const hh_mm_ss<seconds> clock(seconds_since - day);
    constexpr std::string_view weekdays = "SunMonTueWedThuFriSat";
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                       weekdays.substr(weekday(day).c_encoding() * 3, 3),
                       static_cast<unsigned>(date.day()),
                       months.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3),
                       static_cast<int>(date.year()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

}  // namespace

std::string Request::field(std::string_view name) const {
    std::string value;
    bool found = false;
    for (const auto& field : fields) {
        if (!equal_without_case(field.name, name)) continue;
        if (std::exchange(found, true)) value += ", ";
        value += field.value;
    }
    return value;
}

Response error_response(int status, std::string_view code, std::string_view message) {
    return {.status = status,
            .body = fmt::format("{{\"error\":{{\"code\":\"{}\",\"message\":\"{}\"}}}}\n",
                                json_escaped(code), json_escaped(message))};
}

std::string to_wire(const Response& response, WallTime now, Body body, Afterwards afterwards) {
    std::string wire =
        fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
    append_field(wire, "Date", date_text(now));
    // These have no body, and so no length.
    const bool bare = response.status == 204 || response.status == 304 || response.status < 200;
    if (!bare) {
        append_field(wire, "Content-Type", response.content_type);
        if (response.stream) {
            append_field(wire, "Transfer-Encoding", "chunked");
        } else {
            append_field(wire, "Content-Length", std::to_string(response.body.size()));
        }
    }
    if (response.status != 101) {
        append_field(wire, "Connection", afterwards == Afterwards::close ? "close" : "keep-alive");
    }
    for (const auto& field : response.fields) append_field(wire, field.name, field.value);
    for (const auto& usual : security_fields) {
        const bool replaced = std::ranges::any_of(response.fields, [&](const Field& field) {
            return equal_without_case(field.name, usual.first);
        });
        if (!replaced) append_field(wire, usual.first, usual.second);
    }
    wire += "\r\n";
    if (body == Body::left_out || bare) return wire;
    if (!response.stream) return wire + response.body;
    if (!response.body.empty()) wire += chunk(response.body);
    return wire;
}

std::string chunk(std::string_view bytes) {
    return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        std::string_view item = list.substr(0, comma);
        while (!item.empty() && (item.front() == ' ' || item.front() == '\t'))
            item.remove_prefix(1);
        while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
        if (equal_without_case(item, word)) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

}  // namespace evenkeel::http
