// Rot: files of a stopped log that are damaged on purpose, and the rules that hold afterwards.
//
//   No wrong bytes. No event skipped without a word that names it. Nothing lost but what the damage
//   touched. No number given out again. Nothing removed because a hint is wrong.
//   See LOG-4, LOG-7, LOG-8 and LOG-16.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "crash/log_world.h"

namespace evenkeel::crash {

// A log at rest: three segments of about `segment_bytes` with a purged beginning, old events in
// front and young ones behind.
struct RotLog {
    commitlog::LogOptions options;
    History history;
    Reading reading;
    std::unique_ptr<io::sim::Disk> disk;
    WallTime now;              // the age of events is judged from here
    std::int64_t first_young;  // events from here on are younger than an hour
    std::int64_t proved;       // whatever lies below this offset is known to have been good

    std::vector<std::string> files(std::string_view suffix) const;
    std::string mark() const { return std::string(partition_folder) + "/mark"; }
};
// After a power loss the mark is an old one: all but the last flush is proved by later records.
enum class Stopped : std::uint8_t { cleanly, killed, power_lost };
RotLog a_rot_log(std::uint64_t seed, Stopped stopped, std::uint64_t segment_bytes);

// What the damage touched, in positions of the stream; nothing for an index or the mark.
struct Touched {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
// The part [position, position + bytes) of the file. Of a journal: the events of all entries that
// lie there, which after a power loss may be nowhere else.
Touched touched(const RotLog& log, const std::string& path, std::uint64_t position,
                std::uint64_t bytes);
Touched touched(const std::string& path, std::uint64_t position, std::uint64_t bytes);

struct RotRules {
    Touched touched;
    bool begin_may_fall = false;
};
// Empty if the log on `damaged` is as it should be; otherwise what is wrong.
std::string examine(const RotLog& log, std::unique_ptr<io::sim::Disk> damaged,
                    const RotRules& rules, Random& random);

}  // namespace evenkeel::crash
