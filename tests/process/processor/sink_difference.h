// What differs between a partition's log and what was written of it into a sink, by kind, so that
// a test can ask what happened and not how it is worded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/processor/exactly_once_sink.h"

namespace evenkeel::test {

struct LogEntry {
    std::int64_t sequence = 0;
    std::string body;
};

struct SinkDifference {
    std::size_t missing = 0;         // events of the log that are not in the sink
    std::size_t repeated = 0;        // rows with an event that the sink already had
    std::size_t unknown = 0;         // rows with an event that the log does not have
    std::size_t disordered = 0;      // first rows of an event behind those of a later one
    std::size_t other_values = 0;    // rows with another value than the log's
    std::size_t past_the_fence = 0;  // rows of an owner that had a successor
    std::size_t other_totals = 0;    // the running digest is not that of the log
    std::size_t unreadable = 0;      // the log could not be read
    bool operator==(const SinkDifference&) const = default;

    SinkDifference& operator+=(const SinkDifference& other) {
        missing += other.missing;
        repeated += other.repeated;
        unknown += other.unknown;
        disordered += other.disordered;
        other_values += other.other_values;
        past_the_fence += other.past_the_fence;
        other_totals += other.other_totals;
        unreadable += other.unreadable;
        return *this;
    }
};

// As a text: "3 repeated, 1 other totals", or "none".
inline std::string describe(const SinkDifference& difference) {
    const std::array<std::pair<std::string_view, std::size_t>, 8> kinds = {{
        {"missing", difference.missing},
        {"repeated", difference.repeated},
        {"unknown", difference.unknown},
        {"disordered", difference.disordered},
        {"other values", difference.other_values},
        {"past the fence", difference.past_the_fence},
        {"other totals", difference.other_totals},
        {"unreadable", difference.unreadable},
    }};
    std::string text;
    for (const auto& [name, count] : kinds) {
        if (count == 0) continue;
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(name);
    }
    return text.empty() ? "none" : text;
}

// `rows` in the order in which they were committed.
inline SinkDifference compare_with_log(const std::vector<LogEntry>& log,
                                       const std::vector<SinkRow>& rows, const SinkTotal& total) {
    SinkDifference difference;
    std::map<std::int64_t, std::pair<const LogEntry*, bool>> entries;  // and whether it was seen
    SinkTotal expected;
    for (const LogEntry& entry : log) {
        entries.try_emplace(entry.sequence, &entry, false);
        expected = with_event(expected, entry.body);
    }
    std::int64_t last = -1;
    std::int64_t epoch = 0;
    for (const SinkRow& row : rows) {
        if (row.epoch < epoch) ++difference.past_the_fence;
        epoch = std::max(epoch, row.epoch);
        const auto found = entries.find(row.sequence);
        if (found == entries.end()) {
            ++difference.unknown;
            continue;
        }
        auto& [entry, was_seen] = found->second;
        if (row.body != entry->body) ++difference.other_values;
        if (was_seen) {
            ++difference.repeated;
            continue;
        }
        was_seen = true;
        if (row.sequence < last) ++difference.disordered;
        last = std::max(last, row.sequence);
    }
    for (const auto& [sequence, entry] : entries) {
        if (!entry.second) ++difference.missing;
    }
    if (total != expected) ++difference.other_totals;
    return difference;
}

// For EXPECT_EQ.
inline void PrintTo(const SinkDifference& difference, std::ostream* out) {
    *out << describe(difference);
}

}  // namespace evenkeel::test
