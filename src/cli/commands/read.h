// `evenkeel read`: events of an event hub, by AMQP, as text or JSON lines on standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include <evenkeel/event.h>
#include <evenkeel/hub.h>

namespace evenkeel::cli {

struct ReadOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string group = "$Default";
    std::vector<std::uint32_t> partitions;  // empty: all
    std::string from = "start";
    std::string to;            // only what lies before this place; empty: all
    std::string filter;        // as in event_filter.h; empty: all
    std::uint64_t count = 0;   // stop after so many; 0: no limit
    bool follow = false;       // wait for more at the end
    bool exit_at_end = false;  // said aloud; it is what happens without `follow`
    std::string format;  // as in event_view.h; empty: the body, on terminals with a header line
    std::string output = "text";  // raw or json
    std::optional<std::int64_t> epoch;
    bool quiet = false;
};

ExitCode read(const ReadOptions& options);

// Where reading begins in each partition.
struct ReadStart {
    Position position;
    std::optional<std::int64_t> last_events;  // so many before the end, in place of the position
};
// start, end, seq:N, offset:N, a time such as 2026-03-02T09:14:00Z, -15m for a time ago, or -10 for
// the last ten events.
std::optional<ReadStart> parse_start(std::string_view text, WallTime now);
// The position in a partition that is as `info` says.
Position position_in(const ReadStart& start, const PartitionInfo& info);

}  // namespace evenkeel::cli
