// Sends events of a processor to an event hub, in this process or on a server.
//
// Threads: pinned to the loop it was opened on: called there, answers there, never within the call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "io/system/loop.h"
#include <evenkeel/client.h>
#include <evenkeel/hub.h>

namespace evenkeel::source {

struct OutletOptions {
    Hub* embedded = nullptr;  // an event hub of this one; else by AMQP
    std::string event_hub = {};
    ClientOptions client = {};  // its event hub gives way to the one above, if that is named
};

class Outlet {
public:
    // Pending sends are not answered.
    virtual ~Outlet() = default;

    // Answers once the hub takes events; `not_found` and the like if it never will.
    virtual void open(Callback<void(Result<>)> done) = 0;
    // One event, to the partition of its key or to any. Success = durable. `invalid_argument`: the
    // hub will never accept it. After `unavailable` and `timed_out` it may or may not be stored.
    virtual void send(std::vector<std::byte> sections, std::string partition_key,
                      Callback<void(Result<>)> done) = 0;
    virtual void close(Task done) = 0;
};

// `invalid_argument` names what is malformed. Called before the loop is started or on it; destroyed
// once that has stopped, and before the embedded hub.
Result<std::unique_ptr<Outlet>> open_outlet(const OutletOptions& options,
                                            io::system::LoopThread& loop);

}  // namespace evenkeel::source
