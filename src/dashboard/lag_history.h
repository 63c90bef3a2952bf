// How far behind the partitions of a group were, a point a minute for a day, in memory: 12 MB for a
// thousand partitions. Larger groups have a point every five minutes. It begins with the server.
// Threads: those of its owner.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "dashboard/group_view.h"
#include "dashboard/json_writer.h"

namespace evenkeel::dashboard {

class LagHistory {
public:
    static constexpr std::int64_t minutes_max = 24 * 60;
    static constexpr std::size_t partitions_fine_max = 1000;

    // Once a minute.
    void sample(const GroupView& view, WallTime now);
    // "step_s","t","furthest_ms","median_ms","heat" of the last `minutes`.
    void write(JsonWriter& json, std::int64_t minutes, WallTime now) const;

private:
    struct Point {
        WallTime at;
        std::vector<std::optional<std::int64_t>> behind_ms;  // by partition
    };
    std::deque<Point> points_;
    std::int64_t step_minutes_ = 1;
    std::uint64_t samples_ = 0;
};

}  // namespace evenkeel::dashboard
