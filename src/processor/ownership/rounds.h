// The rounds of a coordinator: look at the group, bring what we hold in line with it, plan, act.
//
//     RoundSchedule ─▶ GroupListing ─▶ Members, Ownerships ─▶ reconcile ─▶ plan() ─┬▶ HandOvers
//                                                                                  ├▶ claims
//                      OwnershipWriter ◀─ look at the members again (OWN-4) ◀──────┴▶ renewals
//
// Its states are created, running, leaving and ended; it never goes back.
// Invariants: OWN-1, OWN-2, OWN-4 and OWN-6 of coordinator.h.
// Ownership: all of Place outlives it. Threads: part of Coordinator, on its loop. Failure: a round
// that fails is reported and tried again; the partitions are kept meanwhile, as the lease allows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/balance/balancer.h"
#include "processor/balance/holdings.h"
#include "processor/balance/members.h"
#include "processor/balance/smoothed_loads.h"
#include "processor/ownership/coordinator_options.h"
#include "processor/ownership/group_listing.h"
#include "processor/ownership/hand_over.h"
#include "processor/ownership/heartbeat.h"
#include "processor/ownership/ownership_writer.h"
#include "processor/ownership/ownerships.h"
#include "processor/ownership/renewals.h"
#include "processor/ownership/round_schedule.h"
#include "processor/ownership/settling.h"
#include "processor/ownership/step_guard.h"
#include "processor/ownership/unread.h"
#include "processor/ownership/write_plan.h"

namespace evenkeel::processor {

class Rounds {
public:
    struct Place {
        io::Loop& loop;
        checkpoint::Store& store;
        const CoordinatorOptions& options;
        Holdings& holdings;
        Heartbeat& heartbeat;
        StepGuard& steps;
    };
    struct Counts {
        std::uint64_t claims = 0, handed_over = 0, received = 0, lost = 0;
    };

    // `emptied`: after leave(), nothing is held any more and nothing is being closed.
    Rounds(const Place& place, Random random, std::function<void()> emptied);

    // Partitions may be added at any time, never removed.
    void set_partitions(std::uint32_t partitions);
    // Our entry is in the store. Nothing is claimed before `accept_from`.
    void start(Instant accept_from);
    // From now on partitions are only given away.
    void leave();
    void stop();

    // What is known of the ownerships may be out of date: a round soon lists them.
    void look_again();
    // The lease is valid again, so the store answers.
    void on_gained();
    // An answer of the store, which took that long.
    void on_answer(Duration latency);
    void set_unread(std::optional<Instant> since);

    std::uint32_t partitions() const { return ownerships_.size(); }
    bool has_foreign() const { return renewals_.has_foreign(); }
    bool is_offered(PartitionId partition) const { return hand_overs_.contains(partition); }
    std::uint32_t unowned() const { return unowned_; }
    std::uint32_t live_members() const;
    // All is owned, and nothing is planned.
    bool is_balanced() const;
    const Counts& counts() const { return counts_; }
    std::uint64_t requests() const;
    // Inputs, decision and reasons of the last plan.
    std::string explain(Instant now) const;

private:
    enum class State : std::uint8_t { created, running, leaving, ended };
    bool is_active() const { return state_ == State::running || state_ == State::leaving; }
    void round();
    void on_listed(GroupListing::Answer answer);
    Members::Change observe(std::vector<checkpoint::Member> listed, Instant now);
    void reconcile(PartitionId partition, Instant asked);
    void decide(Instant asked);
    void make_plan(Instant now);
    // Since nothing had to move: so what moves to it moves because of that.
    bool has_joined(const std::string& id) const;
    void begin_offers(Instant asked, Instant now);
    void publish();
    void tidy_up(Instant now);

    bool may_write(Instant now) const;
    void recheck(std::vector<OwnershipWrite> writes);
    void write(std::vector<OwnershipWrite> writes);
    void on_written(const std::vector<OwnershipWrite>& writes, Instant asked,
                    const WrittenOwnerships& written);
    void on_written(const OwnershipWrite& write, Instant asked,
                    const Result<checkpoint::Ownership>& entry);
    void end_round();
    void fail_round(const Error& error);
    void on_hand_over_ended(PartitionId partition, HandOvers::Outcome outcome);
    void report_move(PartitionId partition, const std::string& from, const std::string& to,
                     std::string reason, std::optional<Duration> silence = std::nullopt) const;

    void watch_loads();
    bool is_fast(Instant now) const;
    bool ownerships_due(Instant now) const;
    void check_state() const;

    const Place place_;
    const CoordinatorOptions& options_;
    const Timing& timing_;

    Members members_;
    Ownerships ownerships_;
    OwnershipWriter writer_;
    HandOvers hand_overs_;
    GroupListing listing_;
    RoundSchedule schedule_;
    Settling settling_;
    Renewals renewals_;
    SmoothedLoads loads_;
    Unread unread_;
    View view_;
    Plan plan_;
    std::optional<Instant> even_at_;  // nothing had to move then; at first: when we first looked

    const std::function<void()> emptied_;
    State state_ = State::created;
    Instant started_at_;
    Instant accept_from_;
    Duration probation_{0};
    std::optional<Instant> ownerships_listed_;
    std::uint32_t unowned_ = 0;
    bool has_changed_ = false;  // what we own, since it was published
    Counts counts_;
    std::uint64_t removals_ = 0;  // requests for them
};

}  // namespace evenkeel::processor
