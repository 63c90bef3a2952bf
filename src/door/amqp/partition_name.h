// The partition that an address names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/number.h"
#include "base/result.h"
#include "eventhubs/address.h"
#include "hub/event_hub.h"

namespace evenkeel::door {

// None if the address names none; not_found if the event hub has no such partition.
inline Result<std::optional<PartitionId>> partition_of(const hub::EventHub& event_hub,
                                                       const eventhubs::Address& address) {
    if (address.partition.empty()) return std::optional<PartitionId>();
    const auto number = parse_number<std::uint32_t>(address.partition);
    const bool good = number && std::to_string(*number) == address.partition;
    if (!good || *number >= event_hub.partition_count()) {
        return Error{ErrorCode::not_found, "no such partition"};
    }
    return std::optional<PartitionId>(PartitionId{*number});
}

}  // namespace evenkeel::door
