#include "host/handler/custom_wire.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/base64.h"
#include "base/text.h"
#include "host/app/json_file.h"
#include "host/handler/bodies.h"
#include "host/handler/metadata.h"

namespace evenkeel::host {
namespace {

namespace json = boost::json;

Result<std::string> trigger_value(const Invocation& invocation, const HostOptions& options,
                                  std::uint64_t& not_json) {
    const Events events = invocation.events;
    switch (shape_of(invocation.function)) {
        case Shape::text: return quoted(quoted(events.empty() ? "" : events[0].text()));
        case Shape::bytes:
            return quoted(base64_encoded(events.empty() ? Bytes() : events[0].body()));
        case Shape::texts: return quoted(text_bodies(events));
        case Shape::byte_list: return quoted(byte_bodies(events));
        case Shape::values: {
            EK_TRY_ASSIGN(const auto bodies, json_bodies(events, options.strict_json));
            not_json = bodies.not_json;
            return quoted(bodies.array);
        }
    }
    return std::string("null");
}

std::string retry_context(const Invocation& invocation) {
    const auto& retries = invocation.function.retry->retries_max;
    return fmt::format("{{\"RetryCount\":{},\"MaxRetryCount\":{},\"Exception\":{},\"State\":{{}}}}",
                       invocation.attempt, retries ? std::int64_t{*retries} : -1,
                       invocation.last_error.empty()
                           ? "null"
                           : fmt::format("{{\"Message\":{}}}", quoted(invocation.last_error)));
}

Error bad_answer(std::string_view why) {
    return {ErrorCode::handler_failed, fmt::format("the handler's answer {}", why)};
}

std::string text_of(const json::string& text) {
    return {text.data(), text.size()};
}

// One output of a function: from what it wrote to the bodies of events.
class OutputReader {
public:
    OutputReader(std::string_view text, const Function& function, const HostOptions& options)
        : text_(text), function_(function), options_(options) {}

    void take(const std::vector<std::string>& path, const std::string& name,
              const json::value& value, Outcome& outcome) const {
        const auto known = std::find_if(
            function_.outputs.begin(), function_.outputs.end(),
            [&](const EventHubOutput& output) { return equal_without_case(output.name, name); });
        if (known == function_.outputs.end() || value.is_null()) return;
        BoundOutput output{known->name, {}};
        const std::string_view raw = raw_value(text_, path);
        if (const auto* list = value.if_array()) {
            // A name that is there twice has one value here, and two texts.
            const auto texts = raw_elements(raw);
            const bool has_texts = texts.size() == list->size();
            for (std::size_t i = 0; i < list->size(); ++i) {
                output.bodies.push_back(body_of((*list)[i], has_texts ? texts[i] : ""));
            }
        } else if (value.is_string() && options_.base64_outputs && !known->is_binary) {
            const std::string text = text_of(value.get_string());
            const auto decoded = base64_decoded(text);
            if (decoded && !text.empty()) outcome.has_decoded_base64 = true;
            output.bodies.push_back(decoded.value_or(text));
        } else {
            output.bodies.push_back(body_of(value, raw));
        }
        outcome.outputs.push_back(std::move(output));
    }

    void take_members(const std::vector<std::string>& path, const json::object& members,
                      Outcome& outcome) const {
        for (const auto& member : members) {
            auto inner = path;
            inner.emplace_back(member.key().data(), member.key().size());
            take(inner, inner.back(), member.value(), outcome);
        }
    }

private:
    // `raw` keeps all digits of its numbers.
    static std::string body_of(const json::value& value, std::string_view raw) {
        if (const auto* text = value.if_string()) return text_of(*text);
        return raw.empty() ? json::serialize(value) : std::string(raw);
    }

    std::string_view text_;
    const Function& function_;
    const HostOptions& options_;
};

}  // namespace

Result<WireRequest> wire_request(const Invocation& invocation, const HostOptions& options,
                                 const std::string& random_guid, WallTime now) {
    WireRequest request;
    EK_TRY_ASSIGN(const auto value, trigger_value(invocation, options, request.not_json));
    std::string& body = request.body;
    body = fmt::format("{{\"Data\":{{{}:{}}},\"Metadata\":{{", quoted(invocation.function.trigger),
                       value);
    for (const auto& [name, given] : metadata_of(invocation, TimeStyle::bare)) {
        // Objects as they are, and the one time, which .NET makes a date of.
        const bool is_plain = given.starts_with('{') || name == "EnqueuedTimeUtc";
        body += fmt::format("\"{}\":{},", name, is_plain ? given : quoted(given));
    }
    std::string utc = to_string(now);
    utc.insert(utc.size() - 1, "0000");  // .NET has seven digits
    body += fmt::format("\"sys\":{{\"MethodName\":{},\"UtcNow\":\"{}\",\"RandGuid\":\"{}\"}}",
                        quoted(invocation.function.name), utc, random_guid);
    if (invocation.function.retry) body += ",\"RetryContext\":" + retry_context(invocation);
    body += "}}";
    return request;
}

Result<Outcome> wire_outcome(const WireResponse& response, const Function& function,
                             const HostOptions& options) {
    if (response.status < 200 || response.status > 299) {
        return bad_answer(fmt::format("has status {}: {}", response.status, shown(response.body)));
    }
    const std::string_view body = trimmed(response.body, " \t\r\n");
    if (body.empty() || body == "null") return Outcome{};
    if (lower_case(response.content_type).find("json") == std::string::npos) {
        return bad_answer(fmt::format("has the content type '{}'; it must be application/json",
                                      shown(response.content_type)));
    }
    boost::system::error_code error;
    const json::value parsed = json::parse(json::string_view(body.data(), body.size()), error, {},
                                           {.max_depth = json_depth_max});
    if (error) return bad_answer("is not JSON: " + error.message());
    const auto* members = parsed.if_object();
    if (!members) return bad_answer("is not a JSON object");
    Outcome outcome;
    const OutputReader reader(body, function, options);
    for (const auto& member : *members) {
        const std::string name(member.key().data(), member.key().size());
        const json::value& value = member.value();
        if (equal_without_case(name, "Outputs") && value.is_object()) {
            reader.take_members({name}, value.get_object(), outcome);
        } else if (equal_without_case(name, "Logs") && value.is_array()) {
            for (const auto& line : value.get_array()) {
                outcome.logs.push_back(line.is_string() ? text_of(line.get_string())
                                                        : json::serialize(line));
            }
        } else if (equal_without_case(name, "ReturnValue")) {
            const bool has_return =
                std::any_of(function.outputs.begin(), function.outputs.end(),
                            [](const EventHubOutput& output) { return output.name == "$return"; });
            if (has_return) {
                reader.take({name}, "$return", value, outcome);
            } else if (value.is_object()) {
                reader.take_members({name}, value.get_object(), outcome);
            }
        }
    }
    return outcome;
}

}  // namespace evenkeel::host
