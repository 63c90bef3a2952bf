// SIGINT and SIGTERM as something to wait for, in a program whose threads we did not all start.
// The first one asks to stop; from then on they have their usual effect, so that a second Ctrl-C
// ends the process at once. One at a time in a process.
#pragma once

#include "base/clock.h"

namespace evenkeel::io::system {

class StopSignals {
public:
    StopSignals();
    // As it was before.
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // Waits for `duration` at most; true once the process was asked to stop.
    bool wait(Duration duration);

private:
    int pipe_[2] = {-1, -1};
    bool is_asked_ = false;
};

}  // namespace evenkeel::io::system
