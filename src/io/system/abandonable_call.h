// A call that may block in the system for ever (a file on a mount whose server is gone), on a
// thread of its own that is left behind if nobody can wait for it any longer.
//
// Threads: made and destroyed by one; wait for descriptor() as for any other.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/task.h"

namespace evenkeel::io::system {

class AbandonableCall {
public:
    // `call` owns all that it touches, unless its maker waits for its end: it may outlive this
    // object, and run when the process ends. With no file descriptor left in the process the call
    // is made here and now.
    explicit AbandonableCall(Task call);
    ~AbandonableCall();
    AbandonableCall(const AbandonableCall&) = delete;
    AbandonableCall& operator=(const AbandonableCall&) = delete;

    // Readable once the call has returned; what it wrote can be seen then.
    int descriptor() const;
    bool done() const;
    // Blocks until it is done, or until so much time has passed; says which.
    bool wait_for(Duration limit) const;

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace evenkeel::io::system
