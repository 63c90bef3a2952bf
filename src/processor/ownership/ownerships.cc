#include "processor/ownership/ownerships.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::processor {

void Ownerships::resize(std::uint32_t partitions) {
    for (std::uint32_t p = size(); p < partitions; ++p) {
        Known known;
        known.entry.partition = PartitionId{p};
        known_.push_back(std::move(known));
    }
}

Duration Ownerships::age(PartitionId partition, Instant now) const {
    const Known& known = known_[partition.value];
    const Duration told = known.entry.age + (now - known.as_of);
    return known.not_before ? std::min(told, now - *known.not_before) : told;
}

void Ownerships::replace(PartitionId partition, const checkpoint::Ownership& entry, Instant now) {
    Known& known = known_[partition.value];
    if (has_listed_ && known.entry.version != entry.version) known.not_before = known.as_of;
    known.entry = entry;
    known.as_of = now;
}

void Ownerships::adopt(const std::vector<checkpoint::Ownership>& listed, Instant asked,
                       Instant now) {
    std::vector<bool> is_listed(known_.size(), false);
    for (const checkpoint::Ownership& entry : listed) {
        const std::uint32_t p = entry.partition.value;
        if (p >= known_.size()) continue;  // the hub has grown, and others know already
        is_listed[p] = true;
        if (is_younger(entry.partition, asked)) continue;
        replace(entry.partition, entry, now);
    }
    for (std::uint32_t p = 0; p < size(); ++p) {
        if (is_listed[p] || is_younger(PartitionId{p}, asked)) continue;
        replace(PartitionId{p}, {.partition = PartitionId{p}}, now);
    }
    has_listed_ = true;
}

bool Ownerships::is_younger(PartitionId partition, Instant asked) const {
    const Known& known = known_[partition.value];
    return known.writes > 0 || known.written >= asked;
}

void Ownerships::end_write(PartitionId partition, Instant now) {
    Known& known = known_[partition.value];
    EK_CHECK(known.writes > 0, "a write ended that was not begun");
    --known.writes;
    known.written = now;
}

void Ownerships::set(const checkpoint::Ownership& entry, Instant now) {
    Known& known = known_[entry.partition.value];
    known.entry = entry;
    known.entry.age = Duration(0);
    known.as_of = now;
    known.not_before.reset();
}

}  // namespace evenkeel::processor
