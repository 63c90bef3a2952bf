// `evenkeel process`: an instance of an event processor, with what to do with the events given on
// the command line: print them, or hand them to a command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include "host/handler/command_runner.h"

namespace evenkeel::cli {

struct ProcessOptions {
    std::string event_hub;
    RemoteOptions remote;
    std::string group = "$Default";
    bool create_group = false;  // if it does not exist
    std::string store = "sqlite:evenkeel-progress.db";
    std::string id;
    std::string profile = "standard";
    std::string strategy = "balanced";
    bool by_load = false;
    std::string delivery;  // empty: at-least-once, or exactly-once with `into`
    std::string poison = "dead-letter";
    std::string dead_letter = "store";  // or an event hub
    std::uint32_t poison_in_row_max = 20;
    std::string from = "start";
    std::string command;  // --exec
    host::CommandAck ack = host::CommandAck::exit_code;
    std::vector<std::string> pass_env;              // secret variables that the command inherits
    Duration drain_max = std::chrono::seconds(30);  // for it, at hand-over and stop
    std::string format;                             // as `evenkeel read`
    bool json = false;
    bool print = false;  // said aloud; it is what happens without a command
    bool quiet = false;  // neither print nor execute
    std::string into;    // a table in the store's file
    std::uint64_t count = 0;
    std::uint32_t attempts = 5;
    std::uint64_t checkpoint_events = 1000;
    std::optional<Duration> checkpoint_interval;
    std::size_t batch_events_max = 0;  // 0: not said
    std::uint32_t workers = 0;
    bool accept_store_loss = false;
};

ExitCode process(const ProcessOptions& options);

}  // namespace evenkeel::cli
