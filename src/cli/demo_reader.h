// A reader process of the demo: follows some partitions by AMQP, each on a thread of its own, and
// tells what comes as DemoReport. It judges only whether an event is one of this run; order and
// completeness are the checker's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct DemoReaderOptions {
    std::string event_hub;
    std::uint64_t run = 0;
    std::uint32_t producers = 1;
    std::vector<std::uint32_t> partitions;
};

// From the end of each partition on. Its stdin brings the connection string, then ends when it is
// to stop.
ExitCode demo_reader_child(const DemoReaderOptions& options);

}  // namespace evenkeel::cli
