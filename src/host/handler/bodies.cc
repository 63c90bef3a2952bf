#include "host/handler/bodies.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "host/handler/metadata.h"

namespace evenkeel::host {
namespace {

bool is_json(std::string_view text) {
    if (!is_utf8(text)) return false;
    unsigned char memory[4096];
    boost::json::monotonic_resource resource(memory);
    boost::system::error_code error;
    static_cast<void>(boost::json::parse(boost::json::string_view(text.data(), text.size()), error,
                                         &resource, {.max_depth = json_depth_max}));
    return !error;
}

}  // namespace

Shape shape_of(const Function& function) {
    const bool is_many = function.cardinality == Cardinality::many;
    switch (function.data_type) {
        case DataType::automatic: return is_many ? Shape::values : Shape::text;
        case DataType::text: return is_many ? Shape::texts : Shape::text;
        case DataType::binary: return is_many ? Shape::byte_list : Shape::bytes;
    }
    return Shape::text;
}

Result<JsonBodies> json_bodies(Events events, bool strict) {
    JsonBodies bodies;
    bodies.array = "[";
    for (const Event& event : events) {
        if (bodies.array.size() > 1) bodies.array += ',';
        if (is_json(event.text())) {
            bodies.array += event.text();
            continue;
        }
        if (strict) {
            return Error{ErrorCode::handler_failed,
                         fmt::format("event {}: its body is not JSON, which fails the whole batch "
                                     "with \"strictJson\"",
                                     event.sequence_number)};
        }
        ++bodies.not_json;
        append_quoted(bodies.array, event.text());
    }
    bodies.array += ']';
    return bodies;
}

std::string text_bodies(Events events) {
    std::string array = "[";
    for (const Event& event : events) {
        if (array.size() > 1) array += ',';
        append_quoted(array, event.text());
    }
    return array + "]";
}

std::string byte_bodies(Events events) {
    std::string array = "[";
    for (const Event& event : events) {
        array += fmt::format("{}\"{}\"", array.size() > 1 ? "," : "", base64_encoded(event.body()));
    }
    return array + "]";
}

}  // namespace evenkeel::host
