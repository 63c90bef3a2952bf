#include "processor/ownership/stall_watch.h"

#include "base/check.h"

namespace evenkeel::processor {

void StallWatch::watch() {
    state_ = State::watching;
    looked_ = loop_.clock().now();
    timer_.run_after(stall_max / 2, steps_.wrap([this, number = ++watches_] { look(number); }));
    check_state();
}

void StallWatch::look(std::uint64_t number) {
    // This step has found the lease over, and with that another watch has begun.
    if (number != watches_) return;
    state_ = State::off;
    check_state();
    const Instant now = loop_.clock().now();
    if (lease_.is_valid(now)) return;
    if (!is_attentive(now)) return stalled_();
    watch();
}

bool StallWatch::is_attentive(Instant now) const {
    return looked_ >= lease_.until() && now - looked_ <= stall_max;
}

void StallWatch::check_state() const {
    EK_CHECK((state_ == State::watching) == timer_.is_pending(), "watches without looking");
}

}  // namespace evenkeel::processor
