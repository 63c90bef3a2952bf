// tidy: no test: coordinator_test.cc and tests/sim run it
#include "processor/ownership/rounds.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
#include "base/log.h"
#include "processor/balance/view.h"
#include "processor/ownership/move_reason.h"

namespace evenkeel::processor {

namespace {

using checkpoint::Member;
using checkpoint::MemberState;
using checkpoint::Ownership;

constexpr int slow_listing_heartbeats = 10;  // ownerships are listed at least so seldom
constexpr Duration leave_wait_max = std::chrono::seconds(2);  // for a receiver to see its offer
constexpr Duration push_wait_max = std::chrono::milliseconds(100);

}  // namespace

Rounds::Rounds(const Place& place, Random random, std::function<void()> emptied)
    : place_(place),
      options_(place.options),
      timing_(options_.timing),
      members_(options_.id, timing_),
      writer_(place.loop, place.store, ownerships_, place.steps),
      hand_overs_({place.loop, writer_, place.holdings, ownerships_, members_},
                  [this](PartitionId partition, HandOvers::Outcome outcome) {
                      on_hand_over_ended(partition, outcome);
                  }),
      listing_(place.loop, place.store, place.steps),
      schedule_(place.loop, place.steps, timing_, random, [this] { round(); }),
      settling_(timing_),
      renewals_(timing_),
      loads_(timing_),
      unread_(timing_),
      emptied_(std::move(emptied)) {}

void Rounds::set_partitions(std::uint32_t partitions) {
    ownerships_.resize(partitions);
    if (state_ == State::created) return;
    listing_.want_ownerships();
    if (is_active()) schedule_.look_now();
}

void Rounds::start(Instant accept_from) {
    EK_CHECK(state_ == State::created, "the rounds start once");
    state_ = State::running;
    started_at_ = place_.loop.clock().now();
    accept_from_ = accept_from;
    probation_ = members_.probation(place_.heartbeat.entry().restarts);
    settling_.start(started_at_);
    const bool has_push = place_.store.watch(place_.steps.wrap([this] {
        if (is_active()) schedule_.on_pushed(is_fast(place_.loop.clock().now()));
    }));
    settling_.set_push(has_push);
    schedule_.set_push(has_push);
    check_state();
    schedule_.look_now();
    if (options_.load) watch_loads();
}

void Rounds::leave() {
    EK_CHECK(state_ == State::running, "leaves once, after it has started");
    state_ = State::leaving;
    settling_.leave(place_.loop.clock().now());
    place_.heartbeat.change([](Member& entry) {
        entry.state = MemberState::leaving;
        entry.expecting = false;
    });
    check_state();
}

void Rounds::stop() {
    state_ = State::ended;
    hand_overs_.abandon();
    schedule_.stop();
}

void Rounds::look_again() {
    listing_.want_ownerships();
    schedule_.look_now();
}

void Rounds::on_gained() {
    if (!is_active()) return;
    schedule_.reset_backoff();
    look_again();
}

void Rounds::on_answer(Duration latency) {
    members_.note_answer(latency, place_.loop.clock().now());
}

void Rounds::set_unread(std::optional<Instant> since) {
    if (unread_.set(since) && is_active()) schedule_.look_now();
}

void Rounds::round() {
    check_state();
    const Instant now = place_.loop.clock().now();
    listing_.ask(ownerships_due(now) ? GroupListing::What::both : GroupListing::What::members,
                 [this](GroupListing::Answer answer) { on_listed(std::move(answer)); });
    if (options_.on_look) options_.on_look();
}

bool Rounds::ownerships_due(Instant now) const {
    return listing_.wants_ownerships() || !ownerships_listed_ || is_fast(now) ||
           renewals_.has_foreign() || options_.may_be_mixed ||
           now - *ownerships_listed_ >= slow_listing_heartbeats * timing_.heartbeat;
}

void Rounds::on_listed(GroupListing::Answer answer) {
    const Instant now = place_.loop.clock().now();
    Members::Change change;
    if (answer.members) {
        change = observe(std::move(*answer.members), now);
        if (!members_.own() && state_ == State::running && options_.on_doubt) options_.on_doubt();
        hand_overs_.advance();
    }
    if (answer.ownerships) {
        if (options_.load && SmoothedLoads::has_jumped(*answer.ownerships, ownerships_)) {
            settling_.on_loads_changed(now);
        }
        ownerships_.adopt(*answer.ownerships, answer.asked, now);
        ownerships_listed_ = now;
        for (std::uint32_t p = 0; p < ownerships_.size(); ++p) {
            reconcile(PartitionId{p}, answer.asked);
        }
    }
    if (answer.error) return fail_round(*answer.error);
    schedule_.reset_backoff();
    // Something changed that we have not looked at yet.
    if (change.any() && !answer.ownerships) {
        return listing_.ask(GroupListing::What::ownerships,
                            [this](GroupListing::Answer second) { on_listed(std::move(second)); });
    }
    // Both were asked for at once: the ownerships may be older than the news of their change.
    if (change.any()) listing_.want_ownerships();
    decide(answer.asked);
}

Members::Change Rounds::observe(std::vector<Member> listed, Instant now) {
    if (EK_CANARY(wall_clock_expiry)) {
        const WallTime wall = place_.loop.clock().wall();
        std::erase_if(listed, [&](const Member& member) {
            return member.id != options_.id && wall - WallTime{member.since_ms} >= timing_.dead;
        });
    }
    const Members::Change change = members_.observe(std::move(listed), now);
    settling_.on_change(change, now);
    return change;
}

// Brings what we hold in line with what the store says, where the store knows better.
void Rounds::reconcile(PartitionId partition, Instant asked) {
    Holdings& holdings = place_.holdings;
    if (ownerships_.is_younger(partition, asked)) return;
    const Ownership& entry = ownerships_[partition];
    Holding* holding = holdings.find(partition);
    if (entry.owner != options_.id) {
        if (holding == nullptr) return;
        ++counts_.lost;
        has_changed_ = true;
        holdings.forget(partition);
        return;
    }
    if (holding == nullptr) {
        // Given to us, or from before a restart: read only after a write of our own.
        holdings.hold(entry, EK_CANARY(accept_without_write), place_.loop.clock().now());
        return;
    }
    if (holding->entry.version == entry.version) return;
    // A write of ours without an answer, which was applied; or of an earlier start of us, and then
    // the epoch is not ours.
    if (holding->entry.epoch != entry.epoch) {
        const Epoch epoch = std::max(holding->entry.epoch, entry.epoch);
        holdings.unverify(partition);
        holding->entry = entry;
        holding->entry.epoch = epoch;
    } else {
        holding->entry = entry;
    }
}

void Rounds::decide(Instant asked) {
    const Instant now = place_.loop.clock().now();
    unread_.observe(members_, now);
    make_plan(now);
    begin_offers(asked, now);
    hand_overs_.advance();
    publish();
    tidy_up(now);

    std::vector<OwnershipWrite> writes;
    if (may_write(now)) {
        writes = choose_writes({.options = options_,
                                .view = view_,
                                .plan = plan_,
                                .holdings = place_.holdings,
                                .ownerships = ownerships_,
                                .hand_overs = hand_overs_,
                                .loads = loads_,
                                .renewals = renewals_,
                                .lease = place_.heartbeat.lease(),
                                .started_at = started_at_,
                                .is_leaving = state_ == State::leaving,
                                .is_calm = settling_.is_calm(now),
                                .now = now,
                                .wall = place_.loop.clock().wall()});
    }
    if (writes.empty()) return end_round();
    const bool takes_over = std::any_of(
        writes.begin(), writes.end(), [](const OwnershipWrite& each) { return each.is_take_over; });
    if (takes_over && !EK_CANARY(members_before_ownerships)) return recheck(std::move(writes));
    write(std::move(writes));
}

void Rounds::make_plan(Instant now) {
    const ViewOfSelf self{.id = options_.id,
                          .is_leaving = state_ == State::leaving,
                          .is_on_probation = now < started_at_ + probation_,
                          .is_unable = unread_.is_unable(now),
                          .gives_all = state_ == State::running && unread_.gives_all(now),
                          .offers = hand_overs_.offers()};
    renewals_.observe(foreign_owners(options_.id, members_, ownerships_, now), now);
    const auto expiry = [this](const std::string& owner) { return renewals_.expiry(owner); };
    view_ = make_view(self, members_, ownerships_, expiry, now);
    view_.by_load = static_cast<bool>(options_.load);
    plan_ = plan(view_);
    unowned_ = static_cast<std::uint32_t>(
        std::count_if(view_.partitions.begin(), view_.partitions.end(),
                      [](const ViewPartition& partition) { return partition.owner == nobody; }));
    const bool has_offers = std::ranges::any_of(
        view_.partitions, [](const ViewPartition& each) { return each.offered_to != nobody; });
    if (!even_at_ || (plan_.moves.empty() && !has_offers)) even_at_ = now;
    if (renewals_.set_foreign(view_)) {
        trace(TraceLevel::info,
              "processors of another SDK share this group: our entries are renewed as they expect");
    }
}

bool Rounds::has_joined(const std::string& id) const {
    const auto found = members_.others().find(id);
    return found != members_.others().end() && even_at_ &&
           found->second.incarnation_since > *even_at_;
}

void Rounds::begin_offers(Instant asked, Instant now) {
    const bool is_leaving = state_ == State::leaving;
    const bool is_last = std::none_of(
        view_.members.begin(), view_.members.end(),
        [](const ViewMember& member) { return !member.is_leaving && !member.is_foreign; });
    if (is_leaving ? !is_last && asked < settling_.gives_from() : !settling_.is_calm(now)) return;
    // A member that stays reads on meanwhile; one that leaves is in a hurry.
    Duration wait = is_leaving ? std::min(timing_.poll, leave_wait_max) : timing_.poll;
    if (schedule_.has_push()) wait = std::min(wait, push_wait_max);
    const CloseReason reason = is_leaving ? CloseReason::shutdown : CloseReason::hand_over;
    for (const Move& move : plan_.offers) {
        const Holding* holding = place_.holdings.find(move.partition);
        if (holding == nullptr || ownerships_.is_writing(move.partition)) continue;
        // A member that stays keeps what it cannot hand over gracefully.
        if (!is_leaving && !holding->is_verified) continue;
        hand_overs_.begin(move.partition, view_.members[static_cast<std::size_t>(move.to)].id,
                          reason, now + wait);
    }
    if (!is_leaving || !is_last) return;
    for (const auto& [partition, holding] : place_.holdings.all()) {
        if (!ownerships_.is_writing(partition)) hand_overs_.begin(partition, "", reason, now);
    }
}

// Tells the others what we offer, whether we wait for something, and that we own something else.
void Rounds::publish() {
    const bool expects = state_ == State::running && plan_.expects;
    std::vector<checkpoint::Offer> offers;
    for (const auto& [partition, to] : hand_overs_.offers()) offers.push_back({partition, to});
    const Member& published = place_.heartbeat.entry();
    const bool is_unable = unread_.is_unable(place_.loop.clock().now());
    const MemberState state = state_ == State::leaving ? MemberState::leaving
                              : is_unable              ? MemberState::unable
                                                       : MemberState::active;
    const bool has_changed = std::exchange(has_changed_, false);
    if (published.expecting == expects && published.offers == offers && published.state == state &&
        !has_changed) {
        return;
    }
    place_.heartbeat.change([&](Member& entry) {
        entry.state = state;
        entry.expecting = expects;
        entry.offers = std::move(offers);
        if (has_changed) ++entry.generation;
    });
}

// Forgets crashes: ours after a while without one, and members that never came back.
void Rounds::tidy_up(Instant now) {
    if (place_.heartbeat.entry().restarts > 0 && now - started_at_ >= timing_.restart_memory) {
        place_.heartbeat.change([](Member& entry) { entry.restarts = 0; });
    }
    if (!settling_.is_calm(now)) return;
    for (const auto& [id, seen] : members_.others()) {
        if (!seen.is_dead || seen.member.age < timing_.restart_memory) continue;
        ++removals_;
        place_.store.remove_member(id, seen.member.version, [](const Result<>&) {});
        return;  // one a round
    }
}

bool Rounds::may_write(Instant now) const {
    return now >= accept_from_ &&
           (options_.exclusive_source || place_.heartbeat.lease().is_valid(now));
}

// OWN-4: the members once more, after the ownerships that name their owners.
void Rounds::recheck(std::vector<OwnershipWrite> writes) {
    listing_.ask(GroupListing::What::members,
                 [this, writes = std::move(writes)](GroupListing::Answer answer) mutable {
                     if (answer.error) return fail_round(*answer.error);
                     const Instant now = place_.loop.clock().now();
                     if (observe(std::move(*answer.members), now).any()) listing_.want_ownerships();
                     std::erase_if(writes, [&](const OwnershipWrite& each) {
                         return each.is_take_over && members_.is_live(each.from);
                     });
                     // The time may have come for a hand-over, and the lease may be gone.
                     std::erase_if(writes, [&](const OwnershipWrite& each) {
                         return !may_write(now) || ownerships_.is_writing(each.entry.partition);
                     });
                     if (writes.empty()) return end_round();
                     write(std::move(writes));
                 });
}

void Rounds::write(std::vector<OwnershipWrite> writes) {
    std::vector<Ownership> entries;
    entries.reserve(writes.size());
    for (const OwnershipWrite& each : writes) entries.push_back(each.entry);
    const Instant asked = place_.loop.clock().now();
    writer_.write(std::move(entries),
                  [this, asked, writes = std::move(writes)](const WrittenOwnerships& written) {
                      on_written(writes, asked, written);
                  });
}

void Rounds::on_written(const std::vector<OwnershipWrite>& writes, Instant asked,
                        const WrittenOwnerships& written) {
    if (!written.ok()) {
        // Each may have been applied: the next listing tells.
        listing_.want_ownerships();
        return fail_round(written.error());
    }
    for (std::size_t i = 0; i < writes.size(); ++i) on_written(writes[i], asked, (*written)[i]);
    if (has_changed_) publish();
    end_round();
}

void Rounds::on_written(const OwnershipWrite& write, Instant asked,
                        const Result<Ownership>& entry) {
    const PartitionId partition = write.entry.partition;
    if (!entry) {
        listing_.want_ownerships();
        if (entry.error().code != ErrorCode::conflict) return;  // it may have been applied
        if (place_.holdings.find(partition) != nullptr) {
            ++counts_.lost;
            has_changed_ = true;
            place_.holdings.forget(partition);
        }
        return;
    }
    const Instant now = place_.loop.clock().now();
    const bool counts = options_.exclusive_source || place_.heartbeat.lease().covers(asked, now);
    const Holding* holding = place_.holdings.find(partition);
    if (write.kind == OwnershipWrite::Kind::claim) {
        ++counts_.claims;
        const auto& others = members_.others();
        const auto before = others.find(write.from);
        std::optional<Duration> silence;
        if (write.is_take_over && before != others.end()) {
            silence = now - before->second.version_since;
        }
        report_move(partition, write.from, options_.id,
                    claim_reason({options_.id, write.from, write.is_take_over, entry->epoch}),
                    silence);
    }
    if (write.kind == OwnershipWrite::Kind::verify) ++counts_.received;
    if (write.kind != OwnershipWrite::Kind::renew ||
        entry->load != (holding ? holding->entry.load : 0)) {
        has_changed_ = true;
    }
    place_.holdings.hold(*entry, counts, asked);
}

void Rounds::on_hand_over_ended(PartitionId partition, HandOvers::Outcome outcome) {
    const Instant now = place_.loop.clock().now();
    has_changed_ = true;
    switch (outcome) {
        case HandOvers::Outcome::given: {
            ++counts_.handed_over;
            const std::string to = ownerships_[partition].owner;
            const auto& since = unread_.since();
            report_move(
                partition, options_.id, to,
                transfer_reason({.self = options_.id,
                                 .to = to,
                                 .is_leaving = state_ == State::leaving,
                                 .unread = since ? std::optional(now - *since) : std::nullopt,
                                 .has_joined = has_joined(to),
                                 .by_load = plan_.by_load}));
            unread_.on_given_up(now);
            break;
        }
        case HandOvers::Outcome::lost: ++counts_.lost; break;
        case HandOvers::Outcome::kept:
        case HandOvers::Outcome::unknown: listing_.want_ownerships(); break;
    }
    if (schedule_.is_running()) return;
    publish();
    if (outcome != HandOvers::Outcome::given || state_ == State::leaving) schedule_.look_now();
}

void Rounds::report_move(PartitionId partition, const std::string& from, const std::string& to,
                         std::string reason, std::optional<Duration> silence) const {
    if (!options_.on_move) return;
    std::optional<std::int64_t> gap_ms;
    if (silence) {
        gap_ms = std::chrono::duration_cast<std::chrono::milliseconds>(*silence).count();
    }
    options_.on_move({.partition = partition,
                      .epoch = ownerships_[partition].epoch,
                      .at_ms = place_.loop.clock().wall().milliseconds,
                      .from = from,
                      .to = to,
                      .reason = std::move(reason),
                      .gap_ms = gap_ms});
}

void Rounds::fail_round(const Error& error) {
    members_.note_failure();
    listing_.want_ownerships();
    const Duration retried_in = schedule_.fail(place_.loop.clock().now());
    report_store_failure(options_, "balance", error, retried_in);
}

void Rounds::end_round() {
    const Holdings& holdings = place_.holdings;
    if (state_ == State::leaving && holdings.all().empty() && hand_overs_.empty() &&
        holdings.all_closed()) {
        schedule_.stop();
        return emptied_();
    }
    const Instant now = place_.loop.clock().now();
    if (schedule_.end(now)) return;
    Instant next = schedule_.next(now, is_fast(now), renewals_.look_period());
    // A newcomer takes its share in steps, and each step waits for a look.
    if (now - started_at_ < timing_.ramp) next = now + schedule_.drawn(timing_.poll_fast / 2);
    // A conflict, or an answer that was lost.
    if (listing_.wants_ownerships()) next = std::min(next, now + timing_.poll_fast / 2);
    if (const auto death = members_.next_death()) next = std::min(next, *death);
    if (accept_from_ > now) next = std::min(next, accept_from_);
    if (state_ == State::leaving && settling_.gives_from() > now) {
        next = std::min(next, settling_.gives_from());
    }
    for (const auto& [partition, holding] : holdings.all()) {
        if (holding.not_before > now) next = std::min(next, holding.not_before);
    }
    next = std::min({next, hand_overs_.next_deadline(), unread_.next_change(now)});
    schedule_.look_at(std::max(next, now + timing_.poll_fast / 10));
}

bool Rounds::is_fast(Instant now) const {
    const bool is_young = now - started_at_ < timing_.ramp;
    return is_young || plan_.expects || !hand_overs_.empty() || unowned_ > 0 ||
           !settling_.is_calm(now) || state_ == State::leaving || listing_.wants_ownerships();
}

// If loads jump, they do so for all members, and a plan needs the news of all: publish them soon.
void Rounds::watch_loads() {
    const Instant now = place_.loop.clock().now();
    if (loads_.measure(place_.holdings, options_.load, now)) {
        settling_.on_loads_changed(now);
        schedule_.look_now();
    }
    place_.loop.run_after(timing_.poll_fast, place_.steps.wrap([this] { watch_loads(); }));
}

std::uint32_t Rounds::live_members() const {
    std::uint32_t live = 1;
    for (const auto& [id, seen] : members_.others()) live += seen.is_dead ? 0 : 1;
    return live;
}

bool Rounds::is_balanced() const {
    return state_ == State::running && ownerships_listed_ && unowned_ == 0 && plan_.moves.empty() &&
           !plan_.expects;
}

std::uint64_t Rounds::requests() const {
    return listing_.requests() + writer_.requests() + removals_;
}

std::string Rounds::explain(Instant now) const {
    std::string text;
    if (now < accept_from_) {
        text += fmt::format("waits {:.1f} s: an earlier run of it may still read\n",
                            std::chrono::duration<double>(accept_from_ - now).count());
    }
    if (!settling_.is_calm(now)) text += "members changed just now: nothing is moved yet\n";
    return text + processor::explain(view_, plan_);
}

void Rounds::check_state() const {
    EK_CHECK(is_active(), "a round without a running coordinator");
    EK_CHECK(ownerships_.size() > 0, "a round without partitions");
    EK_CHECK(state_ != State::leaving || !place_.heartbeat.entry().expecting,
             "a member that leaves expects nothing");
}

}  // namespace evenkeel::processor
