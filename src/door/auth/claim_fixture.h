// For tests of tokens: the time they are looked at, and what became of one.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "door/auth/access.h"

namespace evenkeel::door {

inline constexpr WallTime now{1'767'225'600'000};

// "ok", or the error up to its first colon.
inline std::string begin_of(const Result<Claim>& claim) {
    return claim.ok() ? "ok" : claim.error().detail.substr(0, claim.error().detail.find(':'));
}

}  // namespace evenkeel::door
