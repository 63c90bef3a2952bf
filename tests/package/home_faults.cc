// Linked into the programs of examples/home-security, with the linker's --wrap, by their test:
// owners that stop or die in the middle of writing an object, or whose clock is fast.
//
//   HOME_FAULT=stop        SIGSTOP before the first object gets its name
//   HOME_FAULT=kill        SIGKILL when it has got it
//   HOME_CLOCK_AHEAD=7200  seconds
//   HOME_SYNCED=FILE       gets the path of each file and folder that is synced
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

using std::chrono::system_clock;

system_clock::time_point real_now() asm("__real__ZNSt6chrono3_V212system_clock3nowEv");
system_clock::time_point wrap_now() asm("__wrap__ZNSt6chrono3_V212system_clock3nowEv");
extern "C" int __real_rename(const char* from, const char* to);
extern "C" int __wrap_rename(const char* from, const char* to);
extern "C" int __real_fsync(int file);
extern "C" int __wrap_fsync(int file);

namespace {

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

system_clock::time_point wrap_now() {
    return real_now() + std::chrono::seconds(std::atol(value_of("HOME_CLOCK_AHEAD").c_str()));
}

extern "C" int __wrap_rename(const char* from, const char* to) {
    static bool is_done = false;
    const std::string fault = is_done ? "" : value_of("HOME_FAULT");
    is_done = true;
    if (fault == "stop") std::raise(SIGSTOP);
    const int result = __real_rename(from, to);
    if (fault == "kill") std::raise(SIGKILL);
    return result;
}

extern "C" int __wrap_fsync(int file) {
    const std::string log = value_of("HOME_SYNCED");
    char path[4096];
    const ssize_t length =
        ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
    std::FILE* const out = log.empty() || length < 0 ? nullptr : std::fopen(log.c_str(), "ae");
    if (out != nullptr) {
        std::fprintf(out, "%.*s\n", static_cast<int>(length), path);
        std::fclose(out);
    }
    return __real_fsync(file);
}
