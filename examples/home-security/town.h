// The simulated homes. What they report in a second is a pure function of the seed, the second and
// whether the new sensor is on, so that `verify` can work out again what `devices` sent.
//
// Each home reports on average every ten seconds: a motion, a door, a window, or a sign of life.
// There is a day and a night, and now and then glass breaks somewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reading.h"

namespace homes {

struct TownOptions {
    std::uint32_t homes = 100'000;
    std::uint64_t seed = 1;
    // On average, in the whole town: between two burglaries, two alarms of the new sensor, and two
    // events that are broken.
    std::uint32_t incident_seconds = 20;
};

class Town {
public:
    explicit Town(const TownOptions& options);

    // What all homes report in this second (since 1970), in order of time. Call it for one second
    // after the other: it numbers the readings of each home.
    std::vector<Reading> second(std::int64_t second, bool has_new_sensor);

    // The home whose hub sends something broken in this second, if any does.
    std::optional<std::uint32_t> broken_home(std::int64_t second) const;

private:
    std::uint64_t chance(std::uint64_t what, std::uint64_t home, std::int64_t second) const;
    bool happens(std::uint64_t drawn, std::uint32_t home, std::int64_t second) const;
    bool is_door_used(std::uint32_t home, std::int64_t second) const;
    bool is_window_open(std::uint32_t home, std::int64_t second) const;
    std::optional<std::uint32_t> burgled_home(std::int64_t second) const;
    void report(std::uint32_t home, std::int64_t second, std::vector<Reading>& to) const;
    void report_incidents(std::int64_t second, bool has_new_sensor, std::vector<Reading>& to) const;

    const TownOptions options_;
    std::vector<std::uint32_t> next_number_;  // by home
};

}  // namespace homes
