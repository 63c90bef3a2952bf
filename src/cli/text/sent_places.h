// Where the hub stored what was sent, for the summary of `send`. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace evenkeel::cli {

class SentPlaces {
public:
    // Of a batch.
    void add(std::uint32_t partition, std::int64_t first, std::int64_t last);
    // "partition 0 seq 7", "partition 0 seq 7-9", "partition 0 seq 7-9, 1 seq 4", "12 partitions";
    // empty if nothing is known. A range that also has events of others ends with "(shared)".
    std::string text() const;

private:
    static constexpr std::size_t partitions_shown_max = 4;
    struct Range {
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::int64_t events = 0;
    };

    std::map<std::uint32_t, Range> ranges_;
};

}  // namespace evenkeel::cli
