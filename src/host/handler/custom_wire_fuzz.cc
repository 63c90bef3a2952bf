// Any bytes as the answer of a custom handler, and as the body and texts of events that go to one,
// or to a receiver of CloudEvents: what is sent is JSON, in fields of one line.
#include <algorithm>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/check.h"
#include "host/handler/cloud_wire.h"
#include "host/handler/custom_wire.h"
#include "host/handler/invocation_fixture.h"

namespace {

using namespace evenkeel;

bool is_json(const std::string& text) {
    boost::system::error_code error;
    (void)boost::json::parse(text, error);
    // Nesting is limited by the parser, and by nobody else.
    return !error || error == boost::json::error::too_deep;
}

void check_answer(const host::Function& function, const host::HostOptions& options,
                  const std::string& body) {
    const auto outcome = host::wire_outcome({200, "application/json", body}, function, options);
    if (!outcome.ok()) {
        EK_CHECK(outcome.error().code == ErrorCode::handler_failed,
                 "an answer fails its execution");
        return;
    }
    for (const auto& output : outcome->outputs) {
        EK_CHECK(output.binding == "alerts" || output.binding == "$return",
                 "an output is one that the function has");
    }
}

void check_requests(const host::GivenEvents& given, const host::HostOptions& options) {
    const auto request = host::wire_request(given.invocation(), options, "guid", WallTime{0});
    EK_CHECK(!request.ok() || is_json(request->body), "a request is JSON");
    const auto cloud = host::cloud_request(given.invocation());
    for (const auto& field : cloud.fields) {
        EK_CHECK(field.value.find_first_of("\r\n") == std::string::npos, "a field has one line");
    }
    EK_CHECK(
        given.invocation().function.cardinality == host::Cardinality::one || is_json(cloud.body),
        "a batch is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned choice = data[0];
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    host::HostOptions options;
    options.strict_json = (choice & 1) != 0;
    options.base64_outputs = (choice & 2) != 0;
    auto function =
        host::a_function((choice & 4) != 0 ? host::Cardinality::one : host::Cardinality::many,
                         (choice & 8) != 0    ? host::DataType::text
                         : (choice & 16) != 0 ? host::DataType::binary
                                              : host::DataType::automatic);
    if ((choice & 32) != 0)
        function.outputs.push_back({.name = "alerts", .event_hub = "a", .connection = ""});
    if ((choice & 64) != 0)
        function.outputs.push_back({.name = "$return", .event_hub = "b", .connection = ""});
    check_answer(function, options, std::string(text));
    const std::string key(text.substr(0, 20));
    check_requests({function,
                    {{.body = text,
                      .content_type = text.substr(0, std::min<std::size_t>(40, text.size())),
                      .subject = key}},
                    {.first_sequence_number = 7, .partition_key = key}},
                   options);
    return 0;
}
