// --watch: what a command shows, again and again.
//
// On a terminal it is redrawn in place, in the size that the terminal has now; q ends it (exit code
// 0), Ctrl-C too (130). Otherwise one block comes after another, with an empty line between them,
// or one line for each JSON document. A round that fails, because the hub is away for example, is
// shown and the next one comes all the same; only the first one ends the command.
#pragma once

#include <functional>
#include <string>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct Watch {
    std::string interval;  // as typed; empty: once
};

// Calls `show`, which prints to stdout and stderr: once, or as often as `watch` says.
ExitCode watched(const Watch& watch, bool is_json, const std::function<ExitCode()>& show);

// For the tests: the lines that a terminal of this size shows, redrawn from its first one.
std::string screen_of(const std::string& header, const std::string& text, int rows);
// A JSON text on one line; as it is if it is none.
std::string on_one_line(const std::string& text);

}  // namespace evenkeel::cli
