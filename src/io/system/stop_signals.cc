#include "io/system/stop_signals.h"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <poll.h>

#include "base/check.h"

namespace evenkeel::io::system {
namespace {

// A signal handler reaches nothing but globals.
std::atomic<int> to_wake = -1;
std::atomic<std::int64_t> first_wish_ns = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler reads it");

extern "C" void on_signal(int) {
    const int before = errno;
    const char byte = 0;
    (void)!::write(to_wake.load(), &byte, 1);
    errno = before;
}

extern "C" void on_later_signal(int number) {
    const int before = errno;
    const Instant first{first_wish_ns.load()};
    if (SystemClock().now() - first > same_wish_max) {
        signal(number, SIG_DFL);
        raise(number);  // it ends us as soon as this handler returns
    }
    errno = before;
}

void handle(void (*handler)(int), std::initializer_list<int> signals = {SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int number : signals) sigaction(number, &action, nullptr);
}

}  // namespace

void end_at_later(std::initializer_list<int> signals) {
    first_wish_ns = SystemClock().now().nanoseconds;
    handle(&on_later_signal, signals);
}

StopSignals::StopSignals() {
    EK_CHECK(pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0, "there is a descriptor for signals");
    EK_CHECK(to_wake.exchange(pipe_[1]) == -1, "one at a time");
    handle(&on_signal);
}

StopSignals::~StopSignals() {
    handle(SIG_DFL);
    to_wake = -1;
    ::close(pipe_[0]);
    ::close(pipe_[1]);
}

bool StopSignals::wait(Duration duration) {
    if (is_asked_) return true;
    const timespec time{duration.count() / 1'000'000'000, duration.count() % 1'000'000'000};
    pollfd poll{pipe_[0], POLLIN, 0};
    if (ppoll(&poll, 1, &time, nullptr) <= 0) return false;
    is_asked_ = true;
    end_at_later({SIGINT, SIGTERM});
    return true;
}

void StopSignals::wake() {
    const char byte = 0;
    (void)!::write(pipe_[1], &byte, 1);
}

}  // namespace evenkeel::io::system
