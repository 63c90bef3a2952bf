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

extern "C" void on_signal(int) {
    const int before = errno;
    const char byte = 0;
    (void)!::write(to_wake.load(), &byte, 1);
    errno = before;
}

void handle(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

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
    handle(SIG_DFL);
    return true;
}

}  // namespace evenkeel::io::system
