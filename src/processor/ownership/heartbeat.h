// Keeps our member entry fresh, in a task of its own: behind listings it would come late and look
// like death. Every success renews the lease from the time it was sent.
//
//     every heartbeat, and at once after change(): write member/me, one at a time
//       success   the lease counts from the sending
//       conflict  our own earlier write, its answer lost: take its version, write again
//                 another incarnation: we end
//       failure   again after a quarter
//       silence   again as well, so early that one lost answer does not cost the lease; the answer
//                 may still come, and counts if it is the first
//
// Threads: pinned to the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "io/timer.h"
#include "processor/ownership/lease.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class Heartbeat {
public:
    struct Listener {
        std::function<void()> on_lapsed;
        std::function<void()> on_gained;
        // Another incarnation has our id. Nothing is written after it.
        std::function<void(Error)> on_taken;
        std::function<void(const Error&, Duration retried_in)> on_failure;
        // Our entry is not there as we wrote it: an answer was lost, or the store lost entries.
        std::function<void()> on_doubt;
        std::function<void(Duration latency)> on_answer;  // from the store, good or a conflict
    };

    Heartbeat(io::Loop& loop, checkpoint::Store& store, const Timing& timing, Random random,
              Listener listener);
    ~Heartbeat();

    // Writes `entry` (its version is the one to replace) until it is written, then keeps on.
    void start(checkpoint::Member entry, Callback<void(Result<>)> written);
    // Changes what we tell the others, and publishes it at once.
    void change(const std::function<void(checkpoint::Member&)>& edit);
    const checkpoint::Member& entry() const { return entry_; }
    // Ends the lease if its time has come; call it first in every step.
    void check();
    const Lease& lease() const { return lease_; }
    // No more writes; then removes the entry, retrying until `done`. The lease ends.
    void remove(Task done);
    // No more writes, no more calls of the listener.
    void stop();
    std::uint64_t requests() const { return requests_; }

private:
    struct Beat {
        std::uint64_t question;
        std::uint64_t revision;
        Instant sent;
        std::string replaced;  // the version of our entry that it replaces
    };

    void write();
    void on_written(const Beat& beat, Result<std::string> result);
    void on_good(const Beat& beat, std::string version);
    void look();
    void on_looked(std::uint64_t question, Result<std::vector<checkpoint::Member>> listed);
    std::uint64_t ask();
    bool is_answered(std::uint64_t question);
    void on_silence();
    void again_after(Duration delay);
    void arm_lease();
    void report(Lease::Change change);
    void try_remove();
    void taken();
    template <typename F>
    auto guarded(F function);

    io::Loop& loop_;
    checkpoint::Store& store_;
    const Timing timing_;
    Random random_;
    Listener listener_;
    Lease lease_;
    checkpoint::Member entry_;
    Callback<void(Result<>)> written_;
    Task removed_;
    std::uint64_t revision_ = 0;  // of what we tell
    std::uint64_t published_ = 0;
    bool in_flight_ = false;  // the question that was asked last
    std::uint64_t question_ = 0;
    bool is_stopped_ = false;
    bool backs_off_ = false;
    int conflicts_ = 0;  // in a row
    const Duration patience_min_;
    Duration patience_ = patience_min_;
    io::Timer beat_timer_{loop_};
    io::Timer lease_timer_{loop_};
    io::Timer patience_timer_{loop_};
    std::uint64_t requests_ = 0;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
