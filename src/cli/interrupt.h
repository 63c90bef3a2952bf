// Ctrl-C and its kin (SIGINT, SIGTERM, SIGHUP) as something that the main thread waits for.
//
// Made before any other thread, so that all of them leave these signals alone. The first signal
// asks us to stop; from then on they have their usual effect, so a second Ctrl-C ends the process
// at once.
// Threads: the one that made it.
#pragma once

#include "base/clock.h"

namespace evenkeel::cli {

class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    // Waits for `duration` at most; true once the process was asked to stop.
    bool wait(Duration duration);
    // Waits until there is input, or its end, on the descriptor; false after `duration`, or once
    // the process was asked to stop.
    bool wait_for_input(int descriptor, Duration duration);
    bool requested() const { return requested_; }

private:
    int descriptor_ = -1;
    bool requested_ = false;
};

}  // namespace evenkeel::cli
