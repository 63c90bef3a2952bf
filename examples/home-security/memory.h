// How much memory this process uses, for its status lines.
#pragma once

#include <cstdio>

#include <unistd.h>

namespace homes {

inline std::size_t memory_mb() {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    unsigned long size = 0, resident = 0;
    const bool is_read = std::fscanf(file, "%lu %lu", &size, &resident) == 2;
    std::fclose(file);
    return is_read ? resident * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)) >> 20U : 0;
}

}  // namespace homes
