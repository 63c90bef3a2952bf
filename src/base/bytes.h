// Bytes on disk and wire: views, little-endian loads and stores, and text as bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace evenkeel {

using ByteView = std::span<const std::byte>;
using ByteSpan = std::span<std::byte>;

static_assert(std::endian::native == std::endian::little, "formats are little-endian");

template <typename T>
T load(const std::byte* from) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <typename T>
void store(std::byte* to, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(to, &value, sizeof value);
}

inline ByteView as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string_view as_text(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Rounded up to the next multiple of 8.
constexpr std::uint64_t align8(std::uint64_t size) {
    return (size + 7) & ~std::uint64_t{7};
}

}  // namespace evenkeel
