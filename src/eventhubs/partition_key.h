// Which partition a key belongs to, as Azure Event Hubs computes it: events with the same key go to
// the same partition, whether a client or the service routes them. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace evenkeel::eventhubs {

// Bob Jenkins' lookup3 over the key's UTF-8 bytes, folded to 16 bits.
std::int16_t partition_key_hash(std::string_view key);

PartitionId partition_of_key(std::string_view key, std::uint32_t partition_count);

}  // namespace evenkeel::eventhubs
