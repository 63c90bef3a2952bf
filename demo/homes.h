// The demo's other cast: the programs of examples/home-security in place of producer and
// processors. What they print becomes reports, so the same checker judges them; and at the end
// their `verify` compares every aggregate with what the devices sent.
//
// An event counts as handled once the aggregate that it is in is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "cli/exit_code.h"
#include "demo/report.h"

namespace evenkeel::demo {

inline constexpr std::uint32_t homes_partitions = 16;

// What their lines tell besides reports. Threads: any.
struct HomesNews {
    struct Alarms {
        std::uint64_t count = 0;
        std::int64_t slowest_ms = 0;  // from sensor to alarm
        std::uint32_t last_home = 0;
        std::uint64_t dead_letters = 0;
    };
    Guarded<Alarms> alarms;
    Guarded<std::string> page;  // its address, once it is known
};

// A line as a report; none if it has nothing for the checker.
std::optional<Report> report_of(std::string_view line, std::int64_t now_ms, HomesNews& news);

// The devices number the readings of a home from 0 in each run, so each run has a folder of its own
// in what was given: a folder, or a container of Blob storage.
std::string aggregates_of_run(const std::string& where, std::uint64_t run);

// Arguments of this program with which it becomes that one: see run_program().
std::vector<std::string> devices_arguments(const std::string& folder, std::uint32_t homes,
                                           const std::string& ledger);
std::vector<std::string> aggregator_arguments(const std::string& folder, const std::string& id,
                                              bool is_fast);
std::vector<std::string> alarms_arguments(const std::string& folder, bool is_fast);
std::vector<std::string> page_arguments(const std::string& folder, std::uint32_t homes);

// Ends with its parent, takes the connection string from its stdin, and becomes the program.
cli::ExitCode run_program(const std::vector<std::string>& words);

struct Aggregates {
    std::uint64_t checked = 0;
    std::uint64_t wrong = 0;  // also those that are missing
    std::uint64_t events = 0;
};
// Runs `verify`, which waits for a while for what is missing.
Result<Aggregates> verify_aggregates(const std::string& folder, const std::string& ledger);
// Of its output.
Result<Aggregates> parse_aggregates(std::string_view json);

}  // namespace evenkeel::demo
