#include "processor/ownership/heartbeat.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/canary.h"

namespace evenkeel::processor {

using checkpoint::Member;

Heartbeat::Heartbeat(io::Loop& loop, checkpoint::Store& store, const Timing& timing, Random random,
                     Listener listener)
    : loop_(loop),
      store_(store),
      timing_(timing),
      random_(random),
      listener_(std::move(listener)),
      lease_(timing.lease),
      // A second try, with a look in between, fits into what the lease leaves after a heartbeat.
      patience_min_((timing.lease - timing.heartbeat) / 2) {}

Heartbeat::~Heartbeat() {
    stop();
}

// Wraps an answer: not after our end, and never under a lease that is over.
template <typename F>
auto Heartbeat::guarded(F function) {
    return lifetime_.guard([this, function = std::move(function)](auto&&... arguments) mutable {
        if (is_stopped_ && !removed_) return;
        check();
        function(std::forward<decltype(arguments)>(arguments)...);
    });
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
    beat_timer_.cancel();
    backs_off_ = false;
    if (EK_CANARY(wall_clock_expiry)) entry_.since_ms = loop_.clock().wall().milliseconds;
    const Beat beat{ask(), revision_, loop_.clock().now(), entry_.version};
    store_.write_member(entry_, guarded([this, beat](Result<std::string> result) {
                            on_written(beat, std::move(result));
                        }));
}

std::uint64_t Heartbeat::ask() {
    ++requests_;
    in_flight_ = true;
    patience_timer_.run_after(patience_, guarded([this] { on_silence(); }));
    return ++question_;
}

// True if it is what we wait for; earlier ones we have given up.
bool Heartbeat::is_answered(std::uint64_t question) {
    if (question != question_ || !in_flight_) return false;
    patience_timer_.cancel();
    in_flight_ = false;
    return true;
}

// Each time for twice as long: a store that is slow needs no second question.
void Heartbeat::on_silence() {
    if (is_stopped_ || !in_flight_) return;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(patience_);
    patience_ = std::min(2 * patience_, timing_.request_max);
    write();
    listener_.on_failure({ErrorCode::timed_out,
                          fmt::format("no answer from the store within {} ms", waited.count())},
                         Duration(0));
}

void Heartbeat::on_written(const Beat& beat, Result<std::string> result) {
    const bool is_awaited = is_answered(beat.question);
    if (result || result.error().code == ErrorCode::conflict) {
        listener_.on_answer(loop_.clock().now() - beat.sent);
    }
    if (is_stopped_) {
        if (is_awaited) try_remove();
        return;
    }
    // One that we gave up is good if it is the first to replace what we know; then whatever we have
    // asked since comes too late.
    if (result && beat.replaced == entry_.version) return on_good(beat, std::move(*result));
    if (!is_awaited) return;
    if (result.error().code == ErrorCode::conflict) return look();
    const Duration delay = timing_.heartbeat / 4;
    again_after(delay);
    listener_.on_failure(result.error(), delay);
}

void Heartbeat::on_good(const Beat& beat, std::string version) {
    const Instant now = loop_.clock().now();
    // Once more: the process may have stood still since this step began.
    report(lease_.check(now));
    if (is_stopped_) return;
    in_flight_ = false;
    patience_timer_.cancel();
    if (now - beat.sent < patience_min_) patience_ = patience_min_;
    conflicts_ = 0;
    entry_.version = std::move(version);
    published_ = std::max(published_, beat.revision);
    report(lease_.renewed(beat.sent, now));
    arm_lease();
    if (is_stopped_) return;
    if (published_ < revision_) {
        write();
    } else {
        // Drawn anew each time, so that members do not march in step.
        const std::int64_t period = timing_.heartbeat.count();
        const Duration next(random_.between(period * 9 / 10, period));
        again_after(std::max(beat.sent + next - now, Duration(0)));
        backs_off_ = false;
    }
    if (written_) std::exchange(written_, {})({});
}

// A conflict: whose entry is it now?
void Heartbeat::look() {
    store_.list_members(guarded([this, question = ask()](Result<std::vector<Member>> listed) {
        on_looked(question, std::move(listed));
    }));
}

void Heartbeat::on_looked(std::uint64_t question, Result<std::vector<Member>> listed) {
    if (!is_answered(question)) return;
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
    if (!written_) listener_.on_doubt();
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
    beat_timer_.cancel();
    report(lease_.end());
    lease_timer_.cancel();
    patience_timer_.cancel();
    if (written_) {
        std::exchange(written_, {})(std::move(error));
    } else {
        listener_.on_taken(std::move(error));
    }
}

void Heartbeat::again_after(Duration delay) {
    backs_off_ = true;
    beat_timer_.run_after(delay, guarded([this] {
                              if (!in_flight_) write();
                          }));
}

void Heartbeat::arm_lease() {
    lease_timer_.cancel();
    const Instant now = loop_.clock().now();
    if (!lease_.is_valid(now)) return;
    lease_timer_.run_at(lease_.until(), guarded([] {}));
}

void Heartbeat::report(Lease::Change change) {
    if (is_stopped_) return;
    if (change == Lease::Change::lapsed) listener_.on_lapsed();
    if (change == Lease::Change::gained) listener_.on_gained();
}

void Heartbeat::remove(Task done) {
    is_stopped_ = true;
    lease_.end();
    beat_timer_.cancel();
    lease_timer_.cancel();
    removed_ = std::move(done);
    if (!in_flight_) try_remove();
}

void Heartbeat::try_remove() {
    if (!removed_) return;
    ++requests_;
    store_.list_members(guarded([this](Result<std::vector<Member>> listed) {
        if (!removed_) return;
        const auto retry = [this] {
            beat_timer_.run_after(timing_.heartbeat / 4, guarded([this] { try_remove(); }));
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
    beat_timer_.cancel();
    lease_timer_.cancel();
    patience_timer_.cancel();
}

}  // namespace evenkeel::processor
