// What a coordinator does while its processor cannot read the hub.
// tidy: no test: coordinator_test.cc and tests/sim run it
#include <algorithm>
#include <limits>

#include "processor/canary.h"
#include "processor/ownership/coordinator_core.h"

namespace evenkeel::processor {

void Coordinator::Core::set_unread(std::optional<Instant> since) {
    loop_.check_here();
    const bool has_changed = since.has_value() != unread_since_.has_value();
    unread_since_ = since;
    if (has_changed && (phase_ == Phase::running || phase_ == Phase::leaving)) look_now();
}

bool Coordinator::Core::is_unable(Instant now) const {
    return unread_since_.has_value() || now < rests_until_;
}

// If all lost the hub at once, some hear from it again sooner than others; these are given time.
bool Coordinator::Core::gives_all(Instant now) const {
    if (!unread_since_ || phase_ != Phase::running || canary_keeps_unread) return false;
    if (now - *unread_since_ < timing_.unread_max) return false;
    return readers_since_ && now - *readers_since_ >= timing_.unread_max / 2;
}

void Coordinator::Core::look_for_readers(Instant now) {
    const auto& others = members_.others();
    const bool any = std::any_of(others.begin(), others.end(), [&](const auto& other) {
        const Members::Seen& seen = other.second;
        return !seen.is_dead && !seen.is_silent &&
               (seen.member.state == checkpoint::MemberState::active || canary_gives_to_unable);
    });
    if (!any) {
        readers_since_.reset();
    } else if (!readers_since_) {
        readers_since_ = now;
    }
}

// We do not ask for it back at once, and after each time later.
void Coordinator::Core::on_given_up(Instant now) {
    if (given_up_ == unread_since_) return;
    given_up_ = unread_since_;
    const bool is_forgotten = now - rests_until_ > timing_.restart_memory;
    const Duration longest = std::max(timing_.unread_max, timing_.probation_max);
    rest_ = is_forgotten ? timing_.unread_max : std::clamp(2 * rest_, timing_.unread_max, longest);
    rests_until_ = now + rest_;
}

Instant Coordinator::Core::next_give_up(Instant now) const {
    Instant next{std::numeric_limits<std::int64_t>::max()};
    if (rests_until_ > now) next = rests_until_;
    if (!unread_since_ || !readers_since_) return next;
    const Instant due =
        std::max(*unread_since_ + timing_.unread_max, *readers_since_ + timing_.unread_max / 2);
    return due > now ? std::min(next, due) : next;
}

}  // namespace evenkeel::processor
