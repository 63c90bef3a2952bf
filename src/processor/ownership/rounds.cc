// The rounds of a coordinator: list, reconcile, plan, act; and when to do it again.
// tidy: no test: coordinator_test.cc and tests/sim run it
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "processor/balance/view.h"
#include "processor/canary.h"
#include "processor/ownership/coordinator_core.h"

namespace evenkeel::processor {

namespace {

using checkpoint::Member;
using checkpoint::MemberState;
using checkpoint::Ownership;

// How long to wait for others who have not seen the same yet: a death, an offer of one that leaves.
constexpr Duration died_max = std::chrono::seconds(2);
constexpr Duration leave_wait_max = std::chrono::seconds(2);
// A store that notifies tells of every heartbeat as well: so many rounds may follow at once, and
// one a second on average.
constexpr double push_credit_max = 5;
constexpr double push_credit_per_second = 1;

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

void Coordinator::Core::round() {
    is_scheduled_ = false;
    if (in_round_) {
        look_again_ = true;
        return;
    }
    in_round_ = true;
    look_again_ = false;
    const Instant now = loop_.clock().now();
    list(true, ownerships_due(now));
    if (options_.on_look) options_.on_look();
}

// Both at once: a take-over looks at the members again, after the ownerships.
void Coordinator::Core::list(bool with_members, bool with_ownerships) {
    asked_ = loop_.clock().now();
    pending_ = (with_members ? 1 : 0) + (with_ownerships ? 1 : 0);
    failed_.reset();
    listed_members_.reset();
    listed_ownerships_.reset();
    if (with_members) {
        ++requests_;
        store_.list_members(guarded([this](Result<std::vector<Member>> listed) {
            if (listed) {
                listed_members_ = std::move(*listed);
            } else {
                failed_ = listed.error();
            }
            if (--pending_ == 0) on_listed();
        }));
    }
    if (with_ownerships) {
        ++requests_;
        relist_ = false;
        store_.list_ownerships(guarded([this](Result<std::vector<Ownership>> listed) {
            if (listed) {
                listed_ownerships_ = std::move(*listed);
            } else {
                failed_ = listed.error();
                relist_ = true;
            }
            if (--pending_ == 0) on_listed();
        }));
    }
}

void Coordinator::Core::on_listed() {
    const Instant now = loop_.clock().now();
    Members::Change change;
    if (listed_members_) {
        change = members_.observe(std::move(*listed_members_), now, loop_.clock().wall());
        on_change(change);
        if (!members_.own() && phase_ == Phase::running && options_.on_doubt) options_.on_doubt();
        hand_overs_.advance();
    }
    if (listed_ownerships_) {
        if (options_.load) compare_loads(*listed_ownerships_, now);
        ownerships_.adopt(*listed_ownerships_, asked_, now);
        ownerships_listed_ = now;
        has_listed_ownerships_ = true;
        reconcile();
    }
    if (failed_) return fail_round(*failed_);
    backoff_ = Duration(0);
    // Something changed that we have not looked at yet.
    if (change.any() && !listed_ownerships_) return list(false, true);
    // Both were asked for at once: the ownerships may be older than the news of their change.
    if (change.any()) relist_ = true;
    decide();
}

void Coordinator::Core::on_change(const Members::Change& change) {
    const Instant now = loop_.clock().now();
    if (change.joined) calm_at_ = std::max(calm_at_, now + settle());
    if (phase_ == Phase::leaving && (change.joined || change.leaves)) await_others(now);
    if (change.died) calm_at_ = std::max(calm_at_, now + std::min(timing_.heartbeat, died_max));
}

// When several are stopped and started at once, each that leaves must see all the others before it
// chooses who gets what: whoever does not know of the others' gifts gives to the same members.
void Coordinator::Core::await_others(Instant now) {
    constexpr int settles_max = 3;
    gives_from_ = std::min(now, left_at_ + (settles_max - 1) * settle()) + settle();
}

void Coordinator::Core::reconcile() {
    for (std::uint32_t p = 0; p < ownerships_.size(); ++p) reconcile(PartitionId{p});
}

// Brings what we hold in line with what the store says, where the store knows better.
void Coordinator::Core::reconcile(PartitionId partition) {
    if (ownerships_.is_younger(partition, asked_)) return;
    const Ownership& entry = ownerships_[partition];
    Holding* holding = holdings_.find(partition);
    if (entry.owner != options_.id) {
        if (holding == nullptr) return;
        ++lost_;
        has_changed_ = true;
        holdings_.forget(partition);
        return;
    }
    if (holding == nullptr) {
        // Given to us, or from before a restart: read only after a write of our own.
        holdings_.hold(entry, canary_accept_without_write, loop_.clock().now());
        return;
    }
    if (holding->entry.version == entry.version) return;
    // A write of ours without an answer, which was applied; or of an earlier start of us, and then
    // the epoch is not ours.
    if (holding->entry.epoch != entry.epoch) {
        const Epoch epoch = std::max(holding->entry.epoch, entry.epoch);
        holdings_.unverify(partition);
        holding->entry = entry;
        holding->entry.epoch = epoch;
    } else {
        holding->entry = entry;
    }
}

void Coordinator::Core::decide() {
    const Instant now = loop_.clock().now();
    look_for_readers(now);
    const ViewOfSelf self{.id = options_.id,
                          .is_leaving = phase_ == Phase::leaving,
                          .is_on_probation = now < started_at_ + probation_,
                          .is_unable = is_unable(now),
                          .gives_all = gives_all(now),
                          .offers = hand_overs_.offers()};
    foreign_pace_.observe(foreign_owners(options_.id, members_, ownerships_, now), now);
    const auto expiry = [this](const std::string& owner) {
        return foreign_pace_.expiry(owner, timing_);
    };
    view_ = make_view(self, members_, ownerships_, expiry, now);
    view_.by_load = static_cast<bool>(options_.load);
    plan_ = plan(view_);
    unowned_ = static_cast<std::uint32_t>(
        std::count_if(view_.partitions.begin(), view_.partitions.end(),
                      [](const ViewPartition& partition) { return partition.owner == nobody; }));
    const bool had_foreign = std::exchange(
        has_foreign_, std::any_of(view_.members.begin(), view_.members.end(),
                                  [](const ViewMember& member) { return member.is_foreign; }));
    if (has_foreign_ && !had_foreign) {
        trace(TraceLevel::info,
              "processors of another SDK share this group: our entries are renewed as they expect");
    }

    begin_offers(now);
    hand_overs_.advance();
    publish_offers();
    tidy_up(now);

    std::vector<Write> writes = choose_writes(now);
    if (writes.empty()) return end_round();
    const bool takes_over = std::any_of(
        writes.begin(), writes.end(), [](const Write& write) { return !write.taken_from.empty(); });
    if (takes_over && !canary_members_before_ownerships) return recheck(std::move(writes));
    write(std::move(writes));
}

void Coordinator::Core::begin_offers(Instant now) {
    const bool is_leaving = phase_ == Phase::leaving;
    const bool is_last = std::none_of(
        view_.members.begin(), view_.members.end(),
        [](const ViewMember& member) { return !member.is_leaving && !member.is_foreign; });
    if (is_leaving ? !is_last && asked_ < gives_from_ : !is_calm(now)) return;
    // Whoever stays reads on meanwhile; whoever leaves is in a hurry.
    Duration wait = is_leaving ? std::min(timing_.poll, leave_wait_max) : timing_.poll;
    if (has_push_) wait = std::min(wait, Duration(std::chrono::milliseconds(100)));
    const CloseReason reason = is_leaving ? CloseReason::shutdown : CloseReason::hand_over;
    for (const Move& move : plan_.offers) {
        const Holding* holding = holdings_.find(move.partition);
        if (holding == nullptr || ownerships_.is_writing(move.partition)) continue;
        // Whoever stays reads on what it cannot give in peace.
        if (!is_leaving && !holding->is_verified) continue;
        hand_overs_.begin(move.partition, view_.members[static_cast<std::size_t>(move.to)].id,
                          reason, now + wait);
    }
    if (!is_leaving || !is_last) return;
    for (const auto& [partition, holding] : holdings_.all()) {
        if (!ownerships_.is_writing(partition)) hand_overs_.begin(partition, "", reason, now);
    }
}

// Tells the others what we give, whether we wait for something, and that we own something else now.
void Coordinator::Core::publish_offers() {
    const bool expects = phase_ == Phase::running && plan_.expects;
    std::vector<checkpoint::Offer> offers;
    for (const auto& [partition, to] : hand_overs_.offers()) offers.push_back({partition, to});
    const Member& told = heartbeat_.entry();
    const MemberState state = phase_ == Phase::leaving         ? MemberState::leaving
                              : is_unable(loop_.clock().now()) ? MemberState::unable
                                                               : MemberState::active;
    const bool has_changed = std::exchange(has_changed_, false);
    if (told.expecting == expects && told.offers == offers && told.state == state && !has_changed) {
        return;
    }
    heartbeat_.change([&](Member& entry) {
        entry.state = state;
        entry.expecting = expects;
        entry.offers = std::move(offers);
        if (has_changed) ++entry.generation;
    });
}

// Crashes are forgotten, ours after a while without one, those of members that never came back.
void Coordinator::Core::tidy_up(Instant now) {
    if (heartbeat_.entry().restarts > 0 && now - started_at_ >= timing_.restart_memory) {
        heartbeat_.change([](Member& entry) { entry.restarts = 0; });
    }
    if (!is_calm(now)) return;
    for (const auto& [id, seen] : members_.others()) {
        if (!seen.is_dead || seen.member.age < timing_.restart_memory) continue;
        ++requests_;
        store_.remove_member(id, seen.member.version, [](const Result<>&) {});
        return;  // one a round
    }
}

bool Coordinator::Core::may_write(Instant now) const {
    return now >= accept_from_ && (options_.exclusive_source || heartbeat_.lease().is_valid(now));
}

std::vector<Coordinator::Core::Write> Coordinator::Core::choose_writes(Instant now) {
    std::vector<Write> writes;
    if (!may_write(now)) return writes;
    for (const auto& [partition, holding] : holdings_.all()) {
        if (auto write = renewal(holding, now)) writes.push_back(std::move(*write));
    }
    if (phase_ == Phase::leaving) return writes;
    std::size_t room = plan_.claims.size();
    if (options_.strategy == Strategy::balanced) {
        const double ramp = seconds(timing_.ramp);
        const double age = seconds(now - started_at_);
        const auto self = static_cast<std::size_t>(view_.self);
        const std::size_t held = holdings_.all().size();
        const std::size_t limit = ramp_limit(plan_.quotas[self], age, ramp);
        if (age < ramp) room = limit > held ? limit - held : 0;
    }
    for (const PartitionId partition : plan_.claims) {
        if (room == 0) break;
        if (ownerships_.is_writing(partition) || holdings_.find(partition) != nullptr) continue;
        writes.push_back(claim(partition, now));
        --room;
    }
    if (!is_calm(now)) return writes;
    for (const PartitionId partition : plan_.steals) {
        if (ownerships_.is_writing(partition)) continue;
        Write steal = claim(partition, now);
        steal.taken_from.clear();  // it is no member of ours: there is nothing to look at again
        writes.push_back(std::move(steal));
    }
    return writes;
}

Coordinator::Core::Write Coordinator::Core::claim(PartitionId partition, Instant) const {
    const std::string& owner = ownerships_[partition].owner;
    Write write{ownerships_[partition], Kind::claim, owner, owner};
    write.entry.owner = options_.id;
    write.entry.epoch.value += 1;
    write.entry.since_ms = loop_.clock().wall().milliseconds;
    return write;
}

// OWN-4: the members once more, after the ownerships that name their owners.
void Coordinator::Core::recheck(std::vector<Write> writes) {
    ++requests_;
    store_.list_members(
        guarded([this, writes = std::move(writes)](Result<std::vector<Member>> listed) mutable {
            if (!listed) return fail_round(listed.error());
            const Instant now = loop_.clock().now();
            const auto change = members_.observe(std::move(*listed), now, loop_.clock().wall());
            on_change(change);
            if (change.any()) relist_ = true;
            std::erase_if(writes, [&](const Write& write) {
                return !write.taken_from.empty() && members_.is_live(write.taken_from);
            });
            // The time may have come for a hand-over, and the lease may be gone.
            std::erase_if(writes, [&](const Write& write) {
                return !may_write(now) || ownerships_.is_writing(write.entry.partition);
            });
            if (writes.empty()) return end_round();
            write(std::move(writes));
        }));
}

void Coordinator::Core::write(std::vector<Write> writes) {
    std::vector<Ownership> wanted;
    for (const Write& write : writes) {
        ownerships_.begin_write(write.entry.partition);
        wanted.push_back(write.entry);
    }
    ++requests_;
    const Instant asked = loop_.clock().now();
    store_.write_ownerships(std::move(wanted),
                            guarded([this, asked, writes = std::move(writes)](
                                        const Result<std::vector<Result<std::string>>>& results) {
                                on_written(writes, asked, results);
                            }));
}

void Coordinator::Core::on_written(const std::vector<Write>& writes, Instant asked,
                                   const Result<std::vector<Result<std::string>>>& results) {
    const bool is_answered = results.ok() && results->size() == writes.size();
    for (std::size_t i = 0; i < writes.size(); ++i) {
        ownerships_.end_write(writes[i].entry.partition, loop_.clock().now());
        if (is_answered) on_written(writes[i], asked, (*results)[i]);
    }
    if (!is_answered) {
        // Each may have been applied: the next listing tells.
        relist_ = true;
        return fail_round(results.ok() ? Error{ErrorCode::unavailable, "answers are missing"}
                                       : results.error());
    }
    if (has_changed_) publish_offers();
    end_round();
}

void Coordinator::Core::on_written(const Write& write, Instant asked,
                                   const Result<std::string>& result) {
    const Instant now = loop_.clock().now();
    const PartitionId partition = write.entry.partition;
    if (!result) {
        relist_ = true;
        if (result.error().code != ErrorCode::conflict) return;  // it may have been applied
        if (holdings_.find(partition) != nullptr) {
            ++lost_;
            has_changed_ = true;
            holdings_.forget(partition);
        }
        return;
    }
    Ownership entry = write.entry;
    entry.version = *result;
    ownerships_.set(entry, now);
    const bool counts = options_.exclusive_source || heartbeat_.lease().covers(asked, now);
    const Holding* holding = holdings_.find(partition);
    if (write.kind == Kind::claim) {
        ++claims_;
        tell_claim(write);
    }
    if (write.kind == Kind::verify) ++received_;
    if (write.kind != Kind::renew || entry.load != (holding ? holding->entry.load : 0)) {
        has_changed_ = true;
    }
    holdings_.hold(entry, counts, asked);
}

void Coordinator::Core::fail_round(const Error& error) {
    in_round_ = false;
    members_.note_failure();
    relist_ = true;
    backoff_ = std::clamp(2 * backoff_, timing_.poll_fast, timing_.heartbeat);
    look_at(loop_.clock().now() + backoff_);
    report("balance", error, backoff_);
}

void Coordinator::Core::end_round() {
    in_round_ = false;
    if (phase_ == Phase::leaving && finish_leaving()) return;
    const Instant now = loop_.clock().now();
    round_ended_ = now;
    if (look_again_) return look_at(now + (has_push_ ? timing_.poll_fast / 10 : Duration(0)));
    const bool fast = is_fast(now);
    if (fast && !was_fast_) fast_since_ = now;
    was_fast_ = fast;
    const bool is_too_long = fast && now - fast_since_ > timing_.poll_fast_max;
    Instant next = now + drawn(fast && !is_too_long ? timing_.poll_fast : look_period());
    // A newcomer takes its share in steps, and each step waits for a look.
    if (now - started_at_ < timing_.ramp) next = now + drawn(timing_.poll_fast / 2);
    // A conflict, or an answer that was lost.
    if (relist_) next = std::min(next, now + timing_.poll_fast / 2);
    if (const auto death = members_.next_death()) next = std::min(next, *death);
    if (accept_from_ > now) next = std::min(next, accept_from_);
    if (phase_ == Phase::leaving && gives_from_ > now) next = std::min(next, gives_from_);
    for (const auto& [partition, holding] : holdings_.all()) {
        if (holding.not_before > now) next = std::min(next, holding.not_before);
    }
    next = std::min({next, hand_overs_.next_deadline(), next_give_up(now)});
    look_at(std::max(next, now + timing_.poll_fast / 10));
}

bool Coordinator::Core::is_fast(Instant now) const {
    const bool is_young = now - started_at_ < timing_.ramp;
    return is_young || plan_.expects || !hand_overs_.empty() || unowned_ > 0 || !is_calm(now) ||
           phase_ == Phase::leaving || relist_;
}

Duration Coordinator::Core::drawn(Duration period) {
    return Duration(random_.between(period.count() * 9 / 10, period.count()));
}

void Coordinator::Core::look_at(Instant when) {
    if (is_scheduled_) loop_.cancel(round_timer_);
    is_scheduled_ = true;
    round_at_ = when;
    round_timer_ = loop_.run_at(when, guarded([this] { round(); }));
}

void Coordinator::Core::look_now() {
    if (in_round_) {
        look_again_ = true;
        return;
    }
    // While the store fails, nothing hurries.
    const Instant now = loop_.clock().now();
    if (backoff_ > Duration(0) && is_scheduled_) return;
    look_at(now);
}

void Coordinator::Core::on_pushed() {
    if (phase_ != Phase::running && phase_ != Phase::leaving) return;
    const Instant now = loop_.clock().now();
    if (is_fast(now)) {
        const Instant earliest = std::max(now, round_ended_ + timing_.poll_fast / 10);
        if (in_round_) {
            look_again_ = true;
        } else if (!is_scheduled_ || earliest < round_at_) {
            look_at(earliest);
        }
        return;
    }
    push_credit_ = std::min(push_credit_max,
                            push_credit_ + seconds(now - push_credit_at_) * push_credit_per_second);
    push_credit_at_ = now;
    if (push_credit_ < 1) return;
    push_credit_ -= 1;
    look_now();
}

void Coordinator::Core::on_hand_over_ended(PartitionId partition, HandOvers::Outcome outcome) {
    has_changed_ = true;
    switch (outcome) {
        case HandOvers::Outcome::given:
            ++handed_over_;
            tell_gift(partition);
            if (unread_since_) on_given_up(loop_.clock().now());
            break;
        case HandOvers::Outcome::lost: ++lost_; break;
        case HandOvers::Outcome::kept:
        case HandOvers::Outcome::unknown: relist_ = true; break;
    }
    if (in_round_) return;
    publish_offers();
    if (outcome != HandOvers::Outcome::given || phase_ == Phase::leaving) look_now();
}

}  // namespace evenkeel::processor
