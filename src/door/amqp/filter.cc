#include "door/amqp/filter.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "amqp/message.h"
#include "base/number.h"
#include "base/text.h"
#include "door/amqp/conditions.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::door {
namespace {

Error bad(std::string_view expression, std::string_view why) {
    return {ErrorCode::invalid_argument,
            fmt::format("The filter '{}' is invalid: {}.", peer_text(expression), why)};
}

}  // namespace

Result<Position> parse_filter(std::string_view expression) {
    if (expression.size() > filter_bytes_max) return bad(expression, "it is too long");
    std::string_view rest = trimmed(expression);
    if (!rest.starts_with(eventhubs::filter::annotation_prefix))
        return bad(expression, "it compares no annotation");
    rest.remove_prefix(eventhubs::filter::annotation_prefix.size());
    const auto field_end = rest.find_first_of(" \t>");
    if (field_end == std::string_view::npos) return bad(expression, "it has no '>'");
    const std::string_view field = rest.substr(0, field_end);
    rest = trimmed(rest.substr(field_end));
    if (!rest.starts_with('>')) return bad(expression, "only > and >= are known");
    rest.remove_prefix(1);
    Position position;
    if (rest.starts_with('=')) {
        position.inclusive = true;
        rest.remove_prefix(1);
    }
    std::string_view value = trimmed(rest);
    if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') {
        value = value.substr(1, value.size() - 2);
    }
    if (field == eventhubs::annotation::offset) {
        position.kind = Position::Kind::offset;
        if (value == eventhubs::filter::latest) return Position::latest();
    } else if (field == eventhubs::annotation::sequence_number) {
        position.kind = Position::Kind::sequence_number;
    } else if (field == eventhubs::annotation::enqueued_time) {
        position.kind = Position::Kind::enqueued_time;
    } else {
        return bad(expression, "no event has that annotation");
    }
    const auto number = parse_number<std::int64_t>(value);
    if (!number) return bad(expression, "its value is not a number");
    position.value = *number;
    // The end of time: nothing is ever later, and the log counts one further.
    if (position.kind == Position::Kind::enqueued_time) {
        position.value = std::min(position.value, std::numeric_limits<std::int64_t>::max() - 1);
    }
    return position;
}

Result<Position> position_of_filter(ByteView filter_map) {
    Result<Position> position = Position::earliest();
    const bool good = amqp::for_each_pair(filter_map, [&](std::string_view name, ByteView value) {
        if (name != eventhubs::filter::name) return;
        amqp::Decoder decoder(value);
        if (decoder.peek() == amqp::code::described) decoder.descriptor();
        const auto expression = decoder.text();
        if (expression) {
            position = parse_filter(*expression);
        } else {
            position = Error{ErrorCode::invalid_argument, "The filter is not a string."};
        }
    });
    if (!good) return Error{ErrorCode::invalid_argument, "The filter set is not a map."};
    return position;
}

}  // namespace evenkeel::door
