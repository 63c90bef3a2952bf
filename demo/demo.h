// `evenkeel demo`: a stream of numbered events through a hub to event processors, by AMQP between
// processes, and a verdict on what came out of it. Three pictures, one after the other:
//
//   1 normal     producer ──AMQP──▶ hub ──AMQP──▶ 2 event processors, even shares
//   2 failover   one of them is killed; the other takes over its partitions and continues
//                after their checkpoints
//   3 scale-out  two more start; partitions are handed over, and no event repeats
//
// With the homes and without an end it waits for an operator instead, who has keys and buttons
// (demo/moves.h).
//
//   what was acknowledged ──▶ checker: verdict ◀── what was handled, under which epoch
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/exit_code.h"

namespace evenkeel::demo {

struct Options {
    std::optional<Duration> duration;  // none: until Ctrl-C
    std::string data;                  // empty: a temporary folder
    std::string event_hub = "demo";
    std::uint32_t partitions = 4;
    std::uint32_t producers = 4;
    std::size_t event_bytes = 256;
    std::size_t batch_events = 100;
    std::uint64_t rate = 50'000;  // events a second of all producers together; 0: no limit
    std::string json_file;        // empty: none; "-": stdout
    std::string store;            // of checkpoints; empty: a file beside the hub's data
    // Folder with the programs of examples/home-security, which take the places of producer and
    // processors; empty: they do not.
    std::string programs;
    std::uint32_t homes = 100'000;
    std::string aggregates;  // where they go: a folder or Blob storage; empty: a temporary folder
    bool has_homes() const { return !programs.empty(); }
};

cli::ExitCode run(const Options& options);

}  // namespace evenkeel::demo
