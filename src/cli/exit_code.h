// How a command ends: its exit code, and what it says on stderr when it failed.
#pragma once

#include <string_view>

#include "cli/text/secrets.h"
#include <evenkeel/error.h>

namespace evenkeel::cli {

enum class ExitCode : int {
    done = 0,
    failed = 1,
    wrong_usage = 2,
    not_found = 3,
    not_allowed = 4,
    cannot_reach = 5,
    conflict = 6,
    partly_done = 7,
    check_warning = 8,
    check_failed = 9,
    would_change = 10,  // a dry run
    interrupted = 130,
};

// Of what failed in this process; exit_code_remote() is for what failed elsewhere.
ExitCode exit_code(ErrorCode code);

// Says what failed, why, and what to do, each on a line of its own. `hint` may be empty.
ExitCode fail(std::string_view what, const Error& error, std::string_view hint = {});
ExitCode wrong_usage(std::string_view why, std::string_view hint = {});

}  // namespace evenkeel::cli
