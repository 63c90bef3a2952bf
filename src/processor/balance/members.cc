#include "processor/balance/members.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/canary.h"

namespace evenkeel::processor {

namespace {

using checkpoint::Member;
using checkpoint::MemberState;

// The store may tell ages as the difference of two times that were each cut to a second.
constexpr Duration age_error{std::chrono::seconds(1)};
constexpr Duration probation_first_max{std::chrono::seconds(6)};
// Of our last nine writes the third slowest tells how slow the store is: one or two that took ten
// times as long as the others say nothing about it.
constexpr std::size_t latencies_max = 9;
constexpr std::size_t latencies_slow = 3;
constexpr int latency_factor = 8;

bool same_content(const Member& a, const Member& b) {
    return a.state == b.state && a.generation == b.generation && a.expecting == b.expecting &&
           a.incarnation == b.incarnation && a.offers == b.offers && a.restarts == b.restarts;
}

}  // namespace

Members::Change Members::observe(std::vector<Member> listed, Instant now) {
    Change change;
    note_answer(now);
    const Duration gap = std::exchange(longest_silence_, Duration(0));
    const bool was_blind = gap > timing_.heartbeat * 5 / 2;
    const bool was_away = std::exchange(has_failed_, false) ||
                          gap > std::max(timing_.heartbeat, timing_.poll) * 3 / 2;
    // Whoever could not write any more than we could list does so now; once for each version, or a
    // store that fails now and then would keep the dead alive.
    const Instant spared = now + timing_.heartbeat / 2 - death_after();

    own_.reset();
    std::map<std::string, Seen, std::less<>> before = std::exchange(others_, {});
    for (Member& member : listed) {
        if (member.id == self_) {
            own_ = std::move(member);
            continue;
        }
        const auto known = before.find(member.id);
        const Instant since = was_blind ? now : first_there(member, now);
        Seen seen{std::move(member), since, now};
        if (known == before.end()) {
            change.joined = true;
        } else {
            const Seen& old = known->second;
            if (old.member.version == seen.member.version &&
                (!was_blind || EK_CANARY(blind_judgement))) {
                const bool is_spared = was_away && !old.is_spared && !EK_CANARY(blind_judgement);
                seen.version_since =
                    is_spared ? std::max(old.version_since, spared) : old.version_since;
                seen.is_spared = old.is_spared || was_away;
            }
            if (old.member.incarnation == seen.member.incarnation) {
                seen.incarnation_since = old.incarnation_since;
            }
            seen.is_dead = old.is_dead;
            seen.has_written = old.has_written || old.member.version != seen.member.version;
            if (!same_content(old.member, seen.member)) change.content = true;
            if (seen.member.state == MemberState::leaving &&
                old.member.state != MemberState::leaving) {
                change.leaves = true;
            }
        }
        std::string id = seen.member.id;
        others_.emplace_hint(others_.end(), std::move(id), std::move(seen));
    }
    for (const auto& [id, old] : before) {
        if (!others_.contains(id)) change.content = true;
    }

    is_first_ = false;
    last_listed_ = now;
    for (auto& [id, seen] : others_) {
        const bool was_dead = seen.is_dead;
        // Who was found dead stays so until it writes again, however blind we were since.
        const auto old = before.find(id);
        const bool is_same =
            old != before.end() && old->second.member.version == seen.member.version;
        seen.is_dead = (was_dead && is_same) || judge(seen, now);
        seen.is_silent = !seen.has_written && is_old(seen.member);
        const bool is_new = !before.contains(id);
        if (seen.is_dead && !was_dead && !is_new) change.died = true;
        if (!seen.is_dead && was_dead) change.joined = true;
    }
    return change;
}

// Of a version that the last listing did not show. Where requests are dear, looks are far apart and
// the clock is the service's, which no operator sets.
Instant Members::first_there(const Member& member, Instant now) const {
    if (is_first_) return now;
    if (timing_.by_exact_age && member.is_age_exact) {
        return std::max(now - member.age, last_listed_);
    }
    if (!timing_.is_thrifty) return now;
    return std::clamp(now - (member.age - age_error), last_listed_, now);
}

bool Members::judge(const Seen& seen, Instant now) const {
    if (EK_CANARY(expiry_by_age) && is_old(seen.member)) return true;
    return now - seen.version_since >= death_after();
}

bool Members::is_old(const Member& member) const {
    return member.age >= death_after() + age_error;
}

void Members::note_answer(Duration latency, Instant now) {
    if (latencies_.size() == latencies_max) latencies_.erase(latencies_.begin());
    latencies_.push_back(latency);
    note_answer(now);
}

void Members::note_answer(Instant now) {
    if (!is_first_) longest_silence_ = std::max(longest_silence_, now - last_answer_);
    last_answer_ = now;
}

Duration Members::latency() const {
    if (latencies_.empty()) return Duration(0);
    std::vector<Duration> sorted = latencies_;
    const std::size_t slower = sorted.size() * (latencies_slow - 1) / latencies_max;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(slower),
                     sorted.end(), std::greater<>());
    return sorted[slower];
}

Duration Members::death_after() const {
    return std::max(timing_.dead, 2 * timing_.heartbeat + latency_factor * latency());
}

bool Members::is_live(std::string_view id) const {
    const auto found = others_.find(id);
    return found != others_.end() && !found->second.is_dead;
}

bool Members::is_up(std::string_view id) const {
    const auto found = others_.find(id);
    return found != others_.end() && !found->second.is_dead &&
           found->second.member.state != MemberState::leaving;
}

bool Members::is_expecting(std::string_view id) const {
    const auto found = others_.find(id);
    return found != others_.end() && found->second.member.expecting;
}

Duration Members::probation(std::uint32_t restarts) const {
    if (restarts == 0) return Duration(0);
    const Duration first = std::min(timing_.dead, probation_first_max);
    return std::min(timing_.probation_max, first * (std::int64_t{1} << std::min(restarts, 20U)));
}

bool Members::is_on_probation(const Seen& seen, Instant now) const {
    return now < seen.incarnation_since + probation(seen.member.restarts);
}

std::optional<Instant> Members::next_death() const {
    std::optional<Instant> next;
    for (const auto& [id, seen] : others_) {
        if (seen.is_dead) continue;
        const Instant at = seen.version_since + death_after();
        if (!next || at < *next) next = at;
    }
    return next;
}

}  // namespace evenkeel::processor
