#include "processor/ownership/lease.h"

#include <algorithm>

#include "base/canary.h"
#include "base/check.h"

namespace evenkeel::processor {

bool LeaseTerm::is_over(Instant now) const {
    return end_ && now.nanoseconds >= end_->load() && !EK_CANARY(no_fence);
}

bool Lease::is_valid(Instant now) const {
    return valid_ && (now < until_ || EK_CANARY(no_fence));
}

Lease::Change Lease::renewed(Instant sent, Instant now) {
    const Instant from = EK_CANARY(late_answer_revives) ? now : sent;
    EK_CHECK(!valid_ || now < until_ || EK_CANARY(no_fence), "renewed before check()");
    // Answers may overtake each other; the latest sending counts.
    until_ = std::max(until_, from + length_);
    if (valid_) term_end_->store(until_.nanoseconds);
    if (now >= until_ || valid_) return check(now);
    valid_ = true;
    term_end_ = std::make_shared<LeaseTerm::End>(until_.nanoseconds);
    since_ = now;
    return Change::gained;
}

Lease::Change Lease::check(Instant now) {
    if (!valid_ || now < until_ || EK_CANARY(no_fence)) return Change::none;
    return end();
}

Lease::Change Lease::end() {
    const bool was_valid = valid_;
    valid_ = false;
    if (was_valid) term_end_->store(0);
    return was_valid ? Change::lapsed : Change::none;
}

}  // namespace evenkeel::processor
