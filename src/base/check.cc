#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace evenkeel {

void check_failed(const char* condition, const char* why, const char* file, int line) {
    std::fprintf(stderr, "evenkeel: check failed at %s:%d: %s (%s)\n", file, line, why, condition);
    std::fflush(stderr);
    std::abort();
}

}  // namespace evenkeel
