// `evenkeel key`: rules with their keys, through the admin interface. Keys are shown by show,
// create and rotate, which were asked for them, and nowhere else; `token` makes a token of one.
#pragma once

#include <string>
#include <vector>

#include "cli/confirm.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

struct KeyCommand {
    RemoteOptions remote;
    Output output = Output::table;
    std::string event_hub;  // empty: the whole namespace
    std::string name;
    std::vector<std::string> rights;
    std::string which;            // primary or secondary
    std::string lifetime = "1h";  // of a token
    std::string expires;          // or its end: 2026-03-02T09:14:00Z
    Danger danger;
};

ExitCode key_ls(const KeyCommand& options);
ExitCode key_show(const KeyCommand& options);
ExitCode key_create(const KeyCommand& options);
ExitCode key_rotate(const KeyCommand& options);
// A token made here from the key of the connection string; no server is asked.
ExitCode key_token(const KeyCommand& options);
ExitCode key_rm(const KeyCommand& options);

}  // namespace evenkeel::cli
