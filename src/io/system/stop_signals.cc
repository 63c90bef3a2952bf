#include "io/system/stop_signals.h"

#include <atomic>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <poll.h>

#include "base/check.h"
#include "base/mutex.h"

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

void handle(void (*handler)(int), std::initializer_list<int> signals) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int number : signals) sigaction(number, &action, nullptr);
}

constexpr int stop_signals[] = {SIGINT, SIGTERM};

// What all StopSignals of the process share.
class Sharing {
public:
    // One for the process. It is never destroyed: a signal may come at any time.
    static Sharing& of_process() {
        static Sharing& sharing = *new Sharing;
        return sharing;
    }

    void join() {
        const Lock lock(mutex_);
        if (users_++ > 0) return;
        drain();
        is_asked_ = false;
        for (std::size_t i = 0; i < std::size(stop_signals); ++i) {
            sigaction(stop_signals[i], nullptr, &before_[i]);
        }
        handle(&on_signal, {SIGINT, SIGTERM});
    }
    void leave() {
        const Lock lock(mutex_);
        if (--users_ > 0) return;
        for (std::size_t i = 0; i < std::size(stop_signals); ++i) {
            // The program may have set another one meanwhile.
            struct sigaction now {};
            sigaction(stop_signals[i], nullptr, &now);
            const bool is_ours = now.sa_handler == &on_signal || now.sa_handler == &on_later_signal;
            if (is_ours) sigaction(stop_signals[i], &before_[i], nullptr);
        }
    }
    // A signal has come.
    void note_asked() {
        const Lock lock(mutex_);
        if (!std::exchange(is_asked_, true)) end_at_later({SIGINT, SIGTERM});
    }
    // Readable once a signal has come, for all who look.
    int descriptor() const { return pipe_[0]; }

private:
    // The pipe stays open, since a signal handler may be under way when the last user leaves.
    Sharing() {
        EK_CHECK(pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0, "there is a descriptor for signals");
        to_wake = pipe_[1];
    }
    void drain() const {
        char bytes[64];
        while (::read(pipe_[0], bytes, sizeof bytes) > 0) {
        }
    }

    Mutex mutex_;
    int pipe_[2] = {-1, -1};
    int users_ EK_GUARDED_BY(mutex_) = 0;
    bool is_asked_ EK_GUARDED_BY(mutex_) = false;
    struct sigaction before_[std::size(stop_signals)] EK_GUARDED_BY(mutex_) = {};
};

}  // namespace

void end_at_later(std::initializer_list<int> signals) {
    first_wish_ns = SystemClock().now().nanoseconds;
    handle(&on_later_signal, signals);
}

StopSignals::StopSignals() {
    EK_CHECK(pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0, "there is a descriptor for signals");
    Sharing::of_process().join();
}

StopSignals::~StopSignals() {
    Sharing::of_process().leave();
    ::close(pipe_[0]);
    ::close(pipe_[1]);
}

bool StopSignals::wait(Duration duration) {
    if (is_asked_) return true;
    const timespec time{duration.count() / 1'000'000'000, duration.count() % 1'000'000'000};
    Sharing& sharing = Sharing::of_process();
    pollfd polls[] = {{sharing.descriptor(), POLLIN, 0}, {pipe_[0], POLLIN, 0}};
    if (ppoll(polls, std::size(polls), &time, nullptr) <= 0) return false;
    is_asked_ = true;
    if (polls[0].revents != 0) sharing.note_asked();
    return true;
}

void StopSignals::wake() {
    const char byte = 0;
    (void)!::write(pipe_[1], &byte, 1);
}

}  // namespace evenkeel::io::system
