// What kill_target and the test that kills it agree on.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include <evenkeel/hub.h>

namespace evenkeel::fault {

inline constexpr const char* event_hub = "under-fire";
inline constexpr std::uint32_t producers_max = 32;  // and at most one for each partition
inline constexpr std::uint32_t batch_events_max = 20;

inline HubOptions hub_options(const std::string& folder) {
    HubOptions options;
    options.directory = folder;
    options.segment_bytes_max = 64 << 10;
    return options;
}

// Written by the target after the hub has acknowledged the batch.
struct Acknowledged {
    std::uint32_t partition;
    std::uint32_t cycle;
    std::uint32_t producer;
    std::uint32_t count;
    std::uint64_t first_number;  // body_of() this and the following
    std::int64_t first_sequence;
};

// "3/1/42:" and up to 200 bytes by chance, the same for the same numbers.
inline std::string body_of(std::uint32_t cycle, std::uint32_t producer, std::uint64_t number) {
    std::string body =
        std::to_string(cycle) + "/" + std::to_string(producer) + "/" + std::to_string(number) + ":";
    Random random(number * 64 + producer + (std::uint64_t{cycle} << 48));
    const std::size_t head = body.size();
    body.resize(head + random.below(200));
    random.fill({reinterpret_cast<std::byte*>(body.data()) + head, body.size() - head});
    return body;
}

}  // namespace evenkeel::fault
