// One processor's part in sharing the partitions of a consumer group: it shows the others that it
// lives, watches them, claims what is free and its due, gives away what is too much, and fences
// itself when the store no longer hears it. They meet only in the checkpoint store.
//
//     Heartbeat ──writes──▶ member/me      ◀── others see that we live; the lease hangs on it
//     rounds    ──list────▶ member/, ownership/ ──▶ plan() ──▶ claims, renewals, offers
//     Holdings  ──open, close──▶ PartitionHost (the pumps), which ask may_act()
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
// it does at once, as a crash would; leave() is the polite way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/host.h"
#include "processor/ownership/journal.h"
#include "processor/ownership/timing.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

using evenkeel::Strategy;  // balanced: gradually, within Timing::ramp

struct CoordinatorOptions {
    std::string id;           // stable over restarts; two at once are refused
    std::string incarnation;  // new at every start
    std::string note = {};    // "host:pid", for people
    Timing timing = standard_timing();
    Strategy strategy = Strategy::balanced;
    // The source keeps readers apart by epoch (source::Source::is_exclusive). Then reading goes on
    // while the store is away: whoever takes over cuts us at the broker.
    bool exclusive_source = false;
    // Events a second of a partition that we read, smoothed. If set, loads are published and
    // partitions are shared by load instead of by count.
    std::function<double(PartitionId)> load = {};
    std::function<void(const Failure&)> on_failure = {};
    // Processors of other SDKs may come at any time, and whoever claims a partition must be able to
    // read it: at owner level 0 it cuts us. With a higher one its reader would be refused, and by
    // some SDKs not be tried again for a minute. Such a store shows everything in one listing. Not
    // together with exclusive_source.
    bool may_be_mixed = false;
    // A listing is asked for in this task: what is asked for in it as well comes with it.
    std::function<void()> on_look = {};
    // Our entry is not there as we wrote it: the store may have lost more than that.
    std::function<void()> on_doubt = {};
    // A partition changed hands by a write of ours: claimed, given, released.
    std::function<void(OwnerMove)> on_move = {};
    // Our id was taken by another incarnation: everything was closed as lost, and this coordinator
    // does nothing any more.
    std::function<void(Error)> on_ended = {};
};

struct HoldingStatus {
    PartitionId partition;
    Epoch epoch;
    std::string state;  // "reading", "opening", "closing", "offered", "unverified"
};

struct CoordinatorStatus {
    std::vector<HoldingStatus> holdings;
    std::uint32_t members = 0;  // that live, with us
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

    // We have not heard from the hub, or got no reader, since then; none: we read. Told when at
    // least half of Timing::unread_max has passed, and again when that is over. The others give us
    // nothing then; and after all of it we hand over what we have, if a member is there that can
    // read.
    void set_unread(std::optional<Instant> since);

    // Waits a moment for others that come or leave just now (Timing::settle), hands everything
    // over, or releases it at once if nobody else is there, and removes our entry; at most
    // Timing::leave_max, then gives the rest up. Once. After `done` it does nothing any more.
    void leave(Task done);
    // Gives everything up at once, as lost, and does nothing any more.
    void abandon();

    CoordinatorStatus status() const;
    // Inputs, decision and reasons of the last plan, for people.
    std::string explain() const;

private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace evenkeel::processor
