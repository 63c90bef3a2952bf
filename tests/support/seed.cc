#include "support/seed.h"

#include <cstdio>
#include <cstdlib>

#include "base/random.h"

namespace evenkeel::test {

std::uint64_t test_seed() {
    static const std::uint64_t seed = [] {
        std::uint64_t value = 0;
        if (const char* text = std::getenv("EVENKEEL_SEED")) {
            value = std::strtoull(text, nullptr, 0);
        } else {
            value = fresh_seed() % 1'000'000'000;
        }
        std::printf("seed: EVENKEEL_SEED=%llu\n", static_cast<unsigned long long>(value));
        return value;
    }();
    return seed;
}

std::uint64_t fresh_seed() {
    std::uint64_t value = 0;
    secure_bytes(std::as_writable_bytes(std::span(&value, 1)));
    return value;
}

}  // namespace evenkeel::test
