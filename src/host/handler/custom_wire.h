// What goes over HTTP between Azure Functions and a custom handler, bit for bit, oddities included:
// every value that is no JSON object is a JSON text inside a JSON string, so handlers parse twice;
// and outputs that happen to be base64 are decoded. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "host/handler/handler.h"

namespace evenkeel::host {

struct WireRequest {
    std::string body;
    std::uint64_t not_json = 0;  // bodies that were passed on as text
};
// POST to "/<function>". `random_guid` and `now` are passed to the function.
Result<WireRequest> wire_request(const Invocation& invocation, const HostOptions& options,
                                 const std::string& random_guid, WallTime now);

struct WireResponse {
    int status = 0;
    std::string content_type = {};
    std::string body = {};
};
// `handler_failed` says what is wrong with the answer. Outputs that the function does not have are
// ignored.
Result<Outcome> wire_outcome(const WireResponse& response, const Function& function,
                             const HostOptions& options);

}  // namespace evenkeel::host
