// Stores how far a partition was handled: seldom, and always the latest.
//
//     advance() ─▶ latest ──by policy, or write_soon(), or flush()──▶ one write under way ─▶ stored
//
// Invariants
//   PUMP-9  What is written was said to be handled, and rises (STORE-4, PUMP-4).
//   PUMP-10  One write at a time. What comes meanwhile waits; the latest goes next.
//   PUMP-11  Nothing is written while the permit is not there, nor after stop().
//   PUMP-12  A write that failed is not stored until one has succeeded: it is tried again.
// Threads: part of Pump, on its loop.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/timer.h"
#include "processor/host.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

// Handled up to and with this event; the one behind it has failed so many times.
struct Mark {
    std::int64_t sequence = -1;
    std::uint32_t attempts = 0;
    std::int64_t offset = -1;
    std::int64_t enqueued_ms = 0;  // 0: not known
    auto operator<=>(const Mark&) const = default;
};

Mark mark_of(const Event& event);

// When what was handled since the last write is to be written.
bool is_due(const CheckpointPolicy& policy, std::uint64_t events);

class Checkpointer {
public:
    struct Place {
        io::Loop& loop;
        checkpoint::Store& store;
        const Permit& permit;
        PartitionId partition;
        Epoch epoch;
    };
    struct Told {
        // The store has a newer owner. This one writes nothing any more.
        std::function<void()> fenced;
        // No delay: that write is not tried again.
        std::function<void(const Error&, std::optional<Duration> retried_in)> failed;
    };
    using Done = Callback<void(Result<>)>;

    static constexpr Duration permit_poll = std::chrono::milliseconds(20);

    Checkpointer(const Place& place, const CheckpointPolicy& policy, Told told, Random random);

    // As the store has it.
    void begin(const checkpoint::Checkpoint& stored);
    // Of the hub whose events these are; to be written, if asked for, though none was handled yet.
    void set_hub(std::int64_t created_ms, bool must_write);
    // A lower mark than the latest changes nothing. `events` were handled since the last call.
    void advance(const Mark& mark, std::uint64_t events);
    void write_soon();
    // It was stored by other means, with what it stands for.
    void note_stored(const Mark& mark);
    // `done` once the latest of now is stored, or when it is clear that it will not be.
    void flush(Done done);
    // What is under way may still arrive. Flushes end with `cancelled`.
    void stop();

    // The latest, as it would be written.
    checkpoint::Checkpoint checkpoint() const;
    const Mark& latest() const { return latest_; }
    const Mark& stored() const { return stored_; }

private:
    struct Waiter {
        Mark mark;
        Done done;
    };

    bool is_dirty() const { return latest_ > stored_ || is_hub_new_; }
    void write();
    void written(const Mark& mark, const Result<>& result);
    void try_again(Duration delay);
    void answer(const Result<>& result, bool is_all);

    const Place place_;
    const CheckpointPolicy policy_;
    const Told told_;
    Random random_;
    Mark latest_, stored_;
    std::uint64_t events_ = 0;  // since the last write began
    std::int64_t hub_created_ms_ = 0;
    bool is_hub_new_ = false;
    bool is_wanted_ = false;  // as soon as possible
    bool is_under_way_ = false;
    bool is_stopped_ = false;
    std::uint32_t failures_ = 0;  // in a row
    io::Timer policy_timer_{place_.loop};
    io::Timer retry_timer_{place_.loop};
    std::vector<Waiter> waiters_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
