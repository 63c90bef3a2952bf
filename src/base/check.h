// EK_CHECK states what is true if our own code is right. It stays on in release builds and ends the
// process: stopping beats going on wrong. Never for bytes from disk, network or user; those get a
// Result.
#pragma once

namespace evenkeel {

[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace evenkeel

#define EK_CHECK(condition, why)                                           \
    do {                                                                   \
        if (!(condition)) [[unlikely]]                                     \
            ::evenkeel::check_failed(#condition, why, __FILE__, __LINE__); \
    } while (false)
