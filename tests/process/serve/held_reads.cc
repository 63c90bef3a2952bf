// Preloaded into a server, in place of a disk that stands still: reads of partitions' files wait
// until the file that EVENKEEL_HOLD_READS names has gone.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include <dlfcn.h>

namespace {

using Pread = ssize_t (*)(int, void*, size_t, off_t);

bool is_of_partition(int descriptor) {
    char link[64];
    char path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t size = ::readlink(link, path, sizeof path);
    return size > 0 && std::string_view(path, static_cast<std::size_t>(size)).ends_with(".log");
}

ssize_t held_pread(const char* name, int descriptor, void* to, size_t bytes, off_t position) {
    const char* const gate = std::getenv("EVENKEEL_HOLD_READS");
    if (gate && is_of_partition(descriptor)) {
        while (::access(gate, F_OK) == 0) {
            ::usleep(5'000);  // tidy: allow sleep: holds the thread that reads, as a disk does
        }
    }
    const auto real = reinterpret_cast<Pread>(::dlsym(RTLD_NEXT, name));
    return real(descriptor, to, bytes, position);
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
ssize_t pread(int descriptor, void* to, size_t bytes, off_t position) {
    return held_pread("pread", descriptor, to, bytes, position);
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
ssize_t pread64(int descriptor, void* to, size_t bytes, off_t position) {
    return held_pread("pread64", descriptor, to, bytes, position);
}

}  // extern "C"
