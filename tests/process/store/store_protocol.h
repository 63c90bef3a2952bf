// What store_target and the test that kills it agree on.
#pragma once

#include <cstdint>

#include "checkpoint/store.h"

namespace evenkeel::fault {

inline const checkpoint::GroupName store_group{"localhost", "homes", "$Default"};
inline constexpr std::uint32_t process_partitions = 6;     // of one process
inline constexpr std::uint32_t transacted_partitions = 2;  // the last of them

// Written by the target after the store has answered with success.
struct Stored {
    std::uint32_t partition;
    std::int64_t sequence;
};

}  // namespace evenkeel::fault
