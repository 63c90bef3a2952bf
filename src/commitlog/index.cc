#include "commitlog/index.h"

#include "base/crc32c.h"
#include "base/format_version.h"

namespace evenkeel::commitlog {
namespace {

// No segment has more: 1 GiB of segment at the smallest distance allowed still fits.
constexpr std::uint64_t index_file_bytes_max = std::uint64_t{64} << 20;

}  // namespace

bool Target::reached_by(const Record& record) const {
    switch (field) {
        case Field::offset: return record.offset.value >= value;
        case Field::sequence: return record.sequence.value >= value;
        case Field::enqueued: return record.enqueued.milliseconds >= value;
    }
    return true;
}

bool Target::reached_by(const IndexEntry& entry) const {
    switch (field) {
        case Field::offset: return entry.offset.value >= value;
        case Field::sequence: return entry.sequence.value >= value;
        case Field::enqueued: return entry.enqueued.milliseconds >= value;
    }
    return true;
}

void append_encoded(const IndexEntry& entry, std::uint32_t seed, std::vector<std::byte>& to) {
    const std::size_t at = to.size();
    to.resize(at + index_entry_bytes);
    std::byte* bytes = to.data() + at;
    store(bytes + 8, entry.offset.value);
    store(bytes + 16, entry.sequence.value);
    store(bytes + 24, entry.enqueued.milliseconds);
    store(bytes, crc32c({bytes + 4, index_entry_bytes - 4}, seed));
}

std::vector<IndexEntry> decode_index(ByteView bytes, Offset base, Offset end, std::uint32_t seed) {
    std::vector<IndexEntry> entries;
    entries.reserve(bytes.size() / index_entry_bytes);
    for (; bytes.size() >= index_entry_bytes; bytes = bytes.subspan(index_entry_bytes)) {
        if (load<std::uint32_t>(bytes.data()) !=
            crc32c(bytes.subspan(4, index_entry_bytes - 4), seed)) {
            continue;
        }
        // Less 1. A hint of another version is none.
        if (load<std::uint32_t>(bytes.data() + 4) + 1 != format::index) continue;
        const IndexEntry entry{{load<std::int64_t>(bytes.data() + 8)},
                               {load<std::int64_t>(bytes.data() + 16)},
                               {load<std::int64_t>(bytes.data() + 24)}};
        if (entry.offset < base || entry.offset >= end) continue;
        if (!entries.empty() &&
            (entry.offset <= entries.back().offset || entry.sequence <= entries.back().sequence ||
             entry.enqueued < entries.back().enqueued)) {
            continue;
        }
        entries.push_back(entry);
    }
    return entries;
}

std::vector<IndexEntry> read_index(io::FileSystem& files, const std::string& path, Offset base,
                                   Offset end, std::uint32_t seed) {
    const auto bytes = io::read_file(files, path, index_file_bytes_max);
    if (!bytes.ok()) return {};
    return decode_index(*bytes, base, end, seed);
}

std::ptrdiff_t floor_entry(const std::vector<IndexEntry>& index, const Target& target) {
    // Strictly before the target, because several events may share one enqueued time.
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = static_cast<std::ptrdiff_t>(index.size());
    while (low < high) {
        const std::ptrdiff_t middle = low + (high - low) / 2;
        if (target.reached_by(index[static_cast<std::size_t>(middle)])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // An entry that is the target itself may be used, unless an earlier event could be it too.
    const bool exact = low < static_cast<std::ptrdiff_t>(index.size()) &&
                       target.field != Target::Field::enqueued &&
                       (target.field == Target::Field::offset
                            ? index[static_cast<std::size_t>(low)].offset.value
                            : index[static_cast<std::size_t>(low)].sequence.value) == target.value;
    return exact ? low : low - 1;
}

}  // namespace evenkeel::commitlog
