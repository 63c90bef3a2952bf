// An event as it is read, and the places in a partition where reading can start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel {

// A view of one stored event. The bytes belong to the batch it was read in and live as long as
// that.
class Event {
public:
    std::int64_t sequence_number = -1;    // dense from 0 in its partition
    std::int64_t offset = -1;             // byte position in the partition's stream
    std::int64_t enqueued_time_ms = 0;    // Unix time at which the hub took it; never falls
    std::string_view partition_key;       // empty if none was given
    std::span<const std::byte> sections;  // the encoded AMQP sections, as they came

    // The bytes of the first data section; empty if the event has no such section.
    std::span<const std::byte> body() const;
    std::string_view text() const {
        return {reinterpret_cast<const char*>(body().data()), body().size()};
    }
};

// Where reading starts. Event Hubs' rules: an event hub that has removed the asked-for event starts
// at the first one it still has; a position beyond the last event is an error.
struct Position {
    enum class Kind : std::uint8_t { earliest, latest, offset, sequence_number, enqueued_time };

    Kind kind = Kind::earliest;
    std::int64_t value = 0;
    bool inclusive = false;

    static Position earliest() { return {Kind::earliest, 0, false}; }
    // Only what comes after this moment.
    static Position latest() { return {Kind::latest, 0, false}; }
    static Position after_offset(std::int64_t offset) { return {Kind::offset, offset, false}; }
    static Position at_offset(std::int64_t offset) { return {Kind::offset, offset, true}; }
    static Position after_sequence(std::int64_t number) {
        return {Kind::sequence_number, number, false};
    }
    static Position at_sequence(std::int64_t number) {
        return {Kind::sequence_number, number, true};
    }
    // The first event enqueued later than `unix_ms`, or at that very millisecond if inclusive.
    static Position after_time(std::int64_t unix_ms) {
        return {Kind::enqueued_time, unix_ms, false};
    }
    static Position at_time(std::int64_t unix_ms) { return {Kind::enqueued_time, unix_ms, true}; }
};

}  // namespace evenkeel
