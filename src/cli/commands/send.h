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
#include "cli/text/event_json.h"

namespace evenkeel::cli {

struct SendOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::vector<std::string> bodies;
    std::vector<std::string> files;  // -: standard input, which is also meant by none
    // Of the files. ndjson: each line is JSON, a body or an event as `read -o json` writes it;
    // events: each line is an event as JSON; file: one event.
    std::string format = "lines";
    std::string key;
    std::string key_field;  // the field of a JSON event that holds the key
    std::optional<std::uint32_t> partition;
    bool keep_partition = false;          // each event to the partition that its JSON names
    std::vector<std::string> properties;  // NAME=VALUE or NAME:TYPE=VALUE
    std::string content_type;
    std::uint64_t count = 0;      // stop after so many; 0: no limit
    std::string rate = "0";       // events a second, as in units.h; 0: no limit
    std::string output = "text";  // json: where each event was stored, on standard output
    bool progress = false;
    bool quiet = false;
};

ExitCode send(const SendOptions& options);

// The partition key in a field of a JSON object: a text as it is, anything else as JSON.
// `invalid_argument` if there is no such field.
Result<std::string> key_in(const boost::json::value& value, const std::string& field);

// "room=hall", "count:int=5"; the types are those of amqp_value.h.
Result<EventParts::Named> property_of(std::string_view text);

}  // namespace evenkeel::cli
