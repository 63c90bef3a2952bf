// How a pump ends: no new call begins, the running one ends, progress is stored.
//
//     open ──close()──▶ draining ──no call runs──▶ finishing ──on_closed(), last checkpoint──▶ done
//                          └── drain_max is over: given up without the handler ──▶ done
//
// Invariants
//   PUMP-6  Once the partition is lost nothing is written any more, and no result counts.
// Ownership: all of Place and the pump outlive it; the pump may be destroyed in `done`.
// Threads: pinned to the loop. Failure: what was not stored is reported; `done` runs all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "io/timer.h"
#include "processor/host.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

class Checkpointer;

class Closing {
public:
    // What it asks and tells its pump.
    class Pump {
    public:
        virtual ~Pump() = default;
        virtual void drop_reader() = 0;
        virtual bool has_reader() const = 0;
        // No call begins any more, but for a batch that is being stored as handled and not lost.
        virtual void stop_handling(bool is_lost) = 0;
        // A call runs, or will.
        virtual bool is_busy() const = 0;
        // For the call that runs.
        virtual void tell_handler(Closed reason) = 0;
        // Its calls have not all ended, or it was not closed.
        virtual bool is_handler_open() const = 0;
        // on_handler_closed() is called then. False if there is none to close.
        virtual bool close_handler(Closed reason) = 0;
        // Whatever runs on does so without us.
        virtual void abandon_handler(Closed reason) = 0;
        // What the handler asked for is to be stored.
        virtual void store_asked() = 0;
        virtual void report(ErrorScope scope, std::string_view operation, const Error& error,
                            std::optional<Duration> retried_in) = 0;
    };
    struct Place {
        io::Loop& loop;
        Permit& permit;
        Checkpointer& checkpoints;
        PartitionId partition;
        std::chrono::milliseconds drain_max;
    };

    Closing(const Place& place, Pump& pump) : place_(place), pump_(pump) {}

    // As PartitionHost::close.
    void close(CloseReason reason, Task done);
    // No call runs, and none will begin.
    void on_drained();
    // on_closed() has been called, and may have asked for a last checkpoint.
    void on_handler_closed();
    // The store or the hub has a newer owner.
    void on_fenced();

    bool is_closing() const { return state_ != State::open; }
    bool is_fenced() const { return is_fenced_; }
    // The partition is another's, or may be.
    bool is_void() const { return is_fenced_ || is_lost(); }

private:
    // finishing: the handler is being closed, then progress is stored.
    enum class State : std::uint8_t { open, draining, finishing };

    bool is_lost() const { return is_closing() && reason_ == CloseReason::lost; }
    void drain_over();
    void report_unstored(const Error& error);
    void set_state(State state);
    void check_state() const;

    const Place place_;
    Pump& pump_;
    State state_ = State::open;
    CloseReason reason_ = CloseReason::lost;  // of close(), if it was called
    bool is_fenced_ = false;
    std::vector<Task> closed_;
    io::Timer timer_{place_.loop};  // drain_max
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
