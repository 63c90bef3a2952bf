#include "checkpoint/postgres/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

struct Meaning {
    std::string_view state;  // or how it begins
    ErrorCode code;
    std::string_view remedy;
};

// The first that fits.
constexpr Meaning meanings[] = {
    {"28", ErrorCode::not_allowed,
     "check user and password (in the address, PGPASSWORD or ~/.pgpass), and the server's "
     "pg_hba.conf"},
    {"3D000", ErrorCode::not_found, "create the database, or name another one"},
    {"42501", ErrorCode::not_allowed,
     "the user needs the right to create in the database once (GRANT CREATE ON DATABASE), or to "
     "use what is in its schema evenkeel; docs/stores.md has the statements"},
    {"25006", ErrorCode::unavailable,
     "the server is read-only, a standby perhaps; add target_session_attrs=read-write"},
    {"57014", ErrorCode::timed_out, ""},
    {"55P03", ErrorCode::unavailable, "another session holds the lock; try again"},
    {"40", ErrorCode::unavailable, "try again"},
    {"53300", ErrorCode::overloaded, "raise max_connections, or close some"},
    {"53", ErrorCode::overloaded, "the server is out of disk, memory or connections"},
    {"57", ErrorCode::unavailable, ""},
    {"08", ErrorCode::unavailable, ""},
    {"58", ErrorCode::unavailable, "look at the server's log"},
    {"XX", ErrorCode::corrupt, "look at the server's log"},
    {"22", ErrorCode::invalid_argument, ""},
    {"54", ErrorCode::invalid_argument, ""},
    {"3F000", ErrorCode::unsupported,
     "the schema evenkeel is damaged; restore it, or drop it to begin anew"},
    {"42", ErrorCode::unsupported,
     "the schema evenkeel is not as this program makes it; restore it, or drop it to begin anew"},
};

}  // namespace

Error postgres_error(const PostgresAddress& address, std::string_view state,
                     std::string_view message) {
    const auto* const found = std::ranges::find_if(
        meanings, [&](const Meaning& each) { return state.starts_with(each.state); });
    const bool is_known = found != std::end(meanings);
    return {
        is_known ? found->code : ErrorCode::unavailable,
        fmt::format("{}: {} (SQLSTATE {}){}{}", address.shown(),
                    address.without_secrets(std::string(message)), state,
                    is_known && !found->remedy.empty() ? "; " : "", is_known ? found->remedy : "")};
}

Error postgres_connect_error(const PostgresAddress& address, const std::string& message) {
    const std::string_view state = postgres_state_in(message);
    if (!state.empty()) {
        const std::size_t at = message.find(state) + state.size() + 2;
        return postgres_error(address, state,
                              postgres_first_line(message.substr(std::min(at, message.size()))));
    }
    if (message.find("no password supplied") != message.npos) {  // libpq's own words: no state
        return postgres_error(address, "28P01",
                              "the server asks for a password, and none is given");
    }
    return {ErrorCode::unavailable,
            fmt::format("{}: {}; is this the right host and port, and does the server run?",
                        address.shown(), postgres_first_line(address.without_secrets(message)))};
}

bool postgres_ends_connection(std::string_view state) {
    return state == "25006" || state == "57P01" || state == "57P02" || state == "57P03" ||
           state == "57P05" || state.starts_with("08");
}

std::string postgres_first_line(std::string text) {
    text.erase(std::find(text.begin(), text.end(), '\n'), text.end());
    return text;
}

std::string_view postgres_state_in(std::string_view message) {
    constexpr std::string_view before = ":  ";
    constexpr std::size_t size = 5;
    for (std::size_t at = 0; (at = message.find(before, at)) != message.npos; ++at) {
        const std::string_view rest = message.substr(at + before.size());
        if (rest.size() <= size || rest[size] != ':') continue;
        const bool is_state = std::ranges::all_of(rest.substr(0, size), [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
        });
        if (is_state) return rest.substr(0, size);
    }
    return {};
}

}  // namespace evenkeel::checkpoint
