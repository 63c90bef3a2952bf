#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace evenkeel {

std::size_t utf8_character_bytes(std::string_view text) {
    if (text.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || first > 0xf4 || text.size() < size) return 0;
    // What the first byte leaves open: overlong forms, surrogates, numbers that are too large.
    const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < lowest || byte(1) > highest) return 0;
    for (std::size_t i = 2; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    return size;
}

namespace {

// Whole words, the last of which may overlap the one before it.
bool is_ascii(const char* text, std::size_t size) {
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    std::uint64_t all = 0;
    if (size >= sizeof all) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i + sizeof word < size; i += sizeof word) {
            std::memcpy(&word, text + i, sizeof word);
            all |= word;
        }
        std::memcpy(&word, text + size - sizeof word, sizeof word);
        all |= word;
    } else if (size >= 4) {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        std::memcpy(&first, text, sizeof first);
        std::memcpy(&last, text + size - sizeof last, sizeof last);
        all = first | last;
    } else {
        for (std::size_t i = 0; i < size; ++i) all |= static_cast<unsigned char>(text[i]);
    }
    return (all & high_bits) == 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
    if (is_ascii(text.data(), text.size())) return true;
    while (!text.empty()) {
        const std::size_t size = utf8_character_bytes(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

}  // namespace evenkeel
