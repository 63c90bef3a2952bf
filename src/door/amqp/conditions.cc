#include "door/amqp/conditions.h"

#include <fmt/core.h>

#include "base/random.h"
#include "base/text.h"

namespace evenkeel::door {

std::string peer_text(std::string_view text) {
    constexpr std::size_t bytes_max = 300;
    return printable(text, bytes_max);
}

amqp::Condition condition_of(const Error& error) {
    const auto with = [&](std::string_view name) {
        return amqp::Condition{std::string(name), error.detail};
    };
    switch (error.code) {
        case ErrorCode::invalid_argument: return with(vendor::argument_error);
        case ErrorCode::not_found: return with(amqp::condition::not_found);
        case ErrorCode::already_exists:
        case ErrorCode::conflict: return with(amqp::condition::not_allowed);
        case ErrorCode::not_allowed: return with(amqp::condition::unauthorized);
        case ErrorCode::unsupported: return with(amqp::condition::not_implemented);
        case ErrorCode::fenced: return with(amqp::condition::stolen);
        case ErrorCode::overloaded:
        case ErrorCode::unavailable: return with(vendor::server_busy);
        case ErrorCode::timed_out: return with(vendor::timeout);
        case ErrorCode::cancelled: return with(amqp::condition::detach_forced);
        case ErrorCode::handler_failed:
        case ErrorCode::corrupt: return with(amqp::condition::internal_error);
    }
    return with(amqp::condition::internal_error);
}

amqp::Condition storage_condition(const Error& error) {
    amqp::Condition condition = condition_of(error);
    const bool may_name_files =
        error.code == ErrorCode::unavailable || error.code == ErrorCode::overloaded ||
        error.code == ErrorCode::corrupt || error.code == ErrorCode::timed_out;
    if (may_name_files && error.detail.find('/') != std::string::npos) {
        condition.description = error.code == ErrorCode::overloaded
                                    ? "The storage of the partition is full. "
                                    : "The storage of the partition failed. ";
        condition.description += "The server's log says more.";
    }
    return condition;
}

amqp::Condition entity_not_found(std::string_view address) {
    return {std::string(amqp::condition::not_found),
            fmt::format("The messaging entity '{}' could not be found.", peer_text(address))};
}

amqp::Condition hub_missing(const Error& error, std::string_view address) {
    return error.code == ErrorCode::not_found ? entity_not_found(address) : condition_of(error);
}

amqp::Condition claim_missing(std::string_view claim, std::string_view address) {
    return {std::string(amqp::condition::unauthorized),
            fmt::format("Unauthorized access. '{}' claim(s) are required to perform this "
                        "operation. Resource: '{}'.",
                        claim, peer_text(address))};
}

amqp::Condition invalid_partition(std::string_view partition, std::string_view hub) {
    return {std::string(vendor::argument_out_of_range),
            fmt::format("The specified partition is invalid for an EventHub partition sender or "
                        "receiver. It should be between 0 and one less than the number of "
                        "partitions of '{}'; it is '{}'.",
                        peer_text(hub), peer_text(partition))};
}

amqp::Condition throttled(std::string_view who, std::string_view limit) {
    return {std::string(vendor::server_busy),
            fmt::format("The request was terminated because the {} is being throttled ({}). Error "
                        "code : 50002. Please wait 4 seconds and try again.",
                        who, limit)};
}

amqp::Condition no_place(std::string_view who, std::uint32_t connections_max) {
    return {std::string(amqp::condition::resource_limit),
            fmt::format("The {} has its {} connections already; close one, or raise "
                        "connections_max of its quota.",
                        who, connections_max)};
}

std::string tracking(std::string_view entity, WallTime now) {
    return fmt::format(" TrackingId:{}, SystemTracker:{}, Timestamp:{}", secure_hex(16),
                       peer_text(entity), to_string(now));
}

}  // namespace evenkeel::door
