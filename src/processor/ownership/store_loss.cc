// The store that a processor begins with, and what it does when that was emptied or set back
// (store_mark.h).
#include <algorithm>

#include <fmt/core.h>

#include "base/canary.h"
#include "processor/core.h"
#include "processor/ownership/ownership_writer.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Checkpoint;
using checkpoint::Ownership;
using checkpoint::Record;

namespace {

constexpr Duration idle_poll = std::chrono::milliseconds(20);
constexpr std::uint32_t seed_attempts_max = 4;

bool is_further(const Checkpoint& a, const Checkpoint& b) {
    return std::pair(a.sequence, a.attempts) > std::pair(b.sequence, b.attempts);
}

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

void Core::join_store(Callback<void(Result<>)> joined) {
    place_.store.list_records(
        request_prefix, lifetime_.guard([this, joined = std::move(joined)](
                                            const Result<std::vector<Record>>& listed) mutable {
            if (!listed.ok()) {
                return join_failed(listed.error(), std::move(joined));
            }
            join_store(read_store_signs(*listed), std::move(joined));
        }));
}

void Core::join_failed(const Error& error, Callback<void(Result<>)> joined) {
    if (is_stopping_) return joined(Error{ErrorCode::cancelled, "it was stopped"});
    // Another member was faster: look again.
    if (!is_retriable(error) && error.code != ErrorCode::conflict) return joined(error);
    const Duration delay = restart_delay(++join_failures_, random_);
    place_.loop.run_after(delay, lifetime_.guard([this, joined = std::move(joined)]() mutable {
        join_store(std::move(joined));
    }));
    if (error.code == ErrorCode::conflict) return;
    on_failure({ErrorScope::store, std::nullopt, "look at the store", error, true,
                std::chrono::duration_cast<std::chrono::milliseconds>(delay)});
}

void Core::join_store(const StoreSigns& signs, Callback<void(Result<>)> joined) {
    if (is_stopping_) return joined(Error{ErrorCode::cancelled, "it was stopped"});
    if (signs.lost && !options_.accept_store_loss) return joined(not_accepted(*signs.lost));
    const bool is_new =
        !signs.mark || (signs.lost && signs.mark->accepted != signs.lost->incarnation);
    if (!is_new && !signs.lost) {
        store_memory_.join(*signs.mark, place_.loop.clock().now());
        is_store_young_ = signs.mark->count <= 1 && !EK_CANARY(believes_any_store);
        return joined({});
    }
    if (!is_new) {
        return write_sign({std::string(store_lost_key), "", signs.lost_version}, std::move(joined));
    }
    StoreMark mark{fmt::format("{:016x}", random_.next()), 1};
    if (signs.lost) mark.accepted = signs.lost->incarnation;
    Record record{std::string(store_mark_key), encode(mark), signs.mark_version};
    raise_epochs(lifetime_.guard([this, record = std::move(record),
                                  joined = std::move(joined)](const Result<>& raised) mutable {
        if (!raised.ok()) return join_failed(raised.error(), std::move(joined));
        write_sign(record, std::move(joined));
    }));
}

// Whatever came of it, the store tells.
void Core::write_sign(const Record& record, Callback<void(Result<>)> joined) {
    place_.store.write_record(
        record, lifetime_.guard(
                    [this, joined = std::move(joined)](const Result<std::string>& written) mutable {
                        if (written.ok()) return join_store(std::move(joined));
                        join_failed(written.error(), std::move(joined));
                    }));
}

void Core::raise_epochs(Callback<void(Result<>)> done) {
    place_.store.list_checkpoints(lifetime_.guard(
        [this, done = std::move(done)](Result<std::vector<Checkpoint>> checkpoints) mutable {
            if (!checkpoints.ok()) return done(checkpoints.error());
            if (checkpoints->empty()) return done({});
            place_.store.list_ownerships(lifetime_.guard(
                [this, checkpoints = std::move(*checkpoints),
                 done = std::move(done)](const Result<std::vector<Ownership>>& owned) mutable {
                    if (!owned.ok()) return done(owned.error());
                    std::vector<Ownership> wanted = raised(checkpoints, *owned);
                    if (wanted.empty()) return done({});
                    write_ownerships(place_.store, std::move(wanted),
                                     lifetime_.guard([done = std::move(done)](
                                                         const WrittenOwnerships& written) mutable {
                                         if (!written.ok()) return done(written.error());
                                         for (const auto& each : *written) {
                                             if (!each.ok()) return done(each.error());
                                         }
                                         done({});
                                     }));
                }));
        }));
}

// The pumps hold until then, with their readers open: a reader that is cut by ours looks at the
// store at once.
void Core::settle_store() {
    if (!is_store_young_ || std::exchange(is_settling_, true)) return;
    settle_timer_.run_after(store_settle, [this] {
        confirm_store(lifetime_.guard([this](const Result<>& confirmed) {
            is_settling_ = false;
            if (!confirmed.ok()) return settle_store();
            is_store_young_ = false;
            hold_pumps();
        }));
    });
}

// One listing for all that ask while the one before is under way.
void Core::confirm_store(Callback<void(Result<>)> answer) {
    unconfirmed_.push_back(std::move(answer));
    if (!is_confirming_) confirm_all();
}

void Core::confirm_all() {
    is_confirming_ = true;
    place_.store.list_records(
        request_prefix, lifetime_.guard([this, asked = std::exchange(unconfirmed_, {})](
                                            const Result<std::vector<Record>>& listed) mutable {
            is_confirming_ = false;
            if (listed.ok() && !is_same_store(read_store_signs(*listed))) return;
            const Result<> answer = listed.ok() ? Result<>() : Result<>(listed.error());
            const Lifetime::Watch self = lifetime_.watch();
            for (auto& each : asked) {
                each(answer);
                if (self.over()) return;
            }
            if (!unconfirmed_.empty() && !is_confirming_) confirm_all();
        }));
}

bool Core::is_same_store(const StoreSigns& signs) {
    if (EK_CANARY(believes_any_store)) return true;
    if (is_store_lost_) return false;
    const Instant now = place_.loop.clock().now();
    if (const auto verdict = store_memory_.judge(signs, now)) {
        lose_store(*verdict);
        return false;
    }
    if (const auto next = store_memory_.next(signs, now)) {
        place_.store.write_record(
            {std::string(store_mark_key), encode(*next), signs.mark_version},
            lifetime_.guard([this, mark = *next, now](const Result<std::string>& written) {
                if (written.ok()) store_memory_.raised(mark, now);
            }));
    }
    return true;
}

// No call of the handler begins any more. What members know is stored again: a checkpoint only
// rises (STORE-4), so that is right whatever the store has by now. Then the others and whoever
// comes are told, the calls that run end, and we are gone without asking the store for anything.
void Core::lose_store(const StoreVerdict& verdict) {
    if (is_store_lost_ || is_stopping_) return;
    is_store_lost_ = true;
    is_stopping_ = true;
    timer_.cancel();
    hold_pumps();
    stopped_.push_back([this, why = verdict.error](const StopReport&) { end(why); });
    on_failure(
        {ErrorScope::store, std::nullopt, "look at the store",
         Error{ErrorCode::corrupt, "it is not the store that this processor began with: it stops"},
         false});
    // Not within a call of what is stopped here.
    place_.loop.post(lifetime_.guard([this, is_accepted = verdict.is_accepted] {
        requests_.stop();
        if (is_accepted) return drain_lost(false);
        if (place_.on_store_lost) place_.on_store_lost();
        seed_checkpoints(seed_attempts_max, [this] {
            const StoreLost lost{store_memory_.incarnation(), options_.id};
            place_.store.write_record(
                {std::string(store_lost_key), encode(lost)},
                lifetime_.guard([this](const Result<std::string>&) { drain_lost(true); }));
        });
    }));
}

void Core::drain_lost(bool must_seed) {
    const auto is_idle = [this] {
        return std::none_of(slots_.begin(), slots_.end(), [](const auto& each) {
            return each.second.pump && each.second.pump->is_handling();
        });
    };
    when(is_idle, [this, must_seed] {
        if (!must_seed) return abandon();
        seed_checkpoints(1, [this] { abandon(); });
    });
}

void Core::abandon() {
    coordinator_->abandon();
    const auto is_closed = [this] {
        return std::none_of(slots_.begin(), slots_.end(),
                            [](const auto& each) { return each.second.pump != nullptr; });
    };
    when(is_closed, [this] { left(); });
}

// Looks again and again, at most for as long as a handler may take to end.
void Core::when(std::function<bool()> is_true, std::function<void()> then) {
    const Instant until = place_.loop.clock().now() + options_.drain_max;
    look_until(std::move(is_true), std::move(then), until);
}

void Core::look_until(std::function<bool()> is_true, std::function<void()> then, Instant until) {
    if (is_true() || place_.loop.clock().now() >= until) return then();
    place_.loop.run_after(idle_poll, lifetime_.guard([this, is_true = std::move(is_true),
                                                      then = std::move(then), until]() mutable {
        look_until(std::move(is_true), std::move(then), until);
    }));
}

// The furthest: a pump that was opened on the emptied store knows nothing.
void Core::remember(const Checkpoint& progress) {
    if (progress.sequence.value < 0) return;
    const auto [known, is_new] = progress_.try_emplace(progress.partition, progress);
    const bool is_other_hub = known->second.hub_created_ms != progress.hub_created_ms;
    if (is_new || (!is_other_hub && !is_further(progress, known->second))) return;
    known->second = progress;
}

// With exactly_once the results are in the store too: what it says of the position is true of them.
void Core::seed_checkpoints(std::uint32_t attempts, std::function<void()> done) {
    for (auto& [partition, slot] : slots_) {
        if (slot.pump) remember(slot.pump->progress());
    }
    if (options_.delivery == Delivery::exactly_once || progress_.empty()) return done();
    place_.store.list_checkpoints(lifetime_.guard(
        [this, attempts, done = std::move(done)](const Result<std::vector<Checkpoint>>& listed) {
            if (!listed.ok() && !is_retriable(listed.error())) return done();
            if (!listed.ok()) return seed_again(attempts, done);
            write_seeds(*listed, attempts, done);
        }));
}

void Core::write_seeds(const std::vector<Checkpoint>& stored, std::uint32_t attempts,
                       const std::function<void()>& done) {
    std::vector<Checkpoint> seeds;
    for (const auto& [partition, known] : progress_) {
        Checkpoint seed = known;
        bool is_there = false;
        for (const Checkpoint& each : stored) {
            if (each.partition != partition) continue;
            is_there = !is_further(known, each) && each.hub_created_ms == known.hub_created_ms;
            seed.epoch = std::max(seed.epoch, each.epoch);
        }
        if (!is_there) seeds.push_back(std::move(seed));
    }
    if (seeds.empty()) return done();
    const auto left = std::make_shared<std::size_t>(seeds.size());
    const auto must_repeat = std::make_shared<bool>(false);
    for (const Checkpoint& seed : seeds) {
        place_.store.write_checkpoint(seed, lifetime_.guard([this, left, must_repeat, attempts,
                                                             done](const Result<>& written) {
            // Sealed meanwhile by whoever claims, or not answered.
            if (!written.ok()) {
                *must_repeat = *must_repeat || is_retriable(written.error()) ||
                               written.error().code == ErrorCode::fenced;
            }
            if (--*left > 0) return;
            if (*must_repeat) return seed_again(attempts, done);
            done();
        }));
    }
}

void Core::seed_again(std::uint32_t attempts, const std::function<void()>& done) {
    if (attempts <= 1) return done();
    place_.loop.run_after(restart_delay(1, random_), lifetime_.guard([this, attempts, done] {
        seed_checkpoints(attempts - 1, done);
    }));
}

}  // namespace evenkeel::processor
