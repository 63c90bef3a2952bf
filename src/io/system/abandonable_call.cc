#include "io/system/abandonable_call.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include <poll.h>

namespace evenkeel::io::system {

struct AbandonableCall::Shared {
    ~Shared() {
        if (descriptor >= 0) ::close(descriptor);
    }
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    std::atomic<bool> done = false;
};

AbandonableCall::AbandonableCall(Task call) : shared_(std::make_shared<Shared>()) {
    if (shared_->descriptor < 0) {
        call();
        shared_->done.store(true, std::memory_order_release);
        return;
    }
    std::thread([shared = shared_, call = std::move(call)]() mutable {
        call();
        call = {};
        shared->done.store(true, std::memory_order_release);
        const std::uint64_t one = 1;
        (void)!::write(shared->descriptor, &one, sizeof one);
    }).detach();
}

AbandonableCall::~AbandonableCall() = default;

int AbandonableCall::descriptor() const {
    return shared_->descriptor;
}

bool AbandonableCall::done() const {
    return shared_->done.load(std::memory_order_acquire);
}

bool AbandonableCall::wait_for(Duration limit) const {
    const SystemClock clock;
    const Instant end = clock.now() + limit;
    for (Instant now = clock.now(); !done() && now < end; now = clock.now()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
        pollfd wanted{shared_->descriptor, POLLIN, 0};
        (void)::poll(&wanted, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    }
    return done();
}

}  // namespace evenkeel::io::system
