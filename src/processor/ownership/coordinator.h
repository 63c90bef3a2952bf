// One processor's part in sharing the partitions of a consumer group: it shows the others that it
// lives, watches them, claims its share, hands surplus partitions over, and fences itself when its
// heartbeats no longer reach the store. Members meet only in the checkpoint store.
//
//     Admission  ──lists──▶ member/          is another instance with our id alive?
//     Heartbeat  ──writes─▶ member/me        others see that we live; the lease depends on it
//     Rounds     ──list───▶ member/, ownership/ ──▶ plan() ──▶ claims, renewals, hand-overs
//     Holdings   ──open, close──▶ PartitionHost (the pumps), which ask may_act()
//     StallWatch: was the process stopped while its lease was over?
//
//     created ──start()──▶ joining ──▶ running ──leave()──▶ leaving ──▶ ended
//
// The coordinator itself begins and ends these parts and answers what the pumps ask.
//
// Invariants
//   OWN-1  A partition changes hands only by a conditional write on its entry, and each one raises
//          its epoch.
//   OWN-2  It is read only after such a write of our own, asked for under a lease that was not
//          broken since; where the broker keeps readers apart by epoch, the lease may be broken.
//   OWN-3  A voluntary transfer is written after the pump has answered close(): handler ended,
//          checkpoint stored.
//   OWN-4  Nobody takes a partition from a member unless a listing of members that was asked for
//          after the listing of ownerships, and at least Timing::dead after this version of the
//          member was first seen, still shows that version.
//   OWN-5  may_act() is false from the moment the lease ends, whatever task runs first after a
//          pause.
//   OWN-6  What is owned is read, or being opened, or written again soon: never owned but unread.
//          Who cannot read for Timing::unread_max hands over to a member that can; if none can, all
//          keep what they have.
//
// Threads: pinned to the loop. The loop, the store and the host outlive it. Destroying it stops all
// it does at once, as a crash would; leave() is the graceful way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/balance/holdings.h"
#include "processor/host.h"
#include "processor/ownership/admission.h"
#include "processor/ownership/coordinator_options.h"
#include "processor/ownership/heartbeat.h"
#include "processor/ownership/rounds.h"
#include "processor/ownership/stall_watch.h"
#include "processor/ownership/step_guard.h"

namespace evenkeel::processor {

struct HoldingStatus {
    PartitionId partition;
    Epoch epoch;
    // "reading": its pump is open; "offered": the same, and a hand-over has begun; "closing": its
    // pump is being closed; "unverified": it is ours, but read only after our next write.
    std::string state;
};

struct CoordinatorStatus {
    std::vector<HoldingStatus> holdings;
    std::uint32_t members = 0;  // that live, this one included
    std::uint32_t unowned = 0;
    bool is_balanced = false;  // as far as we see: all owned, nothing planned
    bool is_leased = false;
    std::uint64_t claims = 0, handed_over = 0, received = 0, lost = 0;
    std::uint64_t requests = 0;  // to the store
};

class Coordinator final : public Permit {
public:
    Coordinator(io::Loop& loop, checkpoint::Store& store, PartitionHost& host,
                CoordinatorOptions options, Random random);
    ~Coordinator() override;
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;

    // Answers once our entry is in the store; partitions come after that. Waits as long as the
    // store does not answer, and reports that to on_failure. `conflict`: another instance with our
    // id is alive. `invalid_argument`: the options. Once.
    void start(std::uint32_t partitions, Callback<void(Result<>)> started);
    // The event hub has grown (it never shrinks).
    void set_partitions(std::uint32_t partitions);

    bool may_act(PartitionId partition) const override;
    bool is_shared(PartitionId partition) const override;
    bool hangs_on_reader(PartitionId partition) const override;
    LeaseTerm term(PartitionId partition) const override;
    void on_fenced(PartitionId partition) override;

    // Since when this member has not heard from the hub, or got no reader; none: it reads. Called
    // when at least half of Timing::unread_max has passed, and again when that is over. The others
    // give it nothing then; after all of unread_max it hands over what it has, if there is a member
    // that can read.
    void set_unread(std::optional<Instant> since);

    // Waits a moment for others that join or leave just now (Timing::settle), hands everything
    // over, or releases it at once if nobody else is there, and removes our entry; at most
    // Timing::leave_max, then gives the rest up as lost. Once. After `done` it does nothing.
    void leave(Task done);
    // Gives everything up at once, as lost, and does nothing any more.
    void abandon();

    CoordinatorStatus status() const;
    // Inputs, decision and reasons of the last plan, for operators.
    std::string explain() const;

private:
    enum class State : std::uint8_t { created, joining, running, leaving, ended };

    bool is_active() const { return state_ == State::running || state_ == State::leaving; }
    Result<> check_options(std::uint32_t partitions) const;
    void on_admitted(Result<Admission::Entrance> entrance);
    void on_entered(Result<> written);
    void on_lapsed();
    void on_taken(Error error);
    void on_emptied();
    void forget_all();
    void stop();
    // A lease that came back covers only what was written under it: before that, a member that took
    // us for dead may have taken the partition, or be about to.
    bool is_covered(const Holding& holding, Instant now) const;
    std::string state_of(PartitionId partition) const;
    void check_state() const;

    io::Loop& loop_;
    checkpoint::Store& store_;
    const CoordinatorOptions options_;
    Random random_;
    Holdings holdings_;
    Heartbeat heartbeat_;
    StepGuard steps_;
    Admission admission_;
    StallWatch stalls_;
    Rounds rounds_;

    State state_ = State::created;
    Callback<void(Result<>)> started_;  // while joining
    Instant accept_from_;               // of the admission
    Task left_;                         // while leaving
};

}  // namespace evenkeel::processor
