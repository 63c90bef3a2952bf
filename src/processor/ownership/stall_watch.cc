// tidy: no test: coordinator_test.cc and tests/sim run it
#include "processor/ownership/stall_watch.h"

#include "base/check.h"

namespace evenkeel::processor {

void StallWatch::watch() {
    state_ = State::watching;
    looked_ = loop_.clock().now();
    timer_.run_after(stall_max / 2, steps_.wrap([this] { look(); }));
}

void StallWatch::look() {
    EK_CHECK(state_ == State::watching, "a timer that was cancelled");
    state_ = State::off;
    const Instant now = loop_.clock().now();
    if (lease_.is_valid(now)) return;
    if (!is_attentive(now)) return stalled_();
    watch();
}

bool StallWatch::is_attentive(Instant now) const {
    return looked_ >= lease_.until() && now - looked_ <= stall_max;
}

}  // namespace evenkeel::processor
