// What went wrong with a link, a request or a connection, and whether it may go right the next
// time.
#pragma once

#include <optional>
#include <string_view>

#include "amqp/performatives.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include <evenkeel/client.h>

namespace evenkeel::client {

struct Failure {
    Error error;
    bool retry = false;
    Duration delay_min{0};  // before the next attempt
    // The last event of a range that the hub cannot read any more; reading may go on behind it.
    std::optional<std::int64_t> damaged_to = {};
};

// Of a link or connection that the peer ended, or of a delivery that it rejected. Unknown
// conditions are tried again.
Failure failure_of(const std::optional<amqp::Condition>& condition);
// Of a request to a node, from the reply's status code and condition (may be empty).
Failure failure_of_status(std::int64_t code, std::string_view condition, std::string_view text);
// Of a transport: what could not be reached or was lost.
Failure failure_of(const Error& error);

// The pause before retry number `retry`, from 1: doubles up to the limit, give or take a fifth.
Duration retry_delay(const RetryOptions& options, std::uint32_t retry, Random& random);

}  // namespace evenkeel::client
