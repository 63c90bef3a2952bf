#include "commitlog/journal_format.h"

#include <cstring>

#include "base/crc32c.h"
#include "base/format_version.h"

namespace evenkeel::commitlog {
namespace {

constexpr char journal_magic[] = {'E', 'K', 'J', 'R', 'N', 'L', '0', '1'};
constexpr std::size_t journal_magic_word_bytes = 6;  // without the digits of the version
constexpr char entry_magic[] = {'E', 'K', 'J', 'E'};

// The version that a copy names, if its checksum holds.
std::optional<std::uint16_t> journal_version(ByteView copy) {
    if (copy.size() < journal_header_bytes) return std::nullopt;
    if (std::memcmp(copy.data(), journal_magic, journal_magic_word_bytes) != 0) return std::nullopt;
    const auto crc = load<std::uint32_t>(copy.data() + 8);
    if (crc != crc32c(copy.subspan(12, journal_header_bytes - 12))) return std::nullopt;
    return load<std::uint16_t>(copy.data() + 12);
}

}  // namespace

std::uint32_t JournalHeader::seed() const {
    std::array<std::byte, sizeof generation> number;
    store(number.data(), generation);
    return crc32c(number, crc32c(nonce));
}

std::array<std::byte, journal_entries_at> encode(const JournalHeader& header) {
    std::array<std::byte, journal_entries_at> bytes{};
    std::memcpy(bytes.data(), journal_magic, sizeof journal_magic);
    store(bytes.data() + 12, static_cast<std::uint16_t>(format::journal));
    store(bytes.data() + 16, header.generation);
    std::memcpy(bytes.data() + 24, header.nonce.data(), header.nonce.size());
    const auto body = ByteView(bytes).subspan(12, journal_header_bytes - 12);
    store(bytes.data() + 8, crc32c(body));
    std::memcpy(bytes.data() + journal_header_distance, bytes.data(), journal_header_bytes);
    return bytes;
}

Result<std::optional<JournalHeader>> decode_journal_header(ByteView bytes,
                                                           const std::string& what) {
    std::optional<JournalHeader> newest;
    for (std::size_t at = 0; at < journal_entries_at && at + journal_header_bytes <= bytes.size();
         at += journal_header_distance) {
        const ByteView copy = bytes.subspan(at, journal_header_bytes);
        const auto version = journal_version(copy);
        if (!version) continue;
        EK_TRY(format::check(what, *version, format::journal));
        JournalHeader header;
        header.generation = load<std::uint64_t>(copy.data() + 16);
        std::memcpy(header.nonce.data(), copy.data() + 24, header.nonce.size());
        if (!newest || header.generation > newest->generation) newest = header;
    }
    return newest;
}

std::byte* begin_entry(const JournalPlace& place, std::uint64_t generation, std::size_t bytes,
                       std::vector<std::byte>& to) {
    const std::size_t at = to.size();
    to.resize(at + journal_entry_header_bytes + bytes);
    std::byte* const header = to.data() + at;
    std::memcpy(header, entry_magic, sizeof entry_magic);
    store(header + 8, static_cast<std::uint32_t>(bytes));
    store(header + 12, place.identity.partition.value);
    std::memcpy(header + 16, place.identity.incarnation.data(), place.identity.incarnation.size());
    store(header + 32, generation);
    store(header + 40, place.segment.base_sequence.value);
    store(header + 48, place.segment.base.value);
    store(header + 56, place.from.value);
    return header + journal_entry_header_bytes;
}

void seal_entry(std::size_t bytes, std::uint32_t seed, std::byte* payload) {
    std::byte* const header = payload - journal_entry_header_bytes;
    const ByteView covered(header + 8, journal_entry_header_bytes - 8 + bytes);
    store(header + 4, crc32c(covered, seed));
}

std::optional<JournalEntry> decode_journal_entry(ByteView bytes, const JournalHeader& header) {
    if (bytes.size() < journal_entry_header_bytes) return std::nullopt;
    if (std::memcmp(bytes.data(), entry_magic, sizeof entry_magic) != 0) return std::nullopt;
    if (load<std::uint64_t>(bytes.data() + 32) != header.generation) return std::nullopt;
    const auto size = load<std::uint32_t>(bytes.data() + 8);
    if (size == 0 || size % 8 != 0 || size > journal_entry_bytes_max) return std::nullopt;
    if (size > bytes.size() - journal_entry_header_bytes) return std::nullopt;
    const ByteView covered = bytes.subspan(8, journal_entry_header_bytes - 8 + size);
    if (load<std::uint32_t>(bytes.data() + 4) != crc32c(covered, header.seed())) {
        return std::nullopt;
    }
    JournalEntry entry;
    entry.place.identity.partition.value = load<std::uint32_t>(bytes.data() + 12);
    std::memcpy(entry.place.identity.incarnation.data(), bytes.data() + 16, sizeof(Incarnation));
    entry.place.segment.base_sequence.value = load<std::int64_t>(bytes.data() + 40);
    entry.place.segment.base.value = load<std::int64_t>(bytes.data() + 48);
    entry.place.from.value = load<std::int64_t>(bytes.data() + 56);
    if (entry.place.segment.base.value < 0 || entry.place.from < entry.place.segment.base) {
        return std::nullopt;
    }
    entry.bytes = bytes.subspan(journal_entry_header_bytes, size);
    return entry;
}

}  // namespace evenkeel::commitlog
