// Begins every step of a coordinator: each answer of the store, each timer. A step runs only while
// the coordinator does, and never under a lease whose time is over (OWN-5).
//
//     store.list_members(steps.wrap([this](auto listed) { ... }));
//
// The heartbeat outlives it. Threads: part of Coordinator, on its loop.
#pragma once

#include <utility>

#include "base/lifetime.h"
#include "processor/ownership/heartbeat.h"

namespace evenkeel::processor {

class StepGuard {
public:
    explicit StepGuard(Heartbeat& heartbeat) : heartbeat_(heartbeat) {}

    template <typename Step>
    auto wrap(Step step) {
        return lifetime_.guard([this, step = std::move(step)](auto&&... arguments) mutable {
            heartbeat_.check();
            step(std::forward<decltype(arguments)>(arguments)...);
        });
    }
    // The coordinator has ended: no step begins after this.
    void end() { lifetime_.end(); }

private:
    Heartbeat& heartbeat_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
