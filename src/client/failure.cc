#include "client/failure.h"

#include <algorithm>
#include <array>

#include "base/number.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::client {
namespace {

namespace condition = amqp::condition;
namespace vendor = eventhubs::condition;

// A busy service asks for that much patience.
constexpr auto busy_delay = std::chrono::seconds(4);

struct Meaning {
    std::string_view condition;
    ErrorCode code;
    bool retry;
};

constexpr std::array meanings = {
    Meaning{condition::stolen, ErrorCode::fenced, false},
    Meaning{condition::not_found, ErrorCode::not_found, false},
    Meaning{"amqp:resource-deleted", ErrorCode::not_found, false},
    Meaning{condition::unauthorized, ErrorCode::not_allowed, false},
    Meaning{vendor::auth_failed, ErrorCode::not_allowed, false},
    Meaning{vendor::argument_error, ErrorCode::invalid_argument, false},
    Meaning{vendor::argument_out_of_range, ErrorCode::invalid_argument, false},
    Meaning{vendor::invalid_offset, ErrorCode::invalid_argument, false},
    Meaning{condition::message_size, ErrorCode::invalid_argument, false},
    Meaning{condition::decode_error, ErrorCode::invalid_argument, false},
    Meaning{condition::invalid_field, ErrorCode::invalid_argument, false},
    Meaning{condition::not_allowed, ErrorCode::unsupported, false},
    Meaning{condition::not_implemented, ErrorCode::unsupported, false},
    Meaning{"amqp:precondition-failed", ErrorCode::conflict, false},
    Meaning{"amqp:resource-locked", ErrorCode::conflict, false},
    Meaning{vendor::out_of_order, ErrorCode::conflict, false},
    Meaning{vendor::epoch_stolen, ErrorCode::fenced, false},
    // Readers or quota are used up: others would have to go first.
    Meaning{condition::resource_limit, ErrorCode::overloaded, false},
    Meaning{vendor::entity_disabled, ErrorCode::unavailable, false},
    Meaning{vendor::server_busy, ErrorCode::overloaded, true},
    Meaning{vendor::timeout, ErrorCode::timed_out, true},
};

bool names_a_partition(std::string_view name, std::string_view text) {
    return name == vendor::argument_out_of_range &&
           text.find("partition is invalid") != std::string_view::npos;
}

// "events 17 to 19 are damaged (...)", as our hub says it: 19.
std::optional<std::int64_t> damaged_to(std::string_view name, std::string_view text) {
    constexpr std::string_view begin = "events ";
    constexpr std::string_view middle = " to ";
    if (name != condition::internal_error || !text.starts_with(begin) ||
        text.find(" are damaged") == std::string_view::npos) {
        return std::nullopt;
    }
    const auto at = text.find(middle);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view number = text.substr(at + middle.size());
    const auto last = parse_number<std::int64_t>(number.substr(0, number.find(' ')));
    return last && *last >= 0 ? last : std::nullopt;
}

Failure failure_of(std::string_view name, std::string_view text) {
    Failure failure{{ErrorCode::unavailable, std::string(text)}, true, {}};
    if (failure.error.detail.empty()) failure.error.detail = name;
    const auto* const found = std::find_if(meanings.begin(), meanings.end(),
                                           [&](const auto& m) { return m.condition == name; });
    if (found != meanings.end()) {
        failure.error.code = found->code;
        failure.retry = found->retry;
    }
    // As a hub in this process says it.
    if (names_a_partition(name, text)) failure.error.code = ErrorCode::not_found;
    if (name == vendor::server_busy) failure.delay_min = busy_delay;
    if ((failure.damaged_to = damaged_to(name, text))) {
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

Failure failure_of_status(std::int64_t code, std::string_view name, std::string_view text) {
    if (name.empty()) {
        switch (code) {
            case 400: name = vendor::argument_error; break;
            case 401: name = vendor::auth_failed; break;
            case 403: name = condition::resource_limit; break;
            case 404: name = condition::not_found; break;
            case 408:
            case 504: name = vendor::timeout; break;
            case 501: name = condition::not_implemented; break;
            case 503: name = vendor::server_busy; break;
            default: name = condition::internal_error; break;
        }
    }
    return failure_of(name, text);
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
