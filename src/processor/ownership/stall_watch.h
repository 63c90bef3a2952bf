// Notices that the process was stopped while its lease was over. With readers that the broker keeps
// apart, reading may go on without a lease; but whoever was stopped may have missed that another
// reader has come, and what it still has in memory may have been handled by that one.
//
//     off ──watch()──▶ watching: looks at the clock twice in stall_max ──▶ off: a lease again
//                                                                     └──▶ off, stalled()
//
// The loop, the guard and the lease outlive it. Threads: part of Coordinator, on its loop.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "io/loop.h"
#include "io/timer.h"
#include "processor/ownership/lease.h"
#include "processor/ownership/step_guard.h"

namespace evenkeel::processor {

class StallWatch {
public:
    static constexpr Duration stall_max = std::chrono::milliseconds(250);

    StallWatch(io::Loop& loop, StepGuard& steps, const Lease& lease, std::function<void()> stalled)
        : loop_(loop), steps_(steps), lease_(lease), stalled_(std::move(stalled)) {}

    // From the end of a lease on.
    void watch();
    // The process has run without a longer stop since the lease ended.
    bool is_attentive(Instant now) const;

private:
    enum class State : std::uint8_t { off, watching };

    void look(std::uint64_t number);
    void check_state() const;

    io::Loop& loop_;
    StepGuard& steps_;
    const Lease& lease_;
    const std::function<void()> stalled_;
    State state_ = State::off;
    Instant looked_{};
    std::uint64_t watches_ = 0;  // so many were begun
    io::Timer timer_{loop_};     // of the next look
};

}  // namespace evenkeel::processor
