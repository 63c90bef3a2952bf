#include "client/failure.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace evenkeel::client {
namespace {

// A busy service asks for that much patience.
constexpr auto busy_delay = std::chrono::seconds(4);

struct Meaning {
    std::string_view condition;
    ErrorCode code;
    bool retry;
};

constexpr std::array meanings = {
    Meaning{"amqp:link:stolen", ErrorCode::fenced, false},
    Meaning{"amqp:not-found", ErrorCode::not_found, false},
    Meaning{"amqp:resource-deleted", ErrorCode::not_found, false},
    Meaning{"amqp:unauthorized-access", ErrorCode::not_allowed, false},
    Meaning{"com.microsoft:auth-failed", ErrorCode::not_allowed, false},
    Meaning{"com.microsoft:argument-error", ErrorCode::invalid_argument, false},
    Meaning{"com.microsoft:argument-out-of-range", ErrorCode::invalid_argument, false},
    Meaning{"com.microsoft:georeplication:invalid-offset", ErrorCode::invalid_argument, false},
    Meaning{"amqp:link:message-size-exceeded", ErrorCode::invalid_argument, false},
    Meaning{"amqp:decode-error", ErrorCode::invalid_argument, false},
    Meaning{"amqp:invalid-field", ErrorCode::invalid_argument, false},
    Meaning{"amqp:not-allowed", ErrorCode::unsupported, false},
    Meaning{"amqp:not-implemented", ErrorCode::unsupported, false},
    Meaning{"amqp:precondition-failed", ErrorCode::conflict, false},
    Meaning{"amqp:resource-locked", ErrorCode::conflict, false},
    Meaning{"com.microsoft:out-of-order-sequence", ErrorCode::conflict, false},
    Meaning{"com.microsoft:producer-epoch-stolen", ErrorCode::fenced, false},
    // Readers or quota are used up: others would have to go first.
    Meaning{"amqp:resource-limit-exceeded", ErrorCode::overloaded, false},
    Meaning{"com.microsoft:entity-disabled", ErrorCode::unavailable, false},
    Meaning{"com.microsoft:server-busy", ErrorCode::overloaded, true},
    Meaning{"com.microsoft:timeout", ErrorCode::timed_out, true},
};

bool names_a_partition(std::string_view condition, std::string_view text) {
    return condition == "com.microsoft:argument-out-of-range" &&
           text.find("partition is invalid") != std::string_view::npos;
}

// "events 17 to 19 are damaged (...)", as our hub says it: 19.
std::optional<std::int64_t> damaged_to(std::string_view condition, std::string_view text) {
    constexpr std::string_view begin = "events ";
    constexpr std::string_view middle = " to ";
    if (condition != amqp::condition::internal_error || !text.starts_with(begin) ||
        text.find(" are damaged") == std::string_view::npos) {
        return std::nullopt;
    }
    const auto at = text.find(middle);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view number = text.substr(at + middle.size());
    std::int64_t last = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), last);
    if (error != std::errc() || last < 0) return std::nullopt;
    return last;
}

Failure failure_of(std::string_view condition, std::string_view text) {
    Failure failure{{ErrorCode::unavailable, std::string(text)}, true, {}};
    if (failure.error.detail.empty()) failure.error.detail = condition;
    const auto* const found = std::find_if(meanings.begin(), meanings.end(),
                                           [&](const auto& m) { return m.condition == condition; });
    if (found != meanings.end()) {
        failure.error.code = found->code;
        failure.retry = found->retry;
    }
    // As a hub in this process says it.
    if (names_a_partition(condition, text)) failure.error.code = ErrorCode::not_found;
    if (condition == "com.microsoft:server-busy") failure.delay_min = busy_delay;
    if ((failure.damaged_to = damaged_to(condition, text))) {
        failure.error.code = ErrorCode::corrupt;
        failure.retry = false;
    }
    return failure;
}

}  // namespace

Failure failure_of(const std::optional<amqp::Condition>& condition) {
    if (!condition) {
        return {{ErrorCode::unavailable, "the hub ended the link without a reason"}, true, {}};
    }
    return failure_of(condition->name, condition->description);
}

Failure failure_of_status(std::int64_t code, std::string_view condition, std::string_view text) {
    if (condition.empty()) {
        switch (code) {
            case 400: condition = "com.microsoft:argument-error"; break;
            case 401: condition = "com.microsoft:auth-failed"; break;
            case 403: condition = "amqp:resource-limit-exceeded"; break;
            case 404: condition = "amqp:not-found"; break;
            case 408:
            case 504: condition = "com.microsoft:timeout"; break;
            case 501: condition = "amqp:not-implemented"; break;
            case 503: condition = "com.microsoft:server-busy"; break;
            default: condition = "amqp:internal-error"; break;
        }
    }
    return failure_of(condition, text);
}

Failure failure_of(const Error& error) {
    // A name that does not resolve may do so later, but mostly it is misspelt.
    return {error, is_retriable(error), {}};
}

Duration retry_delay(const RetryOptions& options, std::uint32_t retry, Random& random) {
    const std::uint32_t doublings = std::min<std::uint32_t>(retry > 0 ? retry - 1 : 0, 30);
    const Duration grown = std::min<Duration>(
        options.delay_max, Duration(options.delay) * (std::int64_t{1} << doublings));
    return grown * random.between(80, 120) / 100;
}

}  // namespace evenkeel::client
