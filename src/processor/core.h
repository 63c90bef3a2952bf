// A processor on one loop, without threads of its own: the coordinator that wins partitions, and a
// pump for each of them. The same code runs in the simulation.
//
//     Coordinator ──open, close──▶ Core ──▶ Pump, Pump, ...
//        ▲──── may_act, on_fenced ──────────────┘
//     StoreGuard: is it still our store? ──no──▶ StoreLoss: store what we know, and end
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
#include "processor/ownership/parked.h"
#include "processor/ownership/reach.h"
#include "processor/ownership/requests.h"
#include "processor/ownership/store_guard.h"
#include "processor/ownership/store_loss.h"
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

class Core final : public PartitionHost,
                   private PumpOwner,
                   private StoreGuard::Owner,
                   private StoreLoss::Owner {
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
        bool is_undrained = false;  // a handler of an earlier pump still runs
        bool is_parked_told = false;
        std::optional<Epoch> waits_with;  // to be opened once that has ended
        std::uint64_t pump_number = 0;
        // What its last pump handled beyond the checkpoint that it left; none: not known.
        std::optional<std::int64_t> repeated = 0;
        Epoch told_epoch = {};  // the journal knows since when it is read with this one
    };

    void on_failure(const Failure& failure) override;
    void on_needless_checkpoint(PartitionId partition) override;
    void on_stop_wanted(PartitionId partition, const Error& error) override;
    bool on_hub(const source::HubProperties& hub) override;
    void confirm_store(Callback<void(Result<>)> answer) override;

    bool is_stopping() const override { return is_stopping_; }
    void on_store_settled() override { hold_pumps(); }
    void on_store_lost(const StoreVerdict& verdict) override;

    std::vector<checkpoint::Checkpoint> progress() const override;
    bool has_pumps() const override;
    bool is_handling() const override;
    void abandon() override { coordinator_->abandon(); }
    void on_loss_ended() override { left(); }

    void on_parked(PartitionId partition, bool is_storm, const std::string& reason) override;
    void on_unparked(PartitionId partition) override;
    void stop_because(const Error& why);
    void on_undrained(PartitionId partition, bool is_running) override;
    void on_heard() override { reach_.heard(place_.loop.clock().now()); }
    void on_reading(PartitionId partition, Epoch epoch) override;
    void on_move(OwnerMove move);
    Lifetime::Watch lifetime() const override { return lifetime_.watch(); }
    void retire(PartitionId partition, std::uint64_t pump_number);
    bool is_held(PartitionId partition) const;
    void hold_pumps();
    void tell_parked(PartitionId partition, Slot& slot);
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
    const bool are_gaps_told_;  // each costs two requests
    RequestWatch requests_;
    std::optional<Paused> paused_;  // none: not known yet
    ParkedPartitions parked_;
    std::map<PartitionId, Slot> slots_;
    std::unique_ptr<Coordinator> coordinator_;
    LoadMeter loads_;
    std::uint32_t partitions_ = 0;
    std::string identity_;  // of the hub that we began with
    std::uint64_t pumps_ = 0;
    std::uint64_t events_handled_ = 0;  // by pumps that are gone
    std::uint64_t dead_letters_ = 0;    // of pumps that are gone
    bool is_started_ = false;
    bool is_stopping_ = false;
    std::vector<PartitionId> not_drained_;
    std::optional<StopReport> report_;
    std::vector<Callback<void(const StopReport&)>> stopped_;
    io::Timer timer_{place_.loop};
    io::Timer reach_timer_{place_.loop};
    Reach reach_;
    bool is_unread_ = false;  // as reported to the coordinator
    bool is_needless_checkpoint_reported_ = false;
    StoreGuard guard_;
    StoreLoss loss_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
