// SIGINT and SIGTERM as something to wait for, in a program whose threads we did not all start.
// The first one asks to stop; later ones have their usual effect, so that a second Ctrl-C ends the
// process at once. Any number at a time in a process: all of them are asked by one signal. With the
// last of them the signals have the handlers again that they had before the first.
#pragma once

#include <initializer_list>

#include "base/clock.h"

namespace evenkeel::io::system {

// Signals this close behind the first are the same wish once more: timeout(1) signals its child and
// then the group that the child is in, and npm passes on the Ctrl-C that its child has got too.
inline constexpr Duration same_wish_max = std::chrono::milliseconds(250);

// From now on the signals end the process, but for those of the same wish, which do nothing.
void end_at_later(std::initializer_list<int> signals);

// Threads: one at a time, but for wake().
class StopSignals {
public:
    StopSignals();
    // As it was before.
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // Waits for `duration` at most; true once the process was asked to stop.
    bool wait(Duration duration);
    // Ends wait() of this one, as if the process had been asked to stop. Threads: any.
    void wake();

private:
    int pipe_[2] = {-1, -1};  // for wake()
    bool is_asked_ = false;
};

}  // namespace evenkeel::io::system
