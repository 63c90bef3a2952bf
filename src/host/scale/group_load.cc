#include "host/scale/group_load.h"

#include <algorithm>
#include <limits>

namespace evenkeel::host {
namespace {

void add(std::int64_t& sum, std::int64_t value) {
    const std::int64_t room = std::numeric_limits<std::int64_t>::max() - sum;
    sum += std::clamp<std::int64_t>(value, 0, room);
}

}  // namespace

LoadSum sum_of(const GroupLoad& load, NeverRead never_read) {
    LoadSum sum;
    sum.partitions = static_cast<std::uint32_t>(load.partitions.size());
    sum.behind_ms = load.behind_ms;
    for (const PartitionLoad& partition : load.partitions) {
        const bool is_read = partition.position >= 0;
        const bool is_waiting = partition.unread > 0;
        if (is_waiting) ++(is_read ? sum.backlogged : sum.never_read);
        const bool counts_fully = is_read || never_read == NeverRead::all_events;
        add(sum.unread, counts_fully ? partition.unread : std::int64_t{is_waiting});
        add(sum.lost, partition.lost);
        add(sum.handled, partition.position);
        add(sum.stored, partition.last);
    }
    return sum;
}

}  // namespace evenkeel::host
