// Where events go that could not be handled.
#pragma once

#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"

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

}  // namespace evenkeel::processor
