// `evenkeel doctor`: what `check` finds, and what this machine is like, each problem with a remedy.
// With --bundle, all that a maintainer needs in one archive, without secrets.
#pragma once

#include <string>

#include "cli/commands/check.h"

namespace evenkeel::cli {

struct DoctorCommand {
    CheckCommand check;
    std::string folder = ".";  // whose disk is measured
    std::string store;         // empty: none is looked at
    std::string bundle;        // the archive to write; empty: none
    std::string config;        // of the server, for the bundle
    std::string log;           // of the server, for the bundle
};

ExitCode doctor(const DoctorCommand& options);

}  // namespace evenkeel::cli
