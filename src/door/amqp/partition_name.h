// The partition that an address names.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "door/address.h"
#include "hub/event_hub.h"

namespace evenkeel::door {

// None if the address names none; not_found if the event hub has no such partition.
inline Result<std::optional<PartitionId>> partition_of(const hub::EventHub& event_hub,
                                                       const Address& address) {
    if (address.partition.empty()) return std::optional<PartitionId>();
    std::uint32_t number = 0;
    const char* const end = address.partition.data() + address.partition.size();
    const auto parsed = std::from_chars(address.partition.data(), end, number);
    const bool good = parsed.ec == std::errc() && parsed.ptr == end &&
                      std::to_string(number) == address.partition;
    if (!good || number >= event_hub.partition_count()) {
        return Error{ErrorCode::not_found, "no such partition"};
    }
    return std::optional<PartitionId>(PartitionId{number});
}

}  // namespace evenkeel::door
