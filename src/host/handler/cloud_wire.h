// Events as CloudEvents 1.0 over HTTP, and what a receiver answers. Pure.
//
//     one   binary mode: attributes in ce-* fields, the body as it is. An event that is a
//           CloudEvent in structured mode (application/cloudevents+json) stays one.
//     many  application/cloudevents-batch+json
//
// id is HUB/PARTITION/SEQUENCE, so the same event has the same id however often it is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "host/handler/handler.h"
#include "http/client.h"

namespace evenkeel::host {

struct CloudRequest {
    std::vector<http::Field> fields;
    std::string body;
};
CloudRequest cloud_request(const Invocation& invocation);

// 2xx: done; a body goes to the function's first output. 429 and 503 ask for patience:
// `unavailable`. Any other status is a failure of the execution.
// With 429 and 503 a receiver may say how many seconds it wants to be left alone; a date is not
// read. None if it does not say, at most retry_after_max.
inline constexpr Duration retry_after_max = std::chrono::minutes(5);
std::optional<Duration> retry_after(int status, std::string_view field);
Result<Outcome> cloud_outcome(int status, std::string body, const Function& function);

}  // namespace evenkeel::host
