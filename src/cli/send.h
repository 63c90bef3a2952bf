// `evenkeel send`: events from lines, files or standard input, to any event hub by AMQP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct SendOptions {
    std::string event_hub;
    std::string connection;           // empty: the hub of `evenkeel dev`
    std::vector<std::string> bodies;  // empty: lines of `file`
    std::string file = "-";           // -: standard input
    bool ndjson = false;              // each line must be a JSON value
    std::string key;
    std::string key_field;  // the field of a JSON line that holds the key
    std::optional<std::uint32_t> partition;
    std::uint64_t count = 0;  // send the bodies over and over until so many; 0: once
    double rate = 0;          // events a second; 0: as fast as it goes
    bool quiet = false;
};

ExitCode send(const SendOptions& options);

// The connection string of a hub started with `evenkeel dev`; from EVENKEEL_HUB if that is set.
std::string default_connection();

}  // namespace evenkeel::cli
