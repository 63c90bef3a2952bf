#include "cli/confirm.h"

#include <cstdio>

#include <unistd.h>

#include <fmt/core.h>

namespace evenkeel::cli {

std::optional<ExitCode> ask_first(const Danger& danger, std::string_view what) {
    if (danger.dry_run) {
        fmt::print(stderr, "{}. Nothing was changed: --dry-run.\n", what);
        return ExitCode::would_change;
    }
    if (danger.yes) return std::nullopt;
    if (isatty(STDIN_FILENO) != 1) {
        return wrong_usage(
            fmt::format("confirmation is needed, but standard input is not a terminal. {}", what),
            "--yes to confirm, or --dry-run to see what would change");
    }
    fmt::print(stderr, "{}. Go ahead? [y/N] ", what);
    std::fflush(stderr);
    char answer[16] = "";
    const bool answered = std::fgets(answer, sizeof answer, stdin) != nullptr;
    if (answered && (answer[0] == 'y' || answer[0] == 'Y')) return std::nullopt;
    fmt::print(stderr, "{}Nothing was changed.\n", answered ? "" : "\n");
    return ExitCode::failed;
}

}  // namespace evenkeel::cli
