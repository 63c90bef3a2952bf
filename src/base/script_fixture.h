// The bytes of a fuzzer as a script: each step takes what it needs from the front. A script that is
// used up goes on with zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"

namespace evenkeel {

class Script {
public:
    explicit Script(ByteView bytes) : bytes_(bytes) {}
    Script(const std::uint8_t* data, std::size_t size)
        : bytes_(reinterpret_cast<const std::byte*>(data), size) {}

    bool at_end() const { return bytes_.empty(); }
    std::uint8_t byte() {
        if (bytes_.empty()) return 0;
        const auto value = std::to_integer<std::uint8_t>(bytes_[0]);
        bytes_ = bytes_.subspan(1);
        return value;
    }
    // Small numbers, and now and then one near the wrap.
    std::uint32_t number() {
        const std::uint32_t value = byte();
        return value < 240 ? value : 0xffffff00u + value;
    }
    ByteView bytes(std::size_t size) {
        const ByteView taken = bytes_.first(std::min(size, bytes_.size()));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

private:
    ByteView bytes_;
};

}  // namespace evenkeel
