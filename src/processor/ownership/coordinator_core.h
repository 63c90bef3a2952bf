// The inside of Coordinator: one object with all its parts, so that the header of the class stays
// light. coordinator.cc begins and ends it, rounds.cc has the rounds, coordinator_renewals.cc when
// they come.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "processor/balance/balancer.h"
#include "processor/balance/foreign_pace.h"
#include "processor/balance/holdings.h"
#include "processor/balance/members.h"
#include "processor/ownership/coordinator.h"
#include "processor/ownership/hand_over.h"
#include "processor/ownership/heartbeat.h"
#include "processor/ownership/ownerships.h"

namespace evenkeel::processor {

class Coordinator::Core {
public:
    Core(io::Loop& loop, checkpoint::Store& store, PartitionHost& host, CoordinatorOptions options,
         Random random);
    ~Core();

    void start(std::uint32_t partitions, Callback<void(Result<>)> started);
    void set_partitions(std::uint32_t partitions);
    bool may_act(PartitionId partition) const;
    bool is_shared(PartitionId partition) const;
    bool hangs_on_reader(PartitionId partition) const;
    LeaseTerm term(PartitionId partition) const;
    bool is_covered(const Holding& holding, Instant now) const;
    void on_fenced(PartitionId partition);
    void set_unread(std::optional<Instant> since);
    void leave(Task done);
    void give_up();
    CoordinatorStatus status() const;
    std::string explain() const;

private:
    // Why an ownership is written.
    enum class Kind : std::uint8_t { claim, verify, renew };
    struct Write {
        checkpoint::Ownership entry;  // as it shall be; its version the one to replace
        Kind kind;
        std::string taken_from;  // a claim: the member of ours that had it, "" if none
        std::string from = {};   // a claim: who had it
    };

    // Start: coordinator.cc
    void look_for_own_entry();
    void judge_own_entry(Result<std::vector<checkpoint::Member>> listed, Instant asked);
    void enter(const std::optional<checkpoint::Member>& old, Instant asked);
    void entered(Result<> written);
    Duration known_age(const checkpoint::Member& own) const;
    // End
    void on_lapsed();
    // While the lease is over and the broker vouches for us: we look at the clock again and again,
    // and see when we were stopped.
    void attend();
    bool is_attentive(Instant now) const;
    void on_gained();
    void on_taken(Error error);
    // True once only the removal of our entry is left.
    bool finish_leaving();
    void stop();
    void report(std::string_view operation, const Error& error, Duration retried_in);

    // Rounds: rounds.cc
    void round();
    void list(bool with_members, bool with_ownerships);
    void on_listed();
    void reconcile();
    void reconcile(PartitionId partition);
    void decide();
    void begin_offers(Instant now);
    std::vector<Write> choose_writes(Instant now);
    std::optional<Write> renewal(const Holding& holding, Instant now) const;
    Write claim(PartitionId partition, Instant now) const;
    void recheck(std::vector<Write> writes);
    void write(std::vector<Write> writes);
    void on_written(const std::vector<Write>& writes, Instant asked,
                    const Result<std::vector<Result<std::string>>>& results);
    void on_written(const Write& write, Instant asked, const Result<std::string>& result);
    void end_round();
    void fail_round(const Error& error);
    void on_hand_over_ended(PartitionId partition, HandOvers::Outcome outcome);
    void tell_claim(const Write& write) const;
    void tell_gift(PartitionId partition) const;
    void on_change(const Members::Change& change);
    void on_pushed();
    void publish_offers();
    void tidy_up(Instant now);
    // When we cannot read: coordinator_unread.cc
    bool is_unable(Instant now) const;
    bool gives_all(Instant now) const;
    void look_for_readers(Instant now);
    void on_given_up(Instant now);
    Instant next_give_up(Instant now) const;
    // Loads: coordinator_loads.cc
    void watch_loads();
    void compare_loads(const std::vector<checkpoint::Ownership>& listed, Instant now);
    bool is_load_due(const Holding& holding, Instant now) const;
    void on_loads_changed(Instant now);

