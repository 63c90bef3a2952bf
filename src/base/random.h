// Chance from one seed (xoshiro256**): the same seed gives the same numbers on every machine, which
// is what makes a simulated failure replayable. Not for secrets; those come from secure_bytes().
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace evenkeel {

class Random {
public:
    explicit Random(std::uint64_t seed);

    std::uint64_t next();
    // Uniform in [0, bound); bound is at least 1.
    std::uint64_t below(std::uint64_t bound);
    // Uniform in [low, high].
    std::int64_t between(std::int64_t low, std::int64_t high);
    // True with probability numerator / denominator.
    bool chance(std::uint64_t numerator, std::uint64_t denominator);
    void fill(ByteSpan bytes);
    // An independent stream, so that one consumer's draws do not shift another's.
    Random fork() { return Random(next()); }

private:
    std::uint64_t state_[4];
};

// Fills with unpredictable bytes from the operating system.
void secure_bytes(ByteSpan bytes);
std::uint64_t secure_number();
// So many of them, two digits each: for keys, stamps and ids.
std::string secure_hex(std::size_t bytes);

}  // namespace evenkeel
