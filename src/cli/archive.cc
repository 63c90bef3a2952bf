#include "cli/archive.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/core.h>

#include "base/check.h"

namespace evenkeel::cli {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::size_t name_bytes_max = 99;
constexpr std::size_t stored_bytes_max = 65'535;  // of one part of a gzip stream

// The checksum of gzip, which is not CRC-32C.
std::uint32_t crc32(std::string_view text) {
    std::uint32_t crc = ~0u;
    for (const char c : text) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0xedb88320u : 0u);
    }
    return ~crc;
}

void append_little_endian(std::string& text, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xffu);
}

std::string tar_header(const ArchiveFile& file, WallTime now) {
    EK_CHECK(file.name.size() <= name_bytes_max, "names in an archive are ours, and short");
    std::array<char, block_bytes> header{};
    const auto put = [&](std::size_t at, std::string_view text) {
        std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(at));
    };
    put(0, file.name);
    put(100, "0000600");  // mode
    put(108, "0000000");  // user
    put(116, "0000000");  // group
    put(124, fmt::format("{:011o}", file.content.size()));
    put(136, fmt::format("{:011o}", std::max<std::int64_t>(0, now.milliseconds / 1000)));
    put(148, "        ");  // the checksum counts as blanks
    header[156] = '0';     // a regular file
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    header[154] = '\0';
    return {header.data(), header.size()};
}

}  // namespace

std::string tar_gz(const std::vector<ArchiveFile>& files, WallTime now) {
    std::string tar;
    for (const auto& file : files) {
        tar += tar_header(file, now) + file.content;
        tar.append((block_bytes - tar.size() % block_bytes) % block_bytes, '\0');
    }
    tar.append(2 * block_bytes, '\0');
    std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    for (std::size_t at = 0; at < tar.size();) {
        const std::size_t part = std::min(stored_bytes_max, tar.size() - at);
        const auto size = static_cast<std::uint32_t>(part);
        gzip += at + part == tar.size() ? '\x01' : '\0';
        append_little_endian(gzip, size, 2);
        append_little_endian(gzip, ~size, 2);
        gzip.append(tar, at, part);
        at += part;
    }
    append_little_endian(gzip, crc32(tar), 4);
    append_little_endian(gzip, static_cast<std::uint32_t>(tar.size()), 4);
    return gzip;
}

}  // namespace evenkeel::cli
