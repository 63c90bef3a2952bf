// A processor on one loop, without threads of its own: the coordinator that wins partitions, and a
// pump for each of them. The same code runs in the simulation.
//
//     Coordinator ──open, close──▶ Core ──▶ Pump, Pump, ...
//        ▲──── may_act, on_fenced ──────────────┘
//
// Threads: pinned to the loop. Destroying it ends all at once, as a crash would.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "checkpoint/store.h"
#include "checkpoint/timed_store.h"
#include "io/loop.h"
#include "io/timer.h"
#include "processor/balance/load_meter.h"
#include "processor/host.h"
#include "processor/ownership/coordinator.h"
#include "processor/ownership/journal.h"
#include "processor/ownership/reach.h"
#include "processor/ownership/requests.h"
#include "processor/ownership/store_mark.h"
#include "processor/pump/dead_letters.h"
#include "processor/pump/pump.h"
#include "source/source.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

// All of it outlives the core.
struct CorePlace {
    io::Loop& loop;
    io::Executor& workers;  // may run several tasks at once
    checkpoint::Store& store;
    source::Source& source;
    DeadLetters* dead_letters = nullptr;  // null: the store
    // The store was lost, and what we know is stored again now.
    std::function<void()> on_store_lost = {};
};

class Core final : public PartitionHost, private PumpOwner {
public:
    // Between two looks at how many partitions there are.
    static constexpr Duration refresh = std::chrono::seconds(30);
    // For the journal's last lines, when it stops.
    static constexpr Duration last_words = std::chrono::seconds(2);

    // `coordination` needs no load and no callbacks: those are set here. `ended` runs once if the
    // processor ends by itself; nothing is owned any more then.
    Core(const CorePlace& place, ProcessorOptions options, HandlerFactory handlers,
         CoordinatorOptions coordination, Random random, std::function<void(Error)> ended);
    ~Core() override;

    // Looks at the hub and takes part. `conflict` if another instance with this id is alive.
    void start(Callback<void(Result<>)> started);
    // Drains, stores progress, hands over, leaves. Each caller is answered.
    void stop(Callback<void(const StopReport&)> stopped);

    ProcessorStatus status() const;
    std::string explain() const { return coordinator_->explain(); }
    const Coordinator& coordinator() const { return *coordinator_; }

    void open(PartitionId partition, Epoch epoch) override;
    void close(PartitionId partition, CloseReason reason, Task done) override;

private:
    struct Slot {
        std::unique_ptr<Pump> pump;
        bool is_undrained = false;        // a handler of an earlier pump still runs
        std::optional<Epoch> waits_with;  // to be opened once that has ended
        std::uint64_t pump_number = 0;
    };

    void on_failure(const Failure& failure) override;
    void on_stop_wanted(PartitionId partition, const Error& error) override;
    bool on_hub(const source::HubProperties& hub) override;
    // store_loss.cc: the store that we begin with, and its loss.
    void join_store(Callback<void(Result<>)> joined);
    void join_store(const StoreSigns& signs, Callback<void(Result<>)> joined);
    void join_failed(const Error& error, Callback<void(Result<>)> joined);
    void write_sign(const checkpoint::Record& record, Callback<void(Result<>)> joined);
    void raise_epochs(Callback<void(Result<>)> done);
    void settle_store();
    void confirm_store(Callback<void(Result<>)> answer) override;
    void confirm_all();
    // False if it is another one by now.
    bool is_same_store(const StoreSigns& signs);
    void lose_store(const StoreVerdict& verdict);
    void drain_lost(bool must_seed);
    void abandon();
    void when(std::function<bool()> is_true, std::function<void()> then);
    void look_until(std::function<bool()> is_true, std::function<void()> then, Instant until);
    void remember(const checkpoint::Checkpoint& progress);
    void seed_checkpoints(std::uint32_t attempts, std::function<void()> done);
    void write_seeds(const std::vector<checkpoint::Checkpoint>& stored, std::uint32_t attempts,
                     const std::function<void()>& done);
    void seed_again(std::uint32_t attempts, const std::function<void()>& done);

    void stop_because(const Error& why);
    void on_undrained(PartitionId partition, bool is_running) override;
    void on_heard() override { reach_.heard(place_.loop.clock().now()); }
    Lifetime::Watch lifetime() const override { return lifetime_.watch(); }
    void retire(PartitionId partition, std::uint64_t pump_number);
    bool is_held(PartitionId partition) const;
    void hold_pumps();
    void take_part(Callback<void(Result<>)> started);
    void look_again();
    void watch_reach();
    void look_at_reach();
    double load_of(PartitionId partition);
    void on_requests(const Requests& requests);
    void left();
    void finish();
    void end(const Error& error);

    checkpoint::TimedStore store_;  // all that is asked of place.store goes through it
    const CorePlace place_;
    const ProcessorOptions options_;
    const HandlerFactory handlers_;
    Random random_;
    std::function<void(Error)> ended_;
    StoredDeadLetters stored_letters_;
    Journal journal_;
    RequestWatch requests_;
    std::optional<Paused> paused_;  // none: not known yet
    std::map<PartitionId, Slot> slots_;
    std::unique_ptr<Coordinator> coordinator_;
    LoadMeter loads_;
    std::uint32_t partitions_ = 0;
    std::string identity_;  // of the hub that we began with
    std::uint64_t pumps_ = 0;
    std::uint64_t events_handled_ = 0;  // by pumps that are gone
    bool is_started_ = false;
    bool is_stopping_ = false;
    std::vector<PartitionId> not_drained_;
    std::optional<StopReport> report_;
    std::vector<Callback<void(const StopReport&)>> stopped_;
    io::Timer timer_{place_.loop};
    io::Timer reach_timer_{place_.loop};
    Reach reach_;
    bool is_unread_ = false;  // as the coordinator was told
    StoreMemory store_memory_;
    bool is_store_young_ = false;  // nothing is handled yet
    bool is_store_lost_ = false;
    std::uint32_t join_failures_ = 0;
    std::vector<Callback<void(Result<>)>> unconfirmed_;  // to be answered after the next look
    bool is_confirming_ = false;
    io::Timer settle_timer_{place_.loop};
    bool is_settling_ = false;  // the timer is set, or the store is being asked
    std::map<PartitionId, checkpoint::Checkpoint> progress_;  // of pumps that are gone
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
