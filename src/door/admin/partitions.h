// The admin interface's route for partitions: what they hold, and what comes and goes. Rates need
// samples, so the traffic of all partitions is looked at about once a second.
//
// Ownership: all it is given outlives it. Answers that come after its end are dropped.
// Threads: part of Admin; what is not in memory is read on `reads`, which may block.
// Failure: a partition that cannot be used is listed with its error.
#pragma once

#include "base/lifetime.h"
#include "door/admin/call.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

class PartitionResource {
public:
    PartitionResource(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs);

    void list(const AdminCall& call, AdminAnswer answer);

private:
    void watch_traffic();

    io::Loop& loop_;
    io::Executor& reads_;
    hub::Namespace& hubs_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
