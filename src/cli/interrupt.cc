#include "cli/interrupt.h"

#include <algorithm>
#include <vector>

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <poll.h>

#include "base/check.h"
#include "io/system/stop_signals.h"

namespace evenkeel::cli {
namespace {

sigset_t set_of(std::initializer_list<int> numbers) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : numbers) sigaddset(&signals, number);
    return signals;
}

sigset_t all_signals() {
    return set_of({SIGINT, SIGTERM, SIGHUP});
}

}  // namespace

void ignore_closed_pipes() {
    signal(SIGPIPE, SIG_IGN);
}

Interrupt::Interrupt(Hangup hangup) : hangup_(hangup) {
    const sigset_t signals = all_signals();
    EK_CHECK(pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0, "signals can be blocked");
    descriptor_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    EK_CHECK(descriptor_ >= 0, "signals can be waited for");
}

Interrupt::~Interrupt() {
    const sigset_t signals = all_signals();
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    close(descriptor_);
}

bool Interrupt::wait(Duration duration) {
    wait_for_input(-1, duration);
    return requested_;
}

bool Interrupt::wait_for_input(std::span<const int> descriptors, Duration duration) {
    const SystemClock clock;
    const Instant end = clock.now() + duration;
    std::vector<pollfd> polls = {{descriptor_, POLLIN, 0}};
    for (const int descriptor : descriptors) polls.push_back({descriptor, POLLIN, 0});
    const auto is_marked = [](const pollfd& one) { return one.revents != 0; };
    while (true) {
        const Duration left = std::max(Duration(0), end - clock.now());
        const timespec time{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
        if (requested_) polls[0].fd = -1;
        if (ppoll(polls.data(), polls.size(), &time, nullptr) > 0) {
            signalfd_siginfo info;
            if (polls[0].revents != 0 && read(descriptor_, &info, sizeof info) == sizeof info) {
                if (hangup_ == Hangup::reloads && info.ssi_signo == SIGHUP) {
                    reload_ = true;
                    return false;
                }
                requested_ = true;
                let_later_ones_end_us();
                return false;
            }
            if (std::any_of(polls.begin() + 1, polls.end(), is_marked)) return true;
        }
        if (clock.now() >= end) return false;
    }
}

void Interrupt::let_later_ones_end_us() const {
    io::system::end_at_later({SIGINT, SIGTERM});
    sigset_t signals = set_of({SIGINT, SIGTERM});
    if (hangup_ == Hangup::stops) {
        io::system::end_at_later({SIGHUP});
        signals = all_signals();
    }
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace evenkeel::cli
