// `evenkeel conn`: prints the connection string that other programs need, and tries it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

struct ConnCommand {
    RemoteOptions remote;
    Output output = Output::table;
    std::string event_hub;        // empty: that of the connection string, or none
    std::string key;              // a rule's name; empty: the one we come with
    std::string config;           // of a server on this machine, whose key is read from its folder
    std::string way = "amqp";     // or ws
    bool as_environment = false;  // export NAME='...'
    bool test = false;
};

ExitCode conn(const ConnCommand& options);

// The hub by AMQP, with this key. Empty name: without a key.
struct Credentials {
    std::string key_name;
    Secret key;
    Secret token;  // in the place of name and key
};
enum class Way : std::uint8_t { amqp, websocket };
std::string connection_text(const Remote& remote, const Credentials& credentials,
                            const std::string& event_hub, Way way = Way::amqp);
// In single quotes, for a shell.
std::string shell_quoted(std::string_view text);

}  // namespace evenkeel::cli
