// The seam between who owns a partition (Coordinator) and what is done with it (pumps).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "base/task.h"
#include "processor/ownership/lease.h"

namespace evenkeel::processor {

// Why a partition is given up.
enum class CloseReason : std::uint8_t {
    shutdown,   // this processor stops
    hand_over,  // another member takes it over, gracefully
    lost,       // another has it already, or may have: nothing may be written any more
};

std::string_view to_string(CloseReason reason);

// Has the partitions that the coordinator won. All on the processor's loop.
class PartitionHost {
public:
    virtual ~PartitionHost() = default;
    // The partition is ours under this epoch: seal its checkpoint and read. Not called again before
    // close() has answered; called again with a higher epoch after that.
    virtual void open(PartitionId partition, Epoch epoch) = 0;
    // Stop fetching; let a running handler end (unless `lost`: then its result does not count);
    // write the checkpoint (unless `lost`); then `done`. Bounded by the drain time: after that the
    // handler has to cancel and `done` runs all the same. A `lost` during another close hastens
    // it.
    virtual void close(PartitionId partition, CloseReason reason, Task done) = 0;
};

// What the pumps ask and tell the coordinator.
class Permit {
public:
    virtual ~Permit() = default;
    // Before each batch is handed to the handler, and before each checkpoint is written.
    virtual bool may_act(PartitionId partition) const = 0;
    // Whether to read it at owner level 0 instead of its epoch: processors of other SDKs are in the
    // group, know no other level, and could never take it over.
    virtual bool is_shared(PartitionId) const { return false; }
    // Our lease is over, or has been since the partition was last written as ours, and only the
    // broker keeps others away. Then a handler is called only while the broker has our reader:
    // without one nobody would tell us that another has come.
    virtual bool hangs_on_reader(PartitionId) const { return false; }
    // Asked together with may_act(): how long that answer holds. It is looked at again just before
    // the handler is called, which may be much later than the answer.
    virtual LeaseTerm term(PartitionId) const { return {}; }
    // The broker cut the reader for another one, or the store refused a checkpoint as fenced: the
    // coordinator answers with close(lost), and finds out who has it.
    virtual void on_fenced(PartitionId partition) = 0;
};

}  // namespace evenkeel::processor