    // When to look next
    void look_at(Instant when);
    void look_now();
    bool is_fast(Instant now) const;
    bool is_calm(Instant now) const { return now >= calm_at_; }
    Duration settle() const { return has_push_ ? timing_.settle_push : timing_.settle; }
    void await_others(Instant now);
    bool may_write(Instant now) const;
    bool ownerships_due(Instant now) const;
    Duration drawn(Duration period);
    // So often the group is looked at, if nothing is expected.
    Duration look_period() const;
    Duration renewal_period() const;
    bool is_due(const Holding& holding, Instant now) const;

    template <typename F>
    auto guarded(F function);

    io::Loop& loop_;
    checkpoint::Store& store_;
    const CoordinatorOptions options_;
    const Timing& timing_ = options_.timing;
    Random random_;

    Members members_;
    Ownerships ownerships_;
    ForeignPace foreign_pace_;
    Holdings holdings_;
    Heartbeat heartbeat_;
    HandOvers hand_overs_;
    View view_;
    Plan plan_;

    enum class Phase : std::uint8_t { created, starting, running, leaving, ended };
    Phase phase_ = Phase::created;
    Callback<void(Result<>)> started_;
    Task left_;
    std::optional<checkpoint::Member> watched_;  // an entry under our id that may be alive
    Instant watched_since_;
    Instant started_at_;
    Instant accept_from_;  // nothing is claimed before: an earlier start of us may have a lease
    Duration probation_{0};

    io::TimerId round_timer_{};
    static constexpr Duration attention_max = std::chrono::milliseconds(250);
    io::TimerId attention_timer_{};
    Instant attended_{};
    Instant round_at_;
    Instant round_ended_;
    bool is_scheduled_ = false;
    bool in_round_ = false;
    bool look_again_ = false;  // asked for during a round
    bool relist_ = false;      // ownerships must be listed
    bool has_push_ = false;
    double push_credit_ = 0;  // pushed rounds that may still be run at once
    Instant push_credit_at_;
    Duration backoff_{0};
    Instant calm_at_;
    Instant left_at_;     // when we were told to leave
    Instant gives_from_;  // whoever leaves looks at the group once more before it gives, then
    Instant fast_since_;
    bool was_fast_ = false;
    Instant ownerships_listed_;
    bool has_listed_ownerships_ = false;
    std::uint32_t unowned_ = 0;
    bool has_foreign_ = false;
    std::optional<Instant> unread_since_;   // told by set_unread()
    std::optional<Instant> readers_since_;  // since when we see a member that can read
    std::optional<Instant> given_up_;       // the unread_since_ for which we last gave something up
    Instant rests_until_;                   // we take nothing before: we could not read it
    Duration rest_{0};
    std::map<PartitionId, double> loads_;  // of what we hold, smoothed
    Instant loads_changed_;                // when we last waited because of that
    bool has_changed_ = false;             // what we own, since it was told

    // Answers of the listings of a round.
    int pending_ = 0;
    Instant asked_;
    std::optional<Error> failed_;
    std::optional<std::vector<checkpoint::Member>> listed_members_;
    std::optional<std::vector<checkpoint::Ownership>> listed_ownerships_;

    std::uint64_t claims_ = 0, handed_over_ = 0, received_ = 0, lost_ = 0;
    std::uint64_t requests_ = 0;
    const std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// Wraps an answer or a timer: not after our end, and never under a lease that is over (OWN-5).
template <typename F>
auto Coordinator::Core::guarded(F function) {
    return [this, alive = std::weak_ptr<char>(alive_),
            function = std::move(function)](auto&&... arguments) mutable {
        if (alive.expired() || phase_ == Phase::ended) return;
        heartbeat_.check();
        function(std::forward<decltype(arguments)>(arguments)...);
    };
}

}  // namespace evenkeel::processor
