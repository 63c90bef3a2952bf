#include "host/handler/cloud_wire.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/base64.h"
#include "base/number.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/time_point.h"
#include "host/handler/bodies.h"
#include "host/handler/metadata.h"

namespace evenkeel::host {
namespace {

constexpr std::string_view structured = "application/cloudevents+json";
// What a field of HTTP can hold as it is; the specification has all else, and '"' and '%', encoded.
constexpr std::string_view plain = "!#$&'()*+,/:;<=>?@[]^`{|} ";

// Name and value, in the order in which they are sent.
using Attributes = std::vector<std::pair<std::string, std::string>>;

Attributes attributes_of(const Invocation& invocation, const Event& event) {
    const std::string& hub = invocation.function.event_hub;
    Attributes all = {
        {"specversion", "1.0"},
        {"id", fmt::format("{}/{}/{}", hub, invocation.partition, event.sequence_number)},
        {"source", fmt::format("evenkeel://{}/{}", percent_encoded(invocation.host_name, ":"),
                               percent_encoded(hub))},
        {"type", "evenkeel.event"},
        {"time", to_string(wall_time(event.enqueued_time))},
        {"partition", fmt::format("{}", invocation.partition)},
        {"sequence", fmt::format("{}", event.sequence_number)},
        {"offset", fmt::format("{}", event.offset)}};
    if (!event.partition_key.empty()) {
        all.emplace_back("subject", event.partition_key);
        all.emplace_back("partitionkey", event.partition_key);
    }
    return all;
}

bool asks_for_patience(int status) {
    return status == 429 || status == 503;
}

// None if the body is not JSON.
std::string json_of(const Event& event) {
    const auto bodies = json_bodies({&event, 1}, false);
    if (!bodies.ok() || bodies->not_json > 0) return {};
    return bodies->array.substr(1, bodies->array.size() - 2);
}

std::string content_type_of(const Event& event) {
    // A field has one line.
    if (!event.content_type().empty()) return printable(event.content_type());
    return json_of(event).empty() ? "application/octet-stream" : "application/json";
}

CloudRequest of_one(const Invocation& invocation, const Event& event) {
    CloudRequest request;
    request.body = event.text();
    const std::string type = content_type_of(event);
    request.fields.push_back({"Content-Type", type});
    if (lower_case(type).starts_with(structured)) return request;
    for (const auto& [name, value] : attributes_of(invocation, event)) {
        request.fields.push_back({"ce-" + name, percent_encoded(value, plain)});
    }
    return request;
}

std::string as_json(const Invocation& invocation, const Event& event) {
    if (lower_case(event.content_type()).starts_with(structured)) {
        if (std::string whole = json_of(event); !whole.empty()) return whole;
    }
    std::string text = "{";
    for (const auto& [name, value] : attributes_of(invocation, event)) {
        text += fmt::format("\"{}\":", name);
        append_quoted(text, value);
        text += ',';
    }
    const std::string json = json_of(event);
    if (json.empty()) {
        return text + fmt::format("\"data_base64\":\"{}\"}}", base64_encoded(event.body()));
    }
    return text + "\"datacontenttype\":\"application/json\",\"data\":" + json + "}";
}

}  // namespace

CloudRequest cloud_request(const Invocation& invocation) {
    if (invocation.function.cardinality == Cardinality::one && invocation.events.size() == 1) {
        return of_one(invocation, invocation.events.front());
    }
    CloudRequest request;
    request.fields.push_back({"Content-Type", "application/cloudevents-batch+json; charset=utf-8"});
    request.body = "[";
    for (const Event& event : invocation.events) {
        if (request.body.size() > 1) request.body += ',';
        request.body += as_json(invocation, event);
    }
    request.body += "]";
    return request;
}

std::optional<Duration> retry_after(int status, std::string_view field) {
    if (!asks_for_patience(status)) return std::nullopt;
    const auto seconds = parse_number<std::uint32_t>(trimmed(field, " \t"));
    if (!seconds) return std::nullopt;
    return std::min<Duration>(std::chrono::seconds(*seconds), retry_after_max);
}

Result<Outcome> cloud_outcome(int status, std::string body, const Function& function) {
    if (status >= 200 && status < 300) {
        Outcome outcome;
        if (!body.empty() && !function.outputs.empty()) {
            outcome.outputs.push_back({function.outputs.front().name, {std::move(body)}});
        }
        return outcome;
    }
    return Error{asks_for_patience(status) ? ErrorCode::unavailable : ErrorCode::handler_failed,
                 fmt::format("the receiver answered with status {}: {}", status, shown(body))};
}

}  // namespace evenkeel::host
