// `evenkeel send`: events from arguments, lines, files or standard input, to any event hub by AMQP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct SendOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::vector<std::string> bodies;
    std::vector<std::string> files;  // -: standard input, which is also meant by none
    std::string format = "lines";    // of the files; ndjson: each line is JSON; file: one event
    std::string key;
    std::string key_field;  // the field of a JSON event that holds the key
    std::optional<std::uint32_t> partition;
    std::vector<std::string> properties;  // NAME=VALUE
    std::string content_type;
    std::uint64_t count = 0;  // stop after so many; 0: no limit
    std::string rate = "0";   // events a second, as in units.h; 0: no limit
    bool progress = false;
    bool quiet = false;
};

ExitCode send(const SendOptions& options);

// The partition key in a field of a JSON object: a text as it is, anything else as JSON.
// `invalid_argument` says what is wrong with the body. Without a field only the JSON is checked.
Result<std::string> key_in(std::string_view body, const std::string& field);

}  // namespace evenkeel::cli
