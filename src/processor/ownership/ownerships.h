// What we know of each partition's entry: from listings, and from our own writes, which are younger
// than any listing requested before they were answered. No I/O; the caller passes the time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "checkpoint/store.h"

namespace evenkeel::processor {

class Ownerships {
public:
    void resize(std::uint32_t partitions);
    std::uint32_t size() const { return static_cast<std::uint32_t>(known_.size()); }
    // An entry that is not there has neither owner nor version.
    const checkpoint::Ownership& operator[](PartitionId partition) const {
        return known_[partition.value].entry;
    }
    // Its age by now, on the store's clock and ours. The store's clock can be set: an entry is
    // never older than the last listing that showed another version of it.
    Duration age(PartitionId partition, Instant now) const;

    // A listing that was asked for at `asked`. Says nothing about partitions for which
    // is_younger().
    void adopt(const std::vector<checkpoint::Ownership>& listed, Instant asked, Instant now);
    // Our own write is under way, or was answered after `asked`.
    bool is_younger(PartitionId partition, Instant asked) const;
    bool is_writing(PartitionId partition) const { return known_[partition.value].writes > 0; }

    void begin_write(PartitionId partition) { ++known_[partition.value].writes; }
    void end_write(PartitionId partition, Instant now);
    // As we have just written it.
    void set(const checkpoint::Ownership& entry, Instant now);

private:
    void replace(PartitionId partition, const checkpoint::Ownership& entry, Instant now);

    struct Known {
        checkpoint::Ownership entry;
        Instant as_of;
        std::optional<Instant> not_before;  // the last look that did not show this version
        int writes = 0;
        Instant written;  // when our last write was answered
    };
    std::vector<Known> known_;
    bool has_listed_ = false;
};

}  // namespace evenkeel::processor
