// What the demo's processes report to the checker, a line each on stdout: a word and eight numbers,
// or an error. Any program that handles events can be checked if it writes such lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace evenkeel::demo {

struct Report {
    enum class Kind : std::uint8_t {
        ready,         // readers: all are open
        sent,          // partition, count
        acknowledged,  // producer, partition, number, count, took
        refused,       // partition, count; the error was reported before
        read,          // partition, sequence, producer, number, count: a run without a gap,
                       // handled under that epoch at that time
        foreign,       // partition, sequence: an event that no producer of this run made
        trouble,       // error: what was refused, damaged, or is tried again
        failed,        // error: it cannot go on
        done,          // a producer: nothing is under way any more
        checkpoint,    // partition, epoch, sequence: progress is stored up to there
    };

    Kind kind = Kind::ready;
    std::uint32_t partition = 0;
    std::uint32_t producer = 0;
    std::uint64_t number = 0;  // of the first event, of its producer in its partition
    std::uint64_t count = 0;
    std::int64_t sequence = 0;  // of the first event
    Duration took{};            // from send to acknowledgement
    std::int64_t epoch = 0;
    std::int64_t at_ms = 0;  // wall time
    Error error = {};
};

std::string to_line(const Report& report);
Result<Report> parse_report(std::string_view line);

// Writes it to stdout in one piece. Threads: any.
void tell(const Report& report);

}  // namespace evenkeel::demo
