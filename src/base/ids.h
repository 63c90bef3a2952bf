// Numbers that must not mix are types. Each wraps one integer, compares, hashes and nothing more.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace evenkeel {

// The n-th partition of an event hub, from 0.
struct PartitionId {
    std::uint32_t value = 0;
    auto operator<=>(const PartitionId&) const = default;
};

// The n-th event of a partition, dense from 0; -1 means that there is none.
struct SequenceNumber {
    std::int64_t value = -1;
    auto operator<=>(const SequenceNumber&) const = default;
    SequenceNumber operator+(std::int64_t count) const { return {value + count}; }
};

// Byte position of an event in its partition's stream; -1 means that there is none.
struct Offset {
    std::int64_t value = -1;
    auto operator<=>(const Offset&) const = default;
    Offset operator+(std::int64_t bytes) const { return {value + bytes}; }
};

// Owner level of an exclusive reader; the higher one wins.
struct Epoch {
    std::int64_t value = 0;
    auto operator<=>(const Epoch&) const = default;
};

}  // namespace evenkeel

template <>
struct std::hash<evenkeel::PartitionId> {
    std::size_t operator()(evenkeel::PartitionId id) const noexcept { return id.value; }
};
