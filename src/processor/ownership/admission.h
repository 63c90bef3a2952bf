// How a processor joins its group: it looks for an entry under its own id. That is a crash of an
// earlier run, unless it still changes: then it is another instance, and this one is refused.
//
//     created ──start()──▶ listing ──no entry, or an old one──▶ ended: admitted(entry to write)
//                          ▲     │ a young one
//                          └─────▼
//                          waiting ──it has changed──▶ ended: admitted(`conflict`)
//
// The loop, the store, the guard and the options outlive it. Threads: part of Coordinator, on its
// loop. Failure: a store that does not answer is asked until it does, and reported.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/ownership/coordinator_options.h"
#include "processor/ownership/step_guard.h"

namespace evenkeel::processor {

class Admission {
public:
    struct Entrance {
        checkpoint::Member entry;  // to be written; its version is the one to replace
        Instant accept_from;       // nothing is claimed before: an earlier run may have a lease
    };
    using Admitted = Callback<void(Result<Entrance>)>;

    Admission(io::Loop& loop, checkpoint::Store& store, StepGuard& steps,
              const CoordinatorOptions& options)
        : loop_(loop), store_(store), steps_(steps), options_(options), timing_(options.timing) {}

    void start(Admitted admitted);
    std::uint64_t requests() const { return requests_; }

private:
    enum class State : std::uint8_t { created, listing, waiting, ended };

    void list();
    void list_after(Duration delay);
    void judge(const Result<std::vector<checkpoint::Member>>& listed, Instant asked);
    void end(Result<Entrance> entrance);
    Entrance entrance(const checkpoint::Member* old, Instant asked) const;
    Duration known_age(const checkpoint::Member& own) const;
    void check_state() const;

    io::Loop& loop_;
    checkpoint::Store& store_;
    StepGuard& steps_;
    const CoordinatorOptions& options_;
    const Timing& timing_;
    State state_ = State::created;
    Admitted admitted_;
    std::optional<checkpoint::Member> watched_;  // an entry under our id that may be alive
    Instant watched_since_;
    Duration backoff_{0};
    std::uint64_t requests_ = 0;
};

}  // namespace evenkeel::processor
