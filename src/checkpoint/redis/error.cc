#include "checkpoint/redis/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

struct Meaning {
    std::string_view start;
    ErrorCode code;
    std::string_view remedy;
};

constexpr Meaning meanings[] = {
    {"WRONGPASS", ErrorCode::not_allowed, "check user and password in the address"},
    {"NOAUTH", ErrorCode::not_allowed,
     "the server wants a password: redis://:PASSWORD@HOST, or redis://USER:PASSWORD@HOST"},
    {"NOPERM", ErrorCode::not_allowed,
     "the user needs the commands and keys that docs/stores.md lists (ACL SETUSER)"},
    {"DENIED", ErrorCode::not_allowed,
     "the server is in protected mode: give it a password, or let it bind to this address"},
    {"ERR AUTH", ErrorCode::not_allowed, "the server has no such user, or no password at all"},
    {"ERR unknown command 'HELLO'", ErrorCode::unsupported, "Redis 6 or later is needed"},
    {"ERR unknown command `HELLO`", ErrorCode::unsupported, "Redis 6 or later is needed"},
    {"NOPROTO", ErrorCode::unsupported, "Redis 6 or later is needed"},
    {"ERR DB index", ErrorCode::not_found, "name a database that the server has"},
    {"ERR SELECT is not allowed in cluster mode", ErrorCode::not_found,
     "a Redis Cluster has only database 0"},
    {"ERR max number of clients", ErrorCode::overloaded, "raise maxclients, or close some"},
    {"OOM", ErrorCode::overloaded, "the server is out of memory; raise maxmemory"},
    {"MISCONF", ErrorCode::unavailable, "the server cannot write to its disk"},
    {"WRONGTYPE", ErrorCode::unsupported,
     "a key of ours is of another program; use another database"},
    {"MOVED", ErrorCode::unavailable, "the cluster moves its keys; try again"},
    {"ASK", ErrorCode::unavailable, "the cluster moves its keys; try again"},
    {"EVENKEEL LOST", ErrorCode::unavailable, ""},
    {"EVENKEEL", ErrorCode::corrupt, "remove the entry, or restore it"},
};

}  // namespace

Error redis_error(std::string_view shown, std::string_view text) {
    const auto* const found = std::ranges::find_if(
        meanings, [&](const Meaning& each) { return text.starts_with(each.start); });
    const bool is_known = found != std::end(meanings);
    return {is_known ? found->code : ErrorCode::unavailable,
            fmt::format("{}: {}{}{}", shown, text, is_known && !found->remedy.empty() ? "; " : "",
                        is_known ? found->remedy : "")};
}

bool redis_ends_connection(std::string_view text) {
    for (const std::string_view start :
         {"READONLY", "MOVED", "MASTERDOWN", "LOADING", "UNBLOCKED", "NOAUTH"}) {
        if (text.starts_with(start)) return true;
    }
    return false;
}

std::optional<io::Endpoint> redis_moved_to(std::string_view text, const std::string& host) {
    if (!text.starts_with("MOVED ")) return std::nullopt;
    const std::size_t blank = text.rfind(' ');
    std::string where(text.substr(blank + 1));
    if (where.starts_with(':')) where.insert(0, host);
    return io::parse_endpoint(where);
}

}  // namespace evenkeel::checkpoint
