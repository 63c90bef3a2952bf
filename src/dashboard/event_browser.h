// Events of an event hub for users who look at them, page by page: forwards from a position, or
// backwards from the newest; of all partitions or of some; all events, or those that match.
//
//     forwards   each partition from its place ──▶ up to `limit` matches each ──▶ merged by time
//     backwards  each partition's last events before its place ──────────────▶ newest first
//
// What a page holds and what it looks at is bounded, in events and in bytes, so that a filter which
// matches nothing answers soon: the cursor goes on from there. Between two partitions the loop has
// its turn. Loop, reads and hubs outlive the answer.
// Threads: pinned to the hub's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "dashboard/event_json.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include <evenkeel/event.h>

namespace evenkeel::dashboard {

using EventMatch = std::function<bool(std::uint32_t partition, const Event&)>;

struct BrowseStart {
    enum class Kind : std::uint8_t { newest, oldest, time, sequence, offset } kind = Kind::newest;
    std::int64_t value = 0;  // of a time: milliseconds since 1970
};
// "newest", "oldest", "time:2026-03-09T10:00:00Z", "seq:12", "offset:34".
Result<BrowseStart> parse_browse_start(std::string_view text);

// A sequence number of each partition: "0.12,3.99".
using BrowsePlaces = std::map<std::uint32_t, std::int64_t>;
std::string to_text(const BrowsePlaces& places);
Result<BrowsePlaces> parse_browse_places(std::string_view text);

// Where each partition goes on: "f:0.12,3.99", "b:0.12".
struct BrowseCursor {
    bool is_backwards = false;
    BrowsePlaces places = {};  // the next event; backwards: behind it
};
std::string to_text(const BrowseCursor& cursor);
Result<BrowseCursor> parse_browse_cursor(std::string_view text);

struct BrowseQuery {
    static constexpr std::size_t limit_max = 1000;
    static constexpr std::size_t page_bytes_max = std::size_t{8} << 20;  // of JSON, or one event
    // With a filter, in all partitions; each has an equal share.
    static constexpr std::int64_t looked_at_max = 20'000;
    static constexpr std::size_t looked_at_bytes_max = std::size_t{32} << 20;

    BrowseStart start = {};
    std::vector<std::uint32_t> partitions = {};  // none: all
    EventMatch match = {};                       // none: every event
    std::size_t limit = 100;
    std::optional<BrowseCursor> cursor = {};  // goes on instead of starting
    BrowsePlaces since = {};                  // backwards: nothing before these is looked at
    BodyLength length = BodyLength::cut;
};

struct BrowsePlace {
    io::Loop& loop;
    io::Executor& reads;  // may block
    hub::Namespace& hubs;
    std::string hub;
};

// {"events":[...],"looked_at","matched","cursor","until","problems"}; "until" is what a later page
// gives as `since` to look at new events only. not_found for an unknown hub or partition.
void browse(const BrowsePlace& place, BrowseQuery query, Callback<void(Result<std::string>)> done);
// The whole event with its sections. not_found if it is not there (any more).
void show_event(const BrowsePlace& place, PartitionId partition, SequenceNumber sequence,
                Callback<void(Result<std::string>)> done);

}  // namespace evenkeel::dashboard
