// For tests that need a host of partitions and do nothing with it.
#pragma once

#include "processor/host.h"

namespace evenkeel::processor {

class NoHost final : public PartitionHost {
public:
    void open(PartitionId, Epoch) override {}
    void close(PartitionId, CloseReason, Task done) override { done(); }
};

}  // namespace evenkeel::processor
