#include "base/random.h"

#include <bit>
#include <cstring>

#include <sys/random.h>

#include "base/check.h"
#include "base/hex.h"

namespace evenkeel {

Random::Random(std::uint64_t seed) {
    for (auto& word : state_) {  // splitmix64 spreads a small seed over the state
        seed += 0x9e3779b97f4a7c15;
        std::uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        word = z ^ (z >> 31);
    }
}

std::uint64_t Random::next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
    EK_CHECK(bound > 0, "an empty range has no member");
    const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % bound);
    std::uint64_t value = next();
    while (value >= limit) value = next();  // rejects the uneven end: no bias
    return value % bound;
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
    EK_CHECK(low <= high, "an empty range has no member");
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
}

bool Random::chance(std::uint64_t numerator, std::uint64_t denominator) {
    return below(denominator) < numerator;
}

void Random::fill(ByteSpan bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::uint64_t word = next();
        std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
    }
}

void secure_bytes(ByteSpan bytes) {
    while (!bytes.empty()) {
        const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
        if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
}

std::uint64_t secure_number() {
    std::uint64_t number = 0;
    secure_bytes(std::as_writable_bytes(std::span(&number, 1)));
    return number;
}

std::string secure_hex(std::size_t bytes) {
    std::string binary(bytes, '\0');
    secure_bytes(std::as_writable_bytes(std::span(binary)));
    return to_hex(as_bytes(binary));
}

}  // namespace evenkeel
