// Where events go that could not be handled.
#pragma once

#include <functional>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "processor/pump/forwarded_letter.h"
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

// Sends them to an event hub, as processor/pump/forwarded_letter.h tells. What that hub will never
// take (it is too large with what is added) goes to the store.
class HubDeadLetters final : public DeadLetters {
public:
    // Outlet and store outlive this.
    HubDeadLetters(source::Outlet& outlet, checkpoint::Store& store, std::string event_hub,
                   std::string group)
        : outlet_(outlet), stored_(store), origin_{std::move(event_hub), std::move(group)} {}
    void put(const checkpoint::DeadLetter& letter, Callback<void(Result<>)> done) override;

private:
    source::Outlet& outlet_;
    StoredDeadLetters stored_;
    const LetterOrigin origin_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
