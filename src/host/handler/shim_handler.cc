#include "host/handler/shim_handler.h"

#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/base64.h"
#include "host/app/json_file.h"
#include "host/handler/bodies.h"
#include "host/handler/metadata.h"
#include "host/handler/shim_worker.h"
#include "host/handler/worker_log.h"
#include "host/handler/workers.h"

namespace evenkeel::host {
namespace {

struct ShimData {
    std::string_view kind;
    std::string json;
};

Result<ShimData> shim_data(const Invocation& invocation, const HostOptions& options,
                           std::uint64_t& not_json) {
    const Events events = invocation.events;
    switch (shape_of(invocation.function)) {
        case Shape::text: return ShimData{"string", quoted(events.empty() ? "" : events[0].text())};
        case Shape::bytes:
            return ShimData{"bytes",
                            quoted(base64_encoded(events.empty() ? Bytes() : events[0].body()))};
        case Shape::texts: return ShimData{"collection_string", text_bodies(events)};
        case Shape::byte_list: return ShimData{"collection_bytes", byte_bodies(events)};
        case Shape::values: break;
    }
    EK_TRY_ASSIGN(const auto bodies, json_bodies(events, options.strict_json));
    not_json = bodies.not_json;
    return ShimData{"json", quoted(bodies.array)};
}

std::string output_body(const boost::json::value& value) {
    if (const auto* text = value.if_string()) return {text->data(), text->size()};
    if (const auto* object = value.if_object()) {
        return base64_decoded(text_member(*object, "base64")).value_or("");
    }
    return boost::json::serialize(value);
}

class ShimHandler final : public Handler {
public:
    ShimHandler(const App& app, Kind kind, std::stop_token stop)
        : app_(app),
          kind_(kind),
          stop_(std::move(stop)),
          workers_(kind == Kind::python ? "python" : "node", [this] {
              return ShimWorker::start(kind_, app_.folder, app_.settings, app_.options.memory_max,
                                       stop_);
          }) {}
    ~ShimHandler() override { workers_.stop(); }
    void end() override { workers_.end(); }

    Result<> begin() override { return workers_.begin(); }

    Result<Outcome> invoke(const Invocation& invocation) override {
        EK_TRY_ASSIGN(auto request, shim_request(invocation, app_.options));
        invocation.not_json(request.not_json);
        std::optional<Duration> timeout;
        if (app_.options.function_timeout) timeout = *app_.options.function_timeout;
        EK_TRY_ASSIGN(const auto answer,
                      workers_.call<std::string>(invocation, [&](ShimWorker& worker) {
                          return worker.ask(invocation.id, std::move(request.line), timeout);
                      }));
        std::string stack;
        auto outcome = shim_outcome(answer, stack);
        if (!stack.empty()) log_invocation(invocation, "error", stack);
        return outcome;
    }
    void release(const Function& function, std::uint32_t partition) override {
        workers_.release(function, partition);
    }

private:
    const App& app_;
    const Kind kind_;
    const std::stop_token stop_;
    Workers<ShimWorker> workers_;
};

}  // namespace

Result<ShimRequest> shim_request(const Invocation& invocation, const HostOptions& options) {
    ShimRequest request;
    EK_TRY_ASSIGN(const auto data, shim_data(invocation, options, request.not_json));
    std::string& line = request.line;
    line = fmt::format("{{\"id\":\"{}\",\"function\":{},\"kind\":\"{}\",\"data\":{},\"meta\":{{",
                       invocation.id, quoted(invocation.function.name), data.kind, data.json);
    bool is_first = true;
    for (const auto& [name, json] : metadata_of(invocation, TimeStyle::utc)) {
        line += fmt::format("{}\"{}\":", std::exchange(is_first, false) ? "" : ",", name);
        append_quoted(line, json);
    }
    line += "},\"retry\":";
    if (const auto& retry = invocation.function.retry) {
        line += fmt::format("{{\"count\":{},\"max\":{},\"error\":{}}}", invocation.attempt,
                            retry->retries_max ? std::int64_t{*retry->retries_max} : -1,
                            quoted(invocation.last_error));
    } else {
        line += "null";
    }
    line += "}\n";
    return request;
}

Result<Outcome> shim_outcome(const std::string& line, std::string& trace) {
    boost::system::error_code error;
    const auto parsed = boost::json::parse(line, error, {}, {.max_depth = json_depth_max});
    const auto* answer = error ? nullptr : parsed.if_object();
    const auto* ok = answer ? answer->if_contains("ok") : nullptr;
    if (!ok || !ok->is_bool()) {
        return Error{ErrorCode::handler_failed, "the answer of its process is not valid"};
    }
    if (!ok->get_bool()) {
        trace = text_member(*answer, "trace");
        return Error{ErrorCode::handler_failed, text_member(*answer, "error")};
    }
    Outcome outcome;
    const auto* outputs = answer->if_contains("outputs");
    if (!outputs || !outputs->is_object()) return outcome;
    for (const auto& member : outputs->get_object()) {
        BoundOutput output{std::string(member.key().data(), member.key().size()), {}};
        if (const auto* list = member.value().if_array()) {
            for (const auto& body : *list) output.bodies.push_back(output_body(body));
        }
        outcome.outputs.push_back(std::move(output));
    }
    return outcome;
}

std::unique_ptr<Handler> make_shim_handler(const App& app, Kind kind, std::stop_token stop) {
    return std::make_unique<ShimHandler>(app, kind, std::move(stop));
}

}  // namespace evenkeel::host
