// The main of every test program: gtest, without trace lines.
#include <cstddef>

#include <gtest/gtest.h>

#include "base/log.h"

namespace {

// Debian's mold 1.10 lets the memory that is read-only after the start begin at the first
// thread-local variable, and what follows that at the next multiple of 8. If the only ones are
// single bytes, a page may begin between the two. About one program in 400 was linked so, and did
// not start: "cannot apply additional memory protection after relocation". With this one, none is.
[[gnu::used]] alignas(std::max_align_t) thread_local std::byte aligned_thread_local{};

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    evenkeel::set_trace_level(evenkeel::TraceLevel::off);
    return RUN_ALL_TESTS();
}
