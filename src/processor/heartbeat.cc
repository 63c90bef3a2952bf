// tidy: no test: coordinator_test.cc and tests/sim run it
#include "processor/heartbeat.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "processor/canary.h"

namespace evenkeel::processor {

using checkpoint::Member;

Heartbeat::Heartbeat(io::Loop& loop, checkpoint::Store& store, const Timing& timing, Random random,
                     Listener listener)
    : loop_(loop),
      store_(store),
      timing_(timing),
      random_(random),
      listener_(std::move(listener)),
      lease_(timing.lease) {}

Heartbeat::~Heartbeat() {
    stop();
}

// Wraps an answer: not after our end, and never under a lease that is over.
template <typename F>
auto Heartbeat::guarded(F function) {
    return [this, alive = std::weak_ptr<char>(alive_),
            function = std::move(function)](auto&&... arguments) mutable {
        if (alive.expired() || (is_stopped_ && !removed_)) return;
        check();
        function(std::forward<decltype(arguments)>(arguments)...);
    };
}

void Heartbeat::start(Member entry, Callback<void(Result<>)> written) {
    loop_.check_here();
    entry_ = std::move(entry);
    written_ = std::move(written);
    ++revision_;
    write();
}

void Heartbeat::change(const std::function<void(Member&)>& edit) {
    edit(entry_);
    ++revision_;
    // While the store fails, changes wait for the next try: a storm helps nobody.
    if (!in_flight_ && !backs_off_ && !is_stopped_) write();
}

void Heartbeat::check() {
    report(lease_.check(loop_.clock().now()));
}

void Heartbeat::write() {
    if (is_stopped_) return;
    loop_.cancel(beat_timer_);
    in_flight_ = true;
    backs_off_ = false;
    last_sent_ = loop_.clock().now();
    if (canary_wall_clock_expiry) entry_.since_ms = loop_.clock().wall().milliseconds;
    ++requests_;
    store_.write_member(entry_, guarded([this, sent = last_sent_,
                                         revision = revision_](Result<std::string> result) {
                            on_written(sent, revision, std::move(result));
                        }));
}

void Heartbeat::on_written(Instant sent, std::uint64_t revision, Result<std::string> result) {
    in_flight_ = false;
    const Instant now = loop_.clock().now();
    listener_.on_latency(now - sent);
    if (is_stopped_) return try_remove();
    if (!result) {
        if (result.error().code == ErrorCode::conflict) return look();
        const Duration delay = timing_.heartbeat / 4;
        again_after(delay);
        listener_.on_failure(result.error(), delay);
        return;
    }
    conflicts_ = 0;
    entry_.version = std::move(*result);
    published_ = std::max(published_, revision);
    report(lease_.renewed(sent, now));
    arm_lease();
    if (is_stopped_) return;
    if (published_ < revision_) {
        write();
    } else {
        // Drawn anew each time, so that members do not march in step.
        const std::int64_t period = timing_.heartbeat.count();
        const Duration next(random_.between(period * 9 / 10, period));
        again_after(std::max(last_sent_ + next - now, Duration(0)));
        backs_off_ = false;
    }
    if (written_) std::exchange(written_, {})({});
}

// A conflict: whose entry is it now?
void Heartbeat::look() {
    in_flight_ = true;
    ++requests_;
    store_.list_members(
        guarded([this](Result<std::vector<Member>> listed) { on_looked(std::move(listed)); }));
}

void Heartbeat::on_looked(Result<std::vector<Member>> listed) {
    in_flight_ = false;
    if (is_stopped_) return try_remove();
    if (!listed) {
        const Duration delay = timing_.heartbeat / 4;
        again_after(delay);
        listener_.on_failure(listed.error(), delay);
        return;
    }
    const auto mine = std::find_if(listed->begin(), listed->end(),
                                   [&](const Member& member) { return member.id == entry_.id; });
    if (mine != listed->end() && mine->incarnation != entry_.incarnation) return taken();
    entry_.version = mine == listed->end() ? "" : mine->version;
    // Once at once; if that fails as well, the store is odd.
    if (++conflicts_ <= 1) {
        write();
    } else {
        again_after(timing_.heartbeat / 4);
    }
}

void Heartbeat::taken() {
    Error error{ErrorCode::conflict, "another instance runs with the id '" + entry_.id +
                                         "': give each instance an id of its own"};
    is_stopped_ = true;
    loop_.cancel(beat_timer_);
    report(lease_.end());
    loop_.cancel(lease_timer_);
    if (written_) {
        std::exchange(written_, {})(std::move(error));
    } else {
        listener_.on_taken(std::move(error));
    }
}

void Heartbeat::again_after(Duration delay) {
    backs_off_ = true;
    loop_.cancel(beat_timer_);
    beat_timer_ = loop_.run_after(delay, guarded([this] {
                                      if (!in_flight_) write();
                                  }));
}

void Heartbeat::arm_lease() {
    loop_.cancel(lease_timer_);
    const Instant now = loop_.clock().now();
    if (!lease_.is_valid(now)) return;
    lease_timer_ = loop_.run_at(lease_.until(), guarded([] {}));
}

void Heartbeat::report(Lease::Change change) {
    if (is_stopped_) return;
    if (change == Lease::Change::lapsed) listener_.on_lapsed();
    if (change == Lease::Change::gained) listener_.on_gained();
}

void Heartbeat::remove(Task done) {
    is_stopped_ = true;
    lease_.end();
    loop_.cancel(beat_timer_);
    loop_.cancel(lease_timer_);
    removed_ = std::move(done);
    if (!in_flight_) try_remove();
}

void Heartbeat::try_remove() {
    if (!removed_) return;
    ++requests_;
    store_.list_members(guarded([this](Result<std::vector<Member>> listed) {
        if (!removed_) return;
        const auto retry = [this] {
            beat_timer_ = loop_.run_after(timing_.heartbeat / 4, guarded([this] { try_remove(); }));
        };
        if (!listed) return retry();
        // Only our own: a newer incarnation keeps its entry.
        for (const Member& member : *listed) {
            if (member.id != entry_.id || member.incarnation != entry_.incarnation) continue;
            ++requests_;
            store_.remove_member(member.id, member.version,
                                 guarded([this, retry](const Result<>& result) {
                                     if (!result) return retry();
                                     if (removed_) std::exchange(removed_, {})();
                                 }));
            return;
        }
        std::exchange(removed_, {})();
    }));
}

void Heartbeat::stop() {
    is_stopped_ = true;
    removed_ = {};
    written_ = {};
    loop_.cancel(beat_timer_);
    loop_.cancel(lease_timer_);
}

}  // namespace evenkeel::processor
