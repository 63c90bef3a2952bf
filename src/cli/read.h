// `evenkeel read`: events of an event hub, by AMQP, as text or JSON lines on standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/exit_code.h"
#include <evenkeel/event.h>

namespace evenkeel::cli {

struct ReadOptions {
    std::string event_hub;
    std::string connection;  // empty: the hub of `evenkeel dev`
    std::string group = "$Default";
    std::vector<std::uint32_t> partitions;  // empty: all
    std::string from = "start";
    std::uint64_t count = 0;  // stop after so many; 0: no limit
    bool follow = false;      // wait for more at the end
    std::string format;       // %p partition, %s sequence, %o offset, %t time, %k key, %b body
    bool json = false;
    std::optional<std::int64_t> epoch;
};

ExitCode read(const ReadOptions& options);

// start, end, seq:N, offset:N, a time such as 2026-03-02T09:14:00Z, or -15m for a time ago.
std::optional<Position> parse_position(std::string_view text, WallTime now);

// One event by the format, with %% for a percent sign, \n and \t.
std::string formatted(std::string_view format, std::uint32_t partition, const Event& event);
// One event as a JSON object. A body that is not UTF-8 is given in base64.
std::string as_json(std::uint32_t partition, const Event& event);

}  // namespace evenkeel::cli
