#include "base/memory.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t all = 0;
    std::int64_t resident = 0;
    statm >> all >> resident;
    return resident * 4096;
}

TEST(FreedMemory, goes_back_to_the_system_when_asked_for) {
    if (std::getenv("EVENKEEL_SANITIZED")) GTEST_SKIP() << "sanitizers have their own allocator";
    constexpr std::size_t block_bytes = 16 << 10;  // too small for a mapping of its own
    std::vector<std::unique_ptr<std::vector<char>>> blocks;
    for (int i = 0; i < 4000; ++i) {
        blocks.push_back(std::make_unique<std::vector<char>>(block_bytes, 'x'));
    }
    // The last one stays, so that the allocator keeps those below it.
    blocks.erase(blocks.begin(), blocks.end() - 1);
    const std::int64_t before = resident_bytes();

    release_freed_memory();

    EXPECT_LT(resident_bytes(), before - (32 << 20));
    EXPECT_EQ(blocks.back()->at(block_bytes - 1), 'x');
}

}  // namespace
}  // namespace evenkeel
