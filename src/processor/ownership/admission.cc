#include "processor/ownership/admission.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"

namespace evenkeel::processor {

using checkpoint::Member;

void Admission::start(Admitted admitted) {
    EK_CHECK(state_ == State::created, "a processor joins once");
    admitted_ = std::move(admitted);
    list();
}

void Admission::list() {
    state_ = State::listing;
    check_state();
    ++requests_;
    const Instant asked = loop_.clock().now();
    store_.list_members(steps_.wrap(
        [this, asked](const Result<std::vector<Member>>& listed) { judge(listed, asked); }));
}

void Admission::list_after(Duration delay) {
    state_ = State::waiting;
    check_state();
    loop_.run_after(delay, steps_.wrap([this] { list(); }));
}

void Admission::judge(const Result<std::vector<Member>>& listed, Instant asked) {
    if (!listed) {
        backoff_ = std::clamp(2 * backoff_, timing_.poll_fast, timing_.heartbeat);
        list_after(backoff_);
        return report_store_failure(options_, "start", listed.error(), backoff_);
    }
    backoff_ = Duration(0);
    const Instant now = loop_.clock().now();
    const auto own = std::find_if(listed->begin(), listed->end(),
                                  [&](const Member& member) { return member.id == options_.id; });
    if (own == listed->end()) return end(entrance(nullptr, asked));
    if (watched_ && watched_->version != own->version) {
        return end(
            Error{ErrorCode::conflict,
                  fmt::format("an instance with the id '{}' is running ({}): stop it, or give this "
                              "one another id",
                              options_.id, own->note.empty() ? "no note" : own->note)});
    }
    // Whoever lives has written within a heartbeat, give or take a half for a slow store. If we are
    // wrong, the other one finds out and ends.
    const Duration silence = timing_.heartbeat * 3 / 2;
    if (!watched_) {
        watched_ = *own;
        watched_since_ = now;
    }
    if (known_age(*own) >= silence || now - watched_since_ >= silence) {
        return end(entrance(&*own, asked));
    }
    list_after(std::max(timing_.poll_fast, timing_.heartbeat / 10));
}

void Admission::end(Result<Entrance> entrance) {
    state_ = State::ended;
    Admitted admitted = std::exchange(admitted_, {});
    check_state();
    admitted(std::move(entrance));
}

Admission::Entrance Admission::entrance(const Member* old, Instant asked) const {
    Member entry{.id = options_.id, .incarnation = options_.incarnation};
    entry.since_ms = loop_.clock().wall().milliseconds;
    entry.note = options_.note;
    entry.expecting = true;
    Instant accept_from;
    if (old != nullptr) {
        entry.version = old->version;
        if (old->age < timing_.restart_memory) entry.restarts = old->restarts + 1;
        // The process before us may still have its lease, unless it is known to be old.
        const Duration watched = watched_ ? asked - watched_since_ : Duration(0);
        const Duration left = timing_.dead - std::max(known_age(*old), watched);
        if (!options_.exclusive_source) accept_from = asked + std::max(left, Duration(0));
    }
    return {std::move(entry), accept_from};
}

// The store's clock can be set, and then a living entry looks old: it counts only where nobody can.
// Where requests are expensive the watch would take most of a minute, and the clock is the
// service's.
Duration Admission::known_age(const Member& own) const {
    if (!own.is_age_exact && !timing_.is_thrifty) return Duration(0);
    // Stores may cut ages to whole seconds.
    const Duration error = own.is_age_exact ? Duration(0) : Duration(std::chrono::seconds(1));
    return std::max(own.age - error, Duration(0));
}

void Admission::check_state() const {
    EK_CHECK((state_ == State::ended) == !admitted_, "joins without anyone who waits for it");
}

}  // namespace evenkeel::processor
