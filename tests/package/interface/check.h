// For the programs here: ends with 1, and says where, if something is not as it should be.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void check(bool is_right, const char* what) {
    if (is_right) return;
    std::fprintf(stderr, "not right: %s\n", what);
    std::exit(1);
}
