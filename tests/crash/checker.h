// Compares what a log holds with what was asked of it, for one partition.
// Pure; works on a History and on one Reading of the whole log.
//
//   acknowledged ⊆ read ⊆ sent       one value per sequence number for ever (LOG-4, LOG-1)
//   seen by a reader ⊆ read (LOG-3)  offsets rise, times do not fall, batches whole and together
//
// An empty history proves nothing and is invalid, not passed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crash/history.h"

namespace evenkeel::crash {

// Events [from, to) that a reader was told it cannot have.
struct Gap {
    std::int64_t from = 0;
    std::int64_t to = 0;
    bool operator==(const Gap&) const = default;
};

// All that a log gave when it was read from the earliest event on.
struct Reading {
    std::int64_t begin = 0;  // first number that may be read
    std::int64_t next = 0;   // number the next event will get
    std::vector<Observed> events;
    std::vector<Gap> gaps;
    bool operator==(const Reading&) const = default;
};
// The first difference, as a text; empty if there is none.
std::string difference(const Reading& expected, const Reading& actual);

struct Rules {
    bool gaps_allowed = false;     // damage was put in on purpose
    bool refused_allowed = false;  // after a crash a refused batch is unknown, not gone
    bool begin_may_fall = false;   // the purge point was damaged
};

// Empty if all is well; otherwise the first thing that is not, with the rule it breaks.
std::string check(const History& history, const Reading& reading, const Rules& rules);

}  // namespace evenkeel::crash
