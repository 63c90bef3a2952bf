#include "commitlog/mark.h"

#include <cstring>

#include "base/crc32c.h"
#include "base/format_version.h"

namespace evenkeel::commitlog {
namespace {

constexpr char mark_magic[] = {'E', 'K', 'M', 'K'};
constexpr std::size_t at_version = 60;  // less 1
// Far beyond what a disk can hold, and far from where sums overflow.
constexpr std::int64_t position_max = std::int64_t{1} << 60;

// A checksum that holds does not make sense of numbers that no log has.
bool is_possible(const Mark& mark) {
    return mark.start.value >= 0 && mark.start <= mark.end && mark.end.value <= position_max &&
           mark.start_sequence.value >= 0 && mark.start_sequence <= mark.end_sequence &&
           mark.end_sequence.value <= position_max &&
           std::int64_t{mark.last_record_bytes} <= mark.end.value;
}

// The version of a slot whose checksum holds.
std::optional<std::uint64_t> mark_version(ByteView slot, std::uint32_t seed) {
    if (slot.size() < mark_slot_bytes) return std::nullopt;
    if (std::memcmp(slot.data(), mark_magic, sizeof mark_magic) != 0) return std::nullopt;
    const auto crc = load<std::uint32_t>(slot.data() + 4);
    if (crc != crc32c(slot.subspan(8, mark_slot_bytes - 8), seed)) return std::nullopt;
    return std::uint64_t{load<std::uint32_t>(slot.data() + at_version)} + 1;
}

}  // namespace

std::array<std::byte, mark_slot_bytes> encode(const Mark& mark, std::uint32_t seed) {
    std::array<std::byte, mark_slot_bytes> bytes{};
    std::memcpy(bytes.data(), mark_magic, sizeof mark_magic);
    store(bytes.data() + 8, mark.counter);
    store(bytes.data() + 16, mark.start.value);
    store(bytes.data() + 24, mark.start_sequence.value);
    store(bytes.data() + 32, mark.end.value);
    store(bytes.data() + 40, mark.end_sequence.value);
    store(bytes.data() + 48, mark.last_time.milliseconds);
    store(bytes.data() + 56, mark.last_record_bytes);
    store(bytes.data() + 4, crc32c(ByteView(bytes).subspan(8), seed));
    return bytes;
}

std::optional<Mark> decode_mark(ByteView slot, std::uint32_t seed) {
    if (mark_version(slot, seed) != format::mark) return std::nullopt;
    Mark mark;
    mark.counter = load<std::uint64_t>(slot.data() + 8);
    mark.start.value = load<std::int64_t>(slot.data() + 16);
    mark.start_sequence.value = load<std::int64_t>(slot.data() + 24);
    mark.end.value = load<std::int64_t>(slot.data() + 32);
    mark.end_sequence.value = load<std::int64_t>(slot.data() + 40);
    mark.last_time.milliseconds = load<std::int64_t>(slot.data() + 48);
    mark.last_record_bytes = load<std::uint32_t>(slot.data() + 56);
    if (!is_possible(mark)) return std::nullopt;
    return mark;
}

Result<std::optional<Mark>> read_mark(io::FileSystem& files, const std::string& directory,
                                      std::uint32_t seed) {
    auto file = files.open(directory + "/" + mark_file_name, io::OpenMode::read);
    if (!file.ok()) {
        if (file.error().code == ErrorCode::not_found) return std::optional<Mark>();
        return file.error();
    }
    std::array<std::byte, mark_slot_distance + mark_slot_bytes> bytes{};
    EK_TRY_ASSIGN(const std::size_t got, (*file)->read(0, bytes));
    const ByteView all(bytes.data(), got);
    std::optional<Mark> newest;
    for (std::size_t at = 0; at + mark_slot_bytes <= got; at += mark_slot_distance) {
        const ByteView slot = all.subspan(at, mark_slot_bytes);
        EK_TRY(format::check(directory + "/" + mark_file_name,
                             mark_version(slot, seed).value_or(format::mark), format::mark));
        const auto mark = decode_mark(slot, seed);
        if (mark && (!newest || mark->counter > newest->counter)) newest = mark;
    }
    return newest;
}

Result<> write_mark(io::File& file, const Mark& mark, std::uint32_t seed) {
    return file.write((mark.counter % 2) * mark_slot_distance, encode(mark, seed));
}

Result<> write_mark_durably(io::File& file, const Mark& mark, std::uint32_t seed) {
    Mark before = mark;
    before.counter -= 1;
    EK_TRY(write_mark(file, before, seed));
    EK_TRY(write_mark(file, mark, seed));
    return file.sync();
}

}  // namespace evenkeel::commitlog
