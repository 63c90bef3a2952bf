#include "processor/ownership/settling.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::processor {

namespace {

constexpr Duration died_max = std::chrono::seconds(2);  // until the others have seen a death too
constexpr int settles_max = 3;                          // of a member that leaves

}  // namespace

void Settling::start(Instant now) {
    EK_CHECK(state_ == State::created, "started twice");
    state_ = State::staying;
    calm_at_ = now + timing_.settle;
}

void Settling::leave(Instant now) {
    EK_CHECK(state_ == State::staying, "a member leaves once, after it has joined");
    state_ = State::leaving;
    left_at_ = now;
    await_others(now);
}

void Settling::on_change(const Members::Change& change, Instant now) {
    if (change.joined) calm_at_ = std::max(calm_at_, now + settle());
    if (state_ == State::leaving && (change.joined || change.leaves)) await_others(now);
    if (change.died) calm_at_ = std::max(calm_at_, now + std::min(timing_.heartbeat, died_max));
}

void Settling::on_loads_changed(Instant now) {
    if (now - loads_changed_ < timing_.heartbeat) return;
    loads_changed_ = now;
    calm_at_ = std::max(calm_at_, now + settle());
}

// When several are stopped and started at once, each that leaves must see all the others before it
// chooses who gets what: whoever does not know of the others' offers gives to the same members.
void Settling::await_others(Instant now) {
    gives_from_ = std::min(now, left_at_ + (settles_max - 1) * settle()) + settle();
    check_state();
}

void Settling::check_state() const {
    EK_CHECK(state_ == State::leaving, "only a member that leaves waits for the others");
    EK_CHECK(gives_from_ >= left_at_, "gives before it leaves");
    EK_CHECK(gives_from_ <= left_at_ + settles_max * settle(), "waits too long for the others");
}

}  // namespace evenkeel::processor
