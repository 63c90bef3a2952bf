#include "cli/exit_code.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

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

std::string without_secrets(std::string_view text) {
    std::string result(text);
    const auto mask = [&](std::string_view mark, std::string_view ends) {
        for (std::size_t at = result.find(mark); at != std::string::npos;
             at = result.find(mark, at + mark.size())) {
            const std::size_t begin = at + mark.size();
            const std::size_t end = std::min(result.find_first_of(ends, begin), result.size());
            result.replace(begin, end - begin, "***");
        }
    };
    mask("SharedAccessKey=", "; \n");
    mask("SharedAccessSignature=", ";\n");
    mask("sig=", "&; \n");
    mask("password=", "& \n");  // an option in the address of a store
    // amqps://name:key@host
    for (std::size_t at = result.find("://"); at != std::string::npos;
         at = result.find("://", at + 3)) {
        const std::size_t host = result.find_first_of("/ ;\n", at + 3);
        const std::size_t user_end = result.rfind('@', host);
        const std::size_t colon = result.find(':', at + 3);
        if (user_end == std::string::npos || user_end < at || colon > user_end) continue;
        result.replace(colon + 1, user_end - colon - 1, "***");
    }
    return result;
}

ExitCode fail(std::string_view what, const Error& error, std::string_view hint) {
    fmt::print(stderr, "error: {}\n  why: {}\n", without_secrets(what),
               without_secrets(to_string(error)));
    if (!hint.empty()) fmt::print(stderr, "  try: {}\n", without_secrets(hint));
    return exit_code(error.code);
}

ExitCode wrong_usage(std::string_view why, std::string_view hint) {
    fmt::print(stderr, "error: {}\n", without_secrets(why));
    if (!hint.empty()) fmt::print(stderr, "  try: {}\n", without_secrets(hint));
    return ExitCode::wrong_usage;
}

}  // namespace evenkeel::cli
