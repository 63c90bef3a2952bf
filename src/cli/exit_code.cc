#include "cli/exit_code.h"

#include <cstdio>

#include <fmt/core.h>

#include "base/text.h"
#include "cli/text/hub_reply.h"

namespace evenkeel::cli {

ExitCode exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return ExitCode::wrong_usage;
        case ErrorCode::not_found: return ExitCode::not_found;
        case ErrorCode::already_exists:
        case ErrorCode::conflict: return ExitCode::conflict;
        case ErrorCode::not_allowed:
        case ErrorCode::fenced: return ExitCode::not_allowed;
        case ErrorCode::timed_out: return ExitCode::cannot_reach;
        // A disk that does not take or give its bytes.
        case ErrorCode::overloaded:
        case ErrorCode::unavailable:
        case ErrorCode::unsupported:
        case ErrorCode::cancelled:
        case ErrorCode::handler_failed:
        case ErrorCode::corrupt: return ExitCode::failed;
    }
    return ExitCode::failed;
}

ExitCode fail(std::string_view what, const Error& error, std::string_view hint) {
    fmt::print(stderr, "error: {}\n  why: {}\n", visible(without_secrets(what)),
               visible(without_secrets(plain_reply(to_string(error)))));
    if (!hint.empty()) fmt::print(stderr, "  try: {}\n", visible(without_secrets(hint)));
    return exit_code(error.code);
}

ExitCode wrong_usage(std::string_view why, std::string_view hint) {
    fmt::print(stderr, "error: {}\n", visible(without_secrets(why)));
    if (!hint.empty()) fmt::print(stderr, "  try: {}\n", visible(without_secrets(hint)));
    return ExitCode::wrong_usage;
}

}  // namespace evenkeel::cli
