// What became of the events of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/terminal.h"
#include "demo/page_watch.h"
#include "demo/usage.h"

namespace evenkeel::demo {

struct Verdict {
    std::uint64_t sent = 0;
    std::uint64_t durable = 0;  // acknowledged
    std::uint64_t handled = 0;  // read, each counted once
    std::uint64_t lost = 0;     // acknowledged and not read
    std::uint64_t out_of_order = 0;
    std::uint64_t repeated = 0;
    std::uint64_t repeated_at_crash = 0;     // handled, but not yet stored as progress
    std::uint64_t repeated_at_handover = 0;  // none may be
    std::uint64_t handovers = 0;
    std::uint64_t past_fence = 0;            // owners that went on after their successor had begun
    std::optional<double> failover_seconds;  // none: no kill, or not all partitions came back
    double handover_gap_seconds_max = 0;
    bool expects_failover = false;   // a processor was killed
    std::uint64_t repeated_max = 0;  // what the checkpoint policy allows at the crash
    std::uint64_t wrong_content = 0;
    std::uint64_t refused = 0;  // by the hub: not stored, so not lost
    double seconds = 0;
    double ack_p50_ms = 0;
    double ack_p99_ms = 0;
    std::uint32_t partitions = 0;
    std::uint32_t producers = 0;
    std::uint64_t event_bytes = 0;
    bool interrupted = false;
    // Of the programs of examples/home-security; 0 homes: others ran.
    std::uint32_t homes = 0;
    std::uint64_t aggregates_checked = 0;
    std::uint64_t aggregates_wrong = 0;
    std::uint64_t alarms = 0;
    std::int64_t alarm_ms_max = 0;         // from sensor to alarm
    std::uint64_t dead_letters = 0;        // events that no program can read
    std::optional<PageFigures> page = {};  // from sensor to residents' page; none: not measured

    std::vector<Usage::Group> usage = {};  // of the processes, while events were sent

    bool good() const {
        return aggregates_wrong == 0 && (homes == 0 || aggregates_checked > 0) && lost == 0 &&
               out_of_order == 0 && wrong_content == 0 && past_fence == 0 &&
               repeated_at_handover == 0 && repeated == repeated_at_crash &&
               repeated_at_crash <= repeated_max && (!expects_failover || failover_seconds);
    }
    // How many cores were busy on average.
    double cores() const;
    double events_per_second() const {
        return seconds > 0 ? static_cast<double>(durable) / seconds : 0;
    }
};

std::vector<std::string> lines(const Verdict& verdict, const cli::Terminal& terminal);
// One object, with a newline behind it.
std::string to_json(const Verdict& verdict);

}  // namespace evenkeel::demo
