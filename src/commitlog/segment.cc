#include "commitlog/segment.h"

#include <cstring>

#include <fmt/core.h>

#include "base/crc32c.h"
#include "base/format_version.h"
#include "base/number.h"

namespace evenkeel::commitlog {
namespace {

constexpr char segment_magic[] = {'E', 'K', 'S', 'E', 'G', 'M', '0', '1'};
constexpr std::uint16_t version = format::segment;
constexpr std::size_t magic_word_bytes = 6;  // without the digits of the version
constexpr std::size_t digits = 20;

std::string stem(const SegmentName& name) {
    return fmt::format("{:020}-{:020}", name.base_sequence.value, name.base.value);
}

std::optional<std::int64_t> number(std::string_view text) {
    const auto value = parse_number<std::int64_t>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::string log_name(const SegmentName& name) {
    return stem(name) + ".log";
}

std::string index_name(const SegmentName& name) {
    return stem(name) + ".idx";
}

std::optional<SegmentName> parse_segment_name(std::string_view file_name, std::string_view suffix) {
    if (file_name.size() != 2 * digits + 1 + suffix.size() || !file_name.ends_with(suffix) ||
        file_name[digits] != '-') {
        return std::nullopt;
    }
    const auto sequence = number(file_name.substr(0, digits));
    const auto offset = number(file_name.substr(digits + 1, digits));
    if (!sequence || !offset || *offset % 8 != 0) return std::nullopt;
    return SegmentName{{*sequence}, {*offset}};
}

std::array<std::byte, segment_header_bytes> encode(const SegmentHeader& header,
                                                   std::uint32_t seed) {
    std::array<std::byte, segment_header_bytes> bytes{};
    std::memcpy(bytes.data(), segment_magic, sizeof segment_magic);
    store(bytes.data() + 12, version);
    std::memcpy(bytes.data() + 16, header.incarnation.data(), header.incarnation.size());
    store(bytes.data() + 32, header.partition.value);
    store(bytes.data() + 36, header.last_record_bytes);
    store(bytes.data() + 40, header.name.base_sequence.value);
    store(bytes.data() + 48, header.name.base.value);
    store(bytes.data() + 56, header.floor_time.milliseconds);
    store(bytes.data() + 8, crc32c(ByteView(bytes).subspan(12), seed));
    return bytes;
}

std::optional<std::uint16_t> segment_version(ByteView bytes) {
    if (bytes.size() < segment_header_bytes) return std::nullopt;
    if (std::memcmp(bytes.data(), segment_magic, magic_word_bytes) != 0) return std::nullopt;
    Incarnation incarnation;
    std::memcpy(incarnation.data(), bytes.data() + 16, incarnation.size());
    const auto seed = checksum_seed(incarnation, {load<std::uint32_t>(bytes.data() + 32)});
    const auto crc = load<std::uint32_t>(bytes.data() + 8);
    if (crc != crc32c(bytes.subspan(12, segment_header_bytes - 12), seed)) return std::nullopt;
    return load<std::uint16_t>(bytes.data() + 12);
}

std::optional<SegmentHeader> decode_segment_header(ByteView bytes) {
    if (segment_version(bytes) != version) return std::nullopt;
    if (std::memcmp(bytes.data(), segment_magic, sizeof segment_magic) != 0) return std::nullopt;
    SegmentHeader header;
    std::memcpy(header.incarnation.data(), bytes.data() + 16, header.incarnation.size());
    header.partition.value = load<std::uint32_t>(bytes.data() + 32);
    header.last_record_bytes = load<std::uint32_t>(bytes.data() + 36);
    header.name.base_sequence.value = load<std::int64_t>(bytes.data() + 40);
    header.name.base.value = load<std::int64_t>(bytes.data() + 48);
    header.floor_time.milliseconds = load<std::int64_t>(bytes.data() + 56);
    return header;
}

Result<io::File*> SegmentFile::open() {
    if (io::File* const file = if_open()) return file;
    return file_.with([this](std::unique_ptr<io::File>& file) -> Result<io::File*> {
        if (!file) {
            EK_TRY_ASSIGN(file, files_.open(log_path(), io::OpenMode::read));
            opened_.store(file.get(), std::memory_order_release);
        }
        return file.get();
    });
}

}  // namespace evenkeel::commitlog
