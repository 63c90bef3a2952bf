// Sends what functions wrote to their output bindings, with one producer for each event hub.
// Ownership: owns the producers, each until it ends. Threads: any; calls block until the hub has
// stored the events. Failure: see send(); the next call tries again.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/guarded.h"
#include "base/result.h"
#include "host/handler/handler.h"
#include <evenkeel/producer.h>

namespace evenkeel::host {

class Outputs {
public:
    // All outputs of one execution; those that were sent are removed from it. `handler_failed` for
    // an event that is too large for its hub; `unavailable` for everything else, also for a hub
    // that does not exist: the events are not to blame, and their partition waits.
    Result<> send(const Function& function, Outcome& outcome);

private:
    // Removes from `bodies` those that were sent.
    Result<> send(const EventHubOutput& output, std::vector<std::string>& bodies);
    Result<std::shared_ptr<Producer>> producer(const EventHubOutput& output);

    Guarded<std::map<std::string, std::shared_ptr<Producer>>> producers_;  // by connection
};

}  // namespace evenkeel::host
