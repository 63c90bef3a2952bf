// One look at the group: members and ownerships as the store lists them, both requested in one
// task; and when the ownerships have to be listed again.
//
//     idle ──ask()──▶ asking, one or two answers ──▶ idle, done(answer)
//
// The loop, the store and the guard outlive it. Threads: part of Coordinator, on its loop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/ownership/step_guard.h"

namespace evenkeel::processor {

class GroupListing {
public:
    struct Answer {
        Instant asked;
        std::optional<std::vector<checkpoint::Member>> members;
        std::optional<std::vector<checkpoint::Ownership>> ownerships;
        std::optional<Error> error;  // of a listing that failed; the other one counts
    };
    enum class What : std::uint8_t { members, ownerships, both };

    GroupListing(io::Loop& loop, checkpoint::Store& store, StepGuard& steps)
        : loop_(loop), store_(store), steps_(steps) {}

    // One at a time.
    void ask(What what, std::function<void(Answer)> done);
    // The ownerships known may be out of date: list them with the next look.
    void want_ownerships() { wants_ownerships_ = true; }
    bool wants_ownerships() const { return wants_ownerships_; }
    std::uint64_t requests() const { return requests_; }

private:
    void answered();
    void check_state() const;

    io::Loop& loop_;
    checkpoint::Store& store_;
    StepGuard& steps_;
    int pending_ = 0;  // answers; 0: idle
    Answer answer_;
    std::function<void(Answer)> done_;
    bool wants_ownerships_ = false;
    std::uint64_t requests_ = 0;
};

}  // namespace evenkeel::processor
