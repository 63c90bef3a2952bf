// What `devices` notes down about a run: enough for `verify` to work out every reading again.
#pragma once

#include <cstdint>
#include <string>

#include "town.h"
#include <evenkeel/error.h>

namespace homes {

struct Ledger {
    TownOptions town = {};
    std::int64_t first_second = 0;        // since 1970
    std::int64_t end_second = 0;          // behind the last one that was sent
    std::int64_t new_sensor_second = -1;  // from when on the new sensor reports; -1: it does not
    std::uint64_t sent = 0;               // events, with those that are broken
    bool is_complete = false;             // the hub has stored all of them

    bool has_new_sensor(std::int64_t second) const {
        return new_sensor_second >= 0 && second >= new_sensor_second;
    }
};

// Replaces the file as a whole.
evenkeel::Result<> write_ledger(const std::string& file, const Ledger& ledger);
evenkeel::Result<Ledger> read_ledger(const std::string& file);

}  // namespace homes
