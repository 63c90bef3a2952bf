#include "base/result.h"

#include "base/check.h"

namespace evenkeel {

std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return "invalid_argument";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::already_exists: return "already_exists";
        case ErrorCode::not_allowed: return "not_allowed";
        case ErrorCode::unsupported: return "unsupported";
        case ErrorCode::conflict: return "conflict";
        case ErrorCode::fenced: return "fenced";
        case ErrorCode::overloaded: return "overloaded";
        case ErrorCode::unavailable: return "unavailable";
        case ErrorCode::timed_out: return "timed_out";
        case ErrorCode::cancelled: return "cancelled";
        case ErrorCode::handler_failed: return "handler_failed";
        case ErrorCode::corrupt: return "corrupt";
    }
    return "unknown";
}

std::string to_string(const Error& error) {
    return std::string(to_string(error.code)) + ": " + error.detail;
}

namespace detail {

void bad_result_access(const Error* error) {
    const std::string what =
        error ? "value() of a failed Result: " + to_string(*error) : "error() of a good Result";
    check_failed("result.ok()", what.c_str(), __FILE__, __LINE__);
}

}  // namespace detail
}  // namespace evenkeel
