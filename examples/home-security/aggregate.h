// What became of the readings of one partition in one window of time: an object with a line for
// each home that reported.
//
//   {"partition":7,"from":...,"to":...,"first_sequence":18204331,"last_sequence":18241890,
//    "events":37560,"unreadable":0,"index":[[4,0],[903,5210],...]}
//   {"home":4,"first":201,"last":206,"sensors":{"Hall":[4,1,"motion",1763425921123]},...}
//   ...
//
// Of a sensor: reports, changes among them, and state and time of the last change, or of the last
// report if nothing changed. `first` and `last` are the numbers of the home's readings. The index
// has the home and the place of every 64th line, counted from the end of the first line, so that
// one home is found by reading two small pieces.
//
// An object is a pure function of the events in it, and its name says which these are: whoever
// writes it again, after a crash or a hand-over, writes the same bytes under the same name. So no
// object ever changes, and any that follow each other without a gap tell the truth.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reading.h"
#include <evenkeel/error.h>

namespace homes {

struct WindowHead {
    std::uint32_t partition = 0;
    std::int64_t from_ms = 0, to_ms = 0;  // by the hub's clock
    std::int64_t first_sequence = -1, last_sequence = -1;
    std::uint64_t events = 0, unreadable = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> index = {};
    bool operator==(const WindowHead&) const = default;
};

struct SensorSum {
    std::uint32_t reports = 0, changes = 0;
    State state = State::still;  // of the last change, or of the last report
    std::int64_t at_ms = 0;
    bool operator==(const SensorSum&) const = default;
};

struct Incident {
    std::uint8_t sensor = 0;
    State state = State::broken;
    std::int64_t at_ms = 0;
    bool operator==(const Incident&) const = default;
};

struct HomeSum {
    std::uint32_t home = 0, first = 0, last = 0;
    std::array<SensorSum, sensors.size()> by_sensor = {};
    std::vector<Incident> incidents = {};
    bool operator==(const HomeSum&) const = default;
};

// Of the readings of one home, in the order in which they came. At least one.
HomeSum sum_of(std::span<const Reading> readings);

// "2026-11-18/14/07/3200-000018204331-000018241890.jsonl": day, hour, partition, minute and second,
// first and last event. Sorted by name, the objects of a partition are in order.
std::string object_name(const WindowHead& head);

// What a name says.
struct ObjectName {
    std::string name = {};
    std::uint32_t partition = 0;
    std::int64_t from_ms = 0;
    std::int64_t first_sequence = 0, last_sequence = -1;
};
// None if it is not the name of an object.
std::optional<ObjectName> parse_object_name(const std::string& name);

// The objects that count: each begins with the event behind the one before. Of `names`, all of one
// partition and sorted, the objects from event `next` on, as far as they reach.
//
//   0..........9                     written by an owner that died before its checkpoint
//   0................14 15....20     by its successor, which began at the same checkpoint
//
// The first of them is left out: nothing continues behind it, and 0 to 14 has its events too.
std::vector<ObjectName> chain_of(std::span<const ObjectName> names, std::int64_t next);
// "2026-11-18/14/07/", where all objects of that partition and hour lie.
std::string folder_name(std::uint32_t partition, std::int64_t at_ms);

// The object; the head's index is filled in.
std::string encode(WindowHead head, std::vector<Reading> readings);

// Of the first line of an object, without its end.
evenkeel::Result<WindowHead> parse_head(std::string_view line);
evenkeel::Result<HomeSum> parse_home(std::string_view line);
// Where the line of a home is, if the object has one: offset behind the first line, and length; a
// length of 0 means "up to the end".
std::pair<std::uint64_t, std::uint64_t> place_of(const WindowHead& head, std::uint32_t home);

}  // namespace homes
