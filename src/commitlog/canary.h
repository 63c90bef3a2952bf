// Known bugs on purpose, one for each canary build (tests/crash): they prove that the crash and rot
// harnesses can fail. A normal build has none of them; the compiler removes the branches.
#pragma once

namespace evenkeel::commitlog {

#ifndef EK_CANARY
#define EK_CANARY 0
#endif

inline constexpr bool canary_ack_before_sync = EK_CANARY == 1;
inline constexpr bool canary_truncate_at_bad_record = EK_CANARY == 2;
inline constexpr bool canary_skip_directory_sync = EK_CANARY == 3;
inline constexpr bool canary_retry_sync = EK_CANARY == 4;
inline constexpr bool canary_reuse_sequence = EK_CANARY == 5;

}  // namespace evenkeel::commitlog
