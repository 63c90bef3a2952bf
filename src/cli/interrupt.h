// Ctrl-C and its kin (SIGINT, SIGTERM, SIGHUP) as something that the main thread waits for.
//
// A server may take SIGHUP as the wish to load its configuration again.
//
// Made before any other thread, so that all of them leave these signals alone: none of their calls
// is interrupted, which io::system::StopSignals cannot promise. The first signal asks us to stop;
// a second one that comes clearly later ends the process at once, see io::system::same_wish_max.
// Threads: the one that made it.
#pragma once

#include <span>
#include <utility>

#include "base/clock.h"

namespace evenkeel::cli {

enum class Hangup : unsigned char { stops, reloads };

class Interrupt {
public:
    explicit Interrupt(Hangup hangup = Hangup::stops);
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    // Waits for `duration` at most, or until a reload is asked for; true once the process was asked
    // to stop.
    bool wait(Duration duration);
    // Waits until there is input, or its end, on one of the descriptors; false after `duration`, or
    // once the process was asked to stop. Negative ones are passed over.
    bool wait_for_input(std::span<const int> descriptors, Duration duration);
    bool wait_for_input(int descriptor, Duration duration) {
        return wait_for_input(std::span(&descriptor, 1), duration);
    }
    // True once for each wish, or for several that came together.
    bool take_reload() { return std::exchange(reload_, false); }
    bool requested() const { return requested_; }

private:
    void let_later_ones_end_us() const;

    int descriptor_ = -1;
    bool requested_ = false;
    bool reload_ = false;
    const Hangup hangup_;
};

// For servers, whose log may be read through a pipe: they outlive its reader, and what is written
// after it has gone is dropped.
void ignore_closed_pipes();

}  // namespace evenkeel::cli
