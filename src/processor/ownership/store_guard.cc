#include "processor/ownership/store_guard.h"

#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
#include "processor/ownership/ownership_writer.h"
#include "processor/ownership/requests.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Checkpoint;
using checkpoint::Ownership;
using checkpoint::Record;

namespace {

// A checkpoint that a member of a lost store has left, or stored again, has an epoch above those of
// the store's ownerships: whoever claims next must come out above it.
std::vector<Ownership> raised(const std::vector<Checkpoint>& checkpoints,
                              const std::vector<Ownership>& ownerships) {
    std::vector<Ownership> wanted;
    for (const Checkpoint& each : checkpoints) {
        Ownership entry{.partition = each.partition};
        for (const Ownership& known : ownerships) {
            if (known.partition == each.partition) entry = known;
        }
        const bool is_foreign = !entry.owner.empty() && entry.epoch.value == 0;
        if (is_foreign || entry.epoch >= each.epoch) continue;
        entry.owner.clear();
        entry.epoch = each.epoch;
        wanted.push_back(std::move(entry));
    }
    return wanted;
}

}  // namespace

StoreGuard::~StoreGuard() {
    if (settle_timer_) place_.loop.cancel(*settle_timer_);
}

void StoreGuard::join(Answer joined) {
    EK_CHECK(state_ == State::outside, "a store is joined once");
    joined_ = std::move(joined);
    set_state(State::joining);
    look();
}

void StoreGuard::look() {
    place_.store.list_records(request_prefix,
                              lifetime_.guard([this](const Result<std::vector<Record>>& listed) {
                                  if (!listed.ok()) return look_again(listed.error());
                                  decide(read_store_signs(*listed));
                              }));
}

void StoreGuard::look_again(const Error& error) {
    if (owner_.is_stopping()) {
        return join_ended(State::outside, Error{ErrorCode::cancelled, "it was stopped"});
    }
    // Another member was faster: look again.
    if (!is_retriable(error) && error.code != ErrorCode::conflict) {
        return join_ended(State::outside, error);
    }
    const Duration delay = restart_delay(++join_failures_, place_.random);
    place_.loop.run_after(delay, lifetime_.guard([this] { look(); }));
    if (error.code == ErrorCode::conflict) return;
    owner_.on_failure({ErrorScope::store, std::nullopt, "look at the store", error, true,
                       std::chrono::duration_cast<std::chrono::milliseconds>(delay)});
}

void StoreGuard::decide(const StoreSigns& signs) {
    if (owner_.is_stopping()) {
        return join_ended(State::outside, Error{ErrorCode::cancelled, "it was stopped"});
    }
    if (signs.lost && !place_.accepts_loss) {
        return join_ended(State::outside, not_accepted(*signs.lost));
    }
    const bool is_new =
        !signs.mark || (signs.lost && signs.mark->accepted != signs.lost->incarnation);
    if (!is_new && !signs.lost) {
        memory_.join(*signs.mark, place_.loop.clock().now());
        const bool is_young = signs.mark->count <= 1 && !EK_CANARY(believes_any_store);
        return join_ended(is_young ? State::young : State::joined, {});
    }
    if (!is_new) return write_sign({std::string(store_lost_key), "", signs.lost_version});
    StoreMark mark{fmt::format("{:016x}", place_.random.next()), 1};
    if (signs.lost) mark.accepted = signs.lost->incarnation;
    Record record{std::string(store_mark_key), encode(mark), signs.mark_version};
    raise_epochs(lifetime_.guard([this, record = std::move(record)](const Result<>& raised) {
        if (!raised.ok()) return look_again(raised.error());
        write_sign(record);
    }));
}

// Whatever came of it, the store tells.
void StoreGuard::write_sign(const Record& record) {
    place_.store.write_record(record, lifetime_.guard([this](const Result<std::string>& written) {
        if (written.ok()) return look();
        look_again(written.error());
    }));
}

void StoreGuard::raise_epochs(Answer done) {
    place_.store.list_checkpoints(lifetime_.guard(
        [this, done = std::move(done)](const Result<std::vector<Checkpoint>>& listed) mutable {
            if (!listed.ok()) return done(listed.error());
            if (listed->empty()) return done({});
            raise_epochs(*listed, std::move(done));
        }));
}

