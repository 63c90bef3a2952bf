#include "town.h"

#include <algorithm>
#include <tuple>

namespace homes {
namespace {

constexpr std::int64_t day = 86'400, hour = 3'600;
constexpr std::uint64_t seconds_between_reports = 10;
constexpr std::uint64_t seconds_between_new_reports = 20;  // of the new sensor
constexpr std::int64_t door_open_for = 2, stay = 10 * 60, airing = 20 * 60;
// A burglar breaks the glass, goes through the living room, and leaves by the back door.
constexpr std::int64_t until_inside = 3, until_gone = 32;

// What a random number is drawn for. Each has numbers of its own.
enum What : std::uint64_t { reports, moment, bustle, window, burglary, gas, gas_alarm, broken };

// Spreads any number over all 64 bits (splitmix64's last steps).
constexpr std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31U);
}

// In how many homes of a hundred somebody is about at this time of the day.
std::uint64_t homes_awake(std::int64_t second) {
    const std::int64_t at = second % day / hour;
    if (at < 6 || at >= 23) return 1;
    if (at < 9 || (at >= 17 && at < 22)) return 60;
    return at == 12 ? 45 : 15;
}

}  // namespace

Town::Town(const TownOptions& options) : options_(options), next_number_(options.homes) {}

std::uint64_t Town::chance(std::uint64_t what, std::uint64_t home, std::int64_t second) const {
    const std::uint64_t place = mixed(options_.seed * 0x9e3779b97f4a7c15U + what) + home;
    return mixed(mixed(place) + static_cast<std::uint64_t>(second) * 0x9e3779b97f4a7c15U);
}

std::vector<Reading> Town::second(std::int64_t second, bool has_new_sensor) {
    std::vector<Reading> readings;
    readings.reserve(options_.homes / 5);
    for (std::uint32_t home = 0; home < options_.homes; ++home) {
        report(home, second, readings);
        if (has_new_sensor && chance(gas, home, second) % seconds_between_new_reports == 0) {
            readings.push_back({.home = home, .sensor = boiler_room, .state = State::good});
        }
    }
    report_incidents(second, has_new_sensor, readings);
    for (Reading& reading : readings) {
        const std::uint64_t in_second = chance(moment + reading.sensor * 16U, reading.home, second);
        reading.at_ms = second * 1000 + static_cast<std::int64_t>(in_second % 1000);
    }
    std::stable_sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) {
        return std::tie(a.at_ms, a.home) < std::tie(b.at_ms, b.home);
    });
    for (Reading& reading : readings) reading.number = next_number_[reading.home]++;
    return readings;
}

void Town::report(std::uint32_t home, std::int64_t second, std::vector<Reading>& to) const {
    const auto add = [&](std::uint8_t sensor, State state, bool changed) {
        to.push_back({.home = home, .sensor = sensor, .state = state, .changed = changed});
    };
    // A door that was opened is closed a moment later.
    if (is_door_used(home, second - door_open_for)) add(front_door, State::closed, true);
    const bool airs = is_window_open(home, second);
    if (airs != is_window_open(home, second - 1)) {
        add(kitchen_window, airs ? State::open : State::closed, true);
    }
    const std::uint64_t drawn = chance(reports, home, second);
    if (drawn % seconds_between_reports != 0) return;
    if (is_door_used(home, second)) return add(front_door, State::open, true);
    const std::uint8_t room = (drawn >> 40U) % 2 == 0 ? hall : living_room;
    if (happens(drawn, home, second)) return add(room, State::motion, true);
    // Nothing happens: one of the sensors says that it is there.
    switch ((drawn >> 44U) % 6) {
        case 0: return add(back_door, State::closed, false);
        case 1: return add(kitchen_window, airs ? State::open : State::closed, false);
        case 2: return add(terrace_door, State::whole, false);
        default: return add(room, State::still, false);
    }
}

// Whether a report says that something happened: in homes where somebody is about, most of them do.
// People are about for ten minutes at a time.
bool Town::happens(std::uint64_t drawn, std::uint32_t home, std::int64_t second) const {
    return (drawn >> 8U) % 100 < 60 &&
           chance(bustle, home, second / stay) % 100 < homes_awake(second);
}

// The front door, in some of what happens.
bool Town::is_door_used(std::uint32_t home, std::int64_t second) const {
    const std::uint64_t drawn = chance(reports, home, second);
    return drawn % seconds_between_reports == 0 && (drawn >> 20U) % 20 == 0 &&
           happens(drawn, home, second);
}

// For twenty minutes now and then, each home at minutes of its own.
bool Town::is_window_open(std::uint32_t home, std::int64_t second) const {
    const std::int64_t shifted = second + home % airing;
    return chance(window, home, shifted / airing) % 200 < homes_awake(second / airing * airing);
}

std::optional<std::uint32_t> Town::burgled_home(std::int64_t second) const {
    const std::uint64_t drawn = chance(burglary, 0, second);
    if (drawn % options_.incident_seconds != 0) return std::nullopt;
    return static_cast<std::uint32_t>((drawn >> 16U) % options_.homes);
}

void Town::report_incidents(std::int64_t second, bool has_new_sensor,
                            std::vector<Reading>& to) const {
    const auto add = [&](std::optional<std::uint32_t> home, std::uint8_t sensor, State state) {
        if (home) to.push_back({.home = *home, .sensor = sensor, .state = state, .changed = true});
    };
    add(burgled_home(second), terrace_door, State::broken);
    add(burgled_home(second - until_inside), living_room, State::motion);
    add(burgled_home(second - until_gone), back_door, State::open);
    const std::uint64_t drawn = chance(gas_alarm, 0, second);
    if (!has_new_sensor || drawn % options_.incident_seconds != 0) return;
    add(static_cast<std::uint32_t>((drawn >> 16U) % options_.homes), boiler_room, State::alarm);
}

std::optional<std::uint32_t> Town::broken_home(std::int64_t second) const {
    const std::uint64_t drawn = chance(broken, 0, second);
    if (drawn % options_.incident_seconds != 0) return std::nullopt;
    return static_cast<std::uint32_t>((drawn >> 16U) % options_.homes);
}

}  // namespace homes
