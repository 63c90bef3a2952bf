#include "reading.h"

#include <algorithm>
#include <limits>

#include <boost/json.hpp>

namespace homes {
namespace {

using evenkeel::Error;
using evenkeel::ErrorCode;
using evenkeel::Result;

constexpr std::array<std::string_view, 5> kinds = {"door", "motion", "window", "glass",
                                                   "carbon monoxide"};
constexpr std::array<std::string_view, 8> states = {"closed", "open",   "still", "motion",
                                                    "whole",  "broken", "good",  "alarm"};

Error wrong(std::string_view what) {
    return {ErrorCode::invalid_argument, "not a reading: " + std::string(what)};
}

// A whole number from 0 to `most`; nothing if the field is missing or something else.
const boost::json::value* number_in(const boost::json::object& object, std::string_view name,
                                    std::int64_t most) {
    const auto* value = object.if_contains(name);
    if (value == nullptr || !value->is_int64()) return nullptr;
    return value->get_int64() >= 0 && value->get_int64() <= most ? value : nullptr;
}

}  // namespace

std::string_view to_string(Kind kind) {
    return kinds[static_cast<std::size_t>(kind)];
}

std::string_view to_string(State state) {
    return states[static_cast<std::size_t>(state)];
}

Result<State> parse_state(std::string_view text) {
    const auto found = std::find(states.begin(), states.end(), text);
    if (found == states.end()) return wrong("no sensor has this state");
    return static_cast<State>(found - states.begin());
}

std::string to_json(const Reading& reading) {
    std::string text = "{\"home\":" + std::to_string(reading.home) +
                       ",\"number\":" + std::to_string(reading.number) + ",\"sensor\":\"";
    text += sensors[reading.sensor].place;
    text += "\",\"state\":\"";
    text += to_string(reading.state);
    text += reading.changed ? "\",\"changed\":true,\"at\":" : "\",\"changed\":false,\"at\":";
    return text + std::to_string(reading.at_ms) + "}";
}

Result<Reading> parse_reading(std::string_view json) {
    // On the stack: an event is small, and there are ten thousand a second.
    unsigned char memory[2048];
    boost::json::monotonic_resource resource(memory, sizeof memory);
    boost::system::error_code error;
    const auto value = boost::json::parse(json, error, &resource);
    if (error || !value.is_object()) return wrong("it is no JSON object");
    const auto& object = value.get_object();

    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const auto* home = number_in(object, "home", most);
    const auto* number = number_in(object, "number", most);
    const auto* at = number_in(object, "at", std::numeric_limits<std::int64_t>::max());
    const auto* place = object.if_contains("sensor");
    const auto* state = object.if_contains("state");
    const auto* changed = object.if_contains("changed");
    if (!home || !number || !at) return wrong("home, number and at are whole numbers");
    if (!place || !place->is_string() || !state || !state->is_string() || !changed ||
        !changed->is_bool()) {
        return wrong("sensor and state are texts, changed is true or false");
    }
    const std::string_view name = place->get_string();
    const auto sensor = std::find_if(sensors.begin(), sensors.end(),
                                     [&](const Sensor& known) { return known.place == name; });
    if (sensor == sensors.end()) return wrong("no home has this sensor");
    const auto known_state = parse_state(std::string_view(state->get_string()));
    if (!known_state) return known_state.error();
    return Reading{.home = static_cast<std::uint32_t>(home->get_int64()),
                   .number = static_cast<std::uint32_t>(number->get_int64()),
                   .sensor = static_cast<std::uint8_t>(sensor - sensors.begin()),
                   .state = *known_state,
                   .changed = changed->get_bool(),
                   .at_ms = at->get_int64()};
}

}  // namespace homes
