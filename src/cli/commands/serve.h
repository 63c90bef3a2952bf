// `evenkeel serve`: the server, by a configuration file (server/config.h).
//
//   SIGTERM, SIGINT   drains and exits with 0, within five seconds; a second one exits immediately
//   SIGHUP            reloads the file; an invalid one changes nothing, and is logged
#pragma once

#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "server/config.h"

namespace evenkeel::cli {

struct ServeOptions {
    std::string config;
    std::string ready_file;                       // empty: that of the configuration
    std::optional<server::LogFormat> log_format;  // none: that of the configuration
    bool trust_clock = false;                     // see HubOptions
    bool check = false;                           // only looks whether the configuration is good
};

ExitCode serve(const ServeOptions& options);

}  // namespace evenkeel::cli
