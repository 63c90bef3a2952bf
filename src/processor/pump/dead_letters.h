// Where events go that could not be handled.
#pragma once

#include <functional>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "source/outlet.h"

namespace evenkeel::processor {

// Threads: pinned to the processor's loop; answers there, never within the call.
class DeadLetters {
public:
    virtual ~DeadLetters() = default;
    // Success = durable. Once for each (partition, sequence) where the place can tell; a place that
    // cannot may have it twice after a lost answer.
    virtual void put(const checkpoint::DeadLetter& letter, Callback<void(Result<>)> done) = 0;
};

class StoredDeadLetters final : public DeadLetters {
public:
    explicit StoredDeadLetters(checkpoint::Store& store) : store_(store) {}
    void put(const checkpoint::DeadLetter& letter, Callback<void(Result<>)> done) override {
        store_.add_dead_letter(letter, std::move(done));
    }

private:
    checkpoint::Store& store_;
};

// Sends them to an event hub: body and properties as they came, and beside them
//
//     evenkeel-cause, evenkeel-attempts          why, and after how many attempts
//     evenkeel-hub, evenkeel-group               whose event it was
//     evenkeel-partition, evenkeel-sequence,     where it is, or was
//     evenkeel-offset, evenkeel-enqueued-ms
//     evenkeel-at-ms                             when it was dead-lettered
//
// What that hub will never take (it is too large with all this) goes to the store.
class HubDeadLetters final : public DeadLetters {
public:
    // Outlet and store outlive this.
    HubDeadLetters(source::Outlet& outlet, checkpoint::Store& store, std::string event_hub,
                   std::string group)
        : outlet_(outlet),
          stored_(store),
          event_hub_(std::move(event_hub)),
          group_(std::move(group)) {}
    void put(const checkpoint::DeadLetter& letter, Callback<void(Result<>)> done) override;

private:
    source::Outlet& outlet_;
    StoredDeadLetters stored_;
    const std::string event_hub_, group_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
