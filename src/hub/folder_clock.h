// Time as a data folder knows it, so that a wall clock that is wrong at a start removes nothing.
//
// While the hub runs, retention's time moves with the steady clock (commitlog/retention.h). Between
// two runs there are two witnesses: the file `clock`, which says what time it was, and, as long as
// the machine was not started again, the steady clock, which says how much has passed since. What
// the wall clock is ahead of them is a gap: perhaps the machine was off, perhaps the clock is
// wrong. Events from before a gap age without it: they are kept for the retention time as it was
// witnessed. An operator who trusts the clock ends all gaps (HubOptions::trust_clock).
//
// Losing the file costs nothing but its witness: the last event's time takes its place.
// Format: docs/formats/clock.md. Threads: values; load and save block.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "commitlog/retention.h"
#include "io/file.h"

namespace evenkeel::hub {

inline constexpr const char* clock_file_name = "clock";
// How far the wall clock may step between two runs without being doubted.
inline constexpr std::chrono::minutes clock_step_believed{1};

struct ClockRecord {
    WallTime time;     // retention's, when this was written
    std::string boot;  // of the machine; empty if it is not known
    Instant steady;    // at the same moment, of that boot
    std::vector<commitlog::ClockGap> gaps;
    bool operator==(const ClockRecord&) const = default;
};

std::string encode(const ClockRecord& record);
// `corrupt`, saying what is wrong, or `unsupported` if it is of a newer version.
Result<ClockRecord> decode_clock(std::string_view text);

// None if there is no file, or it is damaged; then a warning is logged.
Result<std::optional<ClockRecord>> load_clock(io::FileSystem& files, const std::string& directory);
Result<> save_clock(io::FileSystem& files, const std::string& directory, const ClockRecord& record);

// What a start finds.
struct ClockWitnesses {
    std::optional<ClockRecord> saved;
    WallTime last_event{0};  // the latest enqueued time in the folder; 0 if there is none
    WallTime wall;
    Instant steady;
    std::string boot;
};
struct ClockJudgement {
    std::vector<commitlog::ClockGap> gaps;
    std::chrono::milliseconds ahead{0};  // the wall clock of what is known; 0 if it is believed
};
ClockJudgement judge_clock(const ClockWitnesses& witnesses);

}  // namespace evenkeel::hub
