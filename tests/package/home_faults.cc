// Linked into the programs of examples/home-security, with the linker's --wrap, by their test:
// owners that stop or die in the middle of writing an object, or whose clock is fast.
//
//   HOME_FAULT=stop        SIGSTOP before the first object gets its name
//   HOME_FAULT=kill        SIGKILL when it has got it
//   HOME_CLOCK_AHEAD=7200  seconds
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

using std::chrono::system_clock;

system_clock::time_point real_now() asm("__real__ZNSt6chrono3_V212system_clock3nowEv");
system_clock::time_point wrap_now() asm("__wrap__ZNSt6chrono3_V212system_clock3nowEv");
extern "C" int __real_rename(const char* from, const char* to);
extern "C" int __wrap_rename(const char* from, const char* to);

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