void StoreGuard::raise_epochs(const std::vector<Checkpoint>& checkpoints, Answer done) {
    place_.store.list_ownerships(
        lifetime_.guard([this, checkpoints, done = std::move(done)](
                            const Result<std::vector<Ownership>>& owned) mutable {
            if (!owned.ok()) return done(owned.error());
            std::vector<Ownership> wanted = raised(checkpoints, *owned);
            if (wanted.empty()) return done({});
            write_ownerships(
                place_.store, std::move(wanted),
                lifetime_.guard([done = std::move(done)](const WrittenOwnerships& written) mutable {
                    if (!written.ok()) return done(written.error());
                    for (const auto& each : *written) {
                        if (!each.ok()) return done(each.error());
                    }
                    done({});
                }));
        }));
}

void StoreGuard::join_ended(State state, Result<> result) {
    auto joined = std::exchange(joined_, nullptr);
    set_state(state);
    joined(std::move(result));
}

// The pumps hold until then, with their readers open: a reader that is cut by ours looks at the
// store at once.
void StoreGuard::settle() {
    if (state_ != State::young || settle_timer_) return;
    settle_timer_ = place_.loop.run_after(store_settle, [this] {
        confirm(lifetime_.guard([this](const Result<>& confirmed) {
            settle_timer_.reset();
            if (!confirmed.ok()) return settle();
            if (state_ != State::young) return;
            set_state(State::joined);
            owner_.on_store_settled();
        }));
    });
}

void StoreGuard::confirm(Answer answer) {
    unconfirmed_.push_back(std::move(answer));
    if (!is_confirming_) confirm_all();
}

void StoreGuard::confirm_all() {
    is_confirming_ = true;
    const Instant asked_at = place_.loop.clock().now();
    place_.store.list_records(
        request_prefix, lifetime_.guard([this, asked_at, asked = std::exchange(unconfirmed_, {})](
                                            const Result<std::vector<Record>>& listed) mutable {
            is_confirming_ = false;
            if (listed.ok()) {
                const bool is_fresh = place_.loop.clock().now() - asked_at <= answer_age_max;
                const Sameness found = compare(read_store_signs(*listed), is_fresh);
                if (found == Sameness::other) return;
                if (found == Sameness::doubtful) {
                    for (auto& each : asked) unconfirmed_.push_back(std::move(each));
                    return confirm_all();
                }
            }
            const Result<> answer = listed.ok() ? Result<>() : Result<>(listed.error());
            const Lifetime::Watch self = lifetime_.watch();
            for (auto& each : asked) {
                each(answer);
                if (self.over()) return;
            }
            if (!unconfirmed_.empty() && !is_confirming_) confirm_all();
        }));
}

bool StoreGuard::is_same(const StoreSigns& signs) {
    const Sameness found = compare(signs, false);
    if (found == Sameness::doubtful && !is_confirming_) confirm_all();
    return found == Sameness::same;
}

// Another member may have begun with an operator's consent since a late answer was given. To report
// the loss once more would stop it.
StoreGuard::Sameness StoreGuard::compare(const StoreSigns& signs, bool is_fresh) {
    if (EK_CANARY(believes_any_store)) return Sameness::same;
    if (state_ == State::lost) return Sameness::other;
    const Instant now = place_.loop.clock().now();
    if (const auto verdict = memory_.judge(signs, now)) {
        const bool may_ask = !owner_.is_stopping() && doubts_ < doubts_max;
        if (!verdict->is_accepted && !is_fresh && may_ask) {
            ++doubts_;
            return Sameness::doubtful;
        }
        lose(*verdict);
        return Sameness::other;
    }
    doubts_ = 0;
    if (const auto next = memory_.next(signs, now)) {
        place_.store.write_record(
            {std::string(store_mark_key), encode(*next), signs.mark_version},
            lifetime_.guard([this, mark = *next, now](const Result<std::string>& written) {
                if (written.ok()) memory_.raised(mark, now);
            }));
    }
    return Sameness::same;
}

void StoreGuard::lose(const StoreVerdict& verdict) {
    if (state_ == State::lost || owner_.is_stopping()) return;
    set_state(State::lost);
    owner_.on_store_lost(verdict);
}

void StoreGuard::set_state(State state) {
    state_ = state;
    check_state();
}

void StoreGuard::check_state() const {
    EK_CHECK((state_ == State::joining) == static_cast<bool>(joined_),
             "joins without somebody to answer");
    EK_CHECK(!settle_timer_ || state_ == State::young || state_ == State::lost,
             "settles a store that is not young");
}

}  // namespace evenkeel::processor
