// One reading of a sensor, as a home sends it: the event of this example.
//
//   {"home":48213,"number":17,"sensor":"Hall","state":"motion","changed":true,"at":1763425921123}
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/error.h>

namespace homes {

enum class Kind : std::uint8_t { door, motion, window, glass, carbon_monoxide };

struct Sensor {
    std::string_view place;
    Kind kind;
};

// Every home has these. The last one reports only once it is switched on.
inline constexpr std::array<Sensor, 7> sensors = {{{"Front door", Kind::door},
                                                   {"Back door", Kind::door},
                                                   {"Hall", Kind::motion},
                                                   {"Living room", Kind::motion},
                                                   {"Kitchen window", Kind::window},
                                                   {"Terrace door", Kind::glass},
                                                   {"Boiler room", Kind::carbon_monoxide}}};
inline constexpr std::uint8_t front_door = 0, back_door = 1, hall = 2, living_room = 3,
                              kitchen_window = 4, terrace_door = 5, boiler_room = 6;

enum class State : std::uint8_t { closed, open, still, motion, whole, broken, good, alarm };

struct Reading {
    std::uint32_t home = 0;
    std::uint32_t number = 0;  // of this home's readings: 0, 1, 2, ...
    std::uint8_t sensor = 0;   // in `sensors`
    State state = State::still;
    bool changed = false;    // something happened; otherwise only a sign of life
    std::int64_t at_ms = 0;  // when, by the home's own clock

    bool is_incident() const { return state == State::broken || state == State::alarm; }
    bool operator==(const Reading&) const = default;
};

std::string_view to_string(Kind kind);
std::string_view to_string(State state);
// Fails for a text that is none of them.
evenkeel::Result<State> parse_state(std::string_view text);

std::string to_json(const Reading& reading);
// `invalid_argument` says what is wrong with an event that is no reading.
evenkeel::Result<Reading> parse_reading(std::string_view json);

}  // namespace homes
