#include "processor/ownership/unread.h"

#include <algorithm>
#include <limits>

#include "base/canary.h"
#include "base/check.h"

namespace evenkeel::processor {

bool Unread::set(std::optional<Instant> since) {
    const bool has_changed = since.has_value() != since_.has_value();
    since_ = since;
    check_state();
    return has_changed;
}

// If all lost the hub at once, some hear from it again sooner than others; these are given time.
bool Unread::gives_all(Instant now) const {
    if (!since_ || EK_CANARY(keeps_unread)) return false;
    if (now - *since_ < timing_.unread_max) return false;
    return readers_since_ && now - *readers_since_ >= timing_.unread_max / 2;
}

void Unread::observe(const Members& members, Instant now) {
    const auto& others = members.others();
    const bool any = std::any_of(others.begin(), others.end(), [&](const auto& other) {
        const Members::Seen& seen = other.second;
        return !seen.is_dead && !seen.is_silent &&
               (seen.member.state == checkpoint::MemberState::active || EK_CANARY(gives_to_unable));
    });
    if (!any) {
        readers_since_.reset();
    } else if (!readers_since_) {
        readers_since_ = now;
    }
}

// Not asked for again at once, and after each time later.
void Unread::on_given_up(Instant now) {
    if (!since_ || given_up_ == since_) return;
    given_up_ = since_;
    const bool is_forgotten = now - rests_until_ > timing_.restart_memory;
    const Duration longest = std::max(timing_.unread_max, timing_.probation_max);
    rest_ = is_forgotten ? timing_.unread_max : std::clamp(2 * rest_, timing_.unread_max, longest);
    rests_until_ = now + rest_;
    check_state();
}

Instant Unread::next_change(Instant now) const {
    Instant next{std::numeric_limits<std::int64_t>::max()};
    if (rests_until_ > now) next = rests_until_;
    if (!since_ || !readers_since_) return next;
    const Instant due =
        std::max(*since_ + timing_.unread_max, *readers_since_ + timing_.unread_max / 2);
    return due > now ? std::min(next, due) : next;
}

void Unread::check_state() const {
    EK_CHECK(rest_ <= std::max(timing_.unread_max, timing_.probation_max), "rests too long");
    EK_CHECK(given_up_ || rest_ == Duration(0), "rests without a reason");
}

}  // namespace evenkeel::processor
