// `evenkeel demo`: a stream of numbered events through a hub, by AMQP between processes, and a
// verdict on what came out of it.
//
//   this process:  hub with its listeners on loopback, view, checker
//   demo-producer: producers, each with a connection ──AMQP──▶ hub ──AMQP──▶ demo-reader, twice
//        └── what was acknowledged ────────────┬──────────────── what was read ──┘
//                                              ▼
//                                      checker: verdict
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/exit_code.h"

namespace evenkeel::cli {

struct DemoOptions {
    std::optional<Duration> duration;  // none: until Ctrl-C
    std::string data;                  // empty: a temporary folder
    std::string event_hub = "demo";
    std::uint32_t partitions = 8;
    std::uint32_t producers = 4;
    std::size_t event_bytes = 256;
    std::size_t batch_events = 100;
    std::uint64_t rate = 100'000;  // events a second of all producers together; 0: no limit
    std::string json_file;         // empty: none; "-": stdout
};

ExitCode demo(const DemoOptions& options);

}  // namespace evenkeel::cli
