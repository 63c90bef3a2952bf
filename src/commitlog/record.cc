#include "commitlog/record.h"

#include <cstring>

#include "base/check.h"
#include "base/crc32c.h"

namespace evenkeel::commitlog {
namespace {

// Field positions; the picture is in the header.
constexpr std::size_t at_crc = 4;
constexpr std::size_t at_body_bytes = 8;
constexpr std::size_t at_key_bytes = 12;
constexpr std::size_t at_flags = 14;
constexpr std::size_t at_sequence = 16;
constexpr std::size_t at_offset = 24;
constexpr std::size_t at_enqueued = 32;
constexpr std::size_t at_batch_index = 40;
constexpr std::size_t at_batch_remaining = 44;
constexpr std::size_t at_synced = 48;
static_assert(at_synced + sizeof(std::int64_t) == record_header_bytes);

}  // namespace

std::uint32_t checksum_seed(const Incarnation& incarnation, PartitionId partition) {
    std::array<std::byte, 4> number;
    store(number.data(), partition.value);
    return crc32c(number, crc32c(incarnation));
}

void encode(const Record& record, std::uint32_t seed, std::byte* to) {
    EK_CHECK(record.key.size() <= key_bytes_max, "the hub limits partition keys");
    EK_CHECK(record.body.size() <= body_bytes_max, "the hub limits events");
    const std::size_t size = stored_bytes(record);
    store(to, record_magic);
    store(to + at_body_bytes, static_cast<std::uint32_t>(record.body.size()));
    store(to + at_key_bytes, static_cast<std::uint16_t>(record.key.size()));
    store(to + at_flags, std::uint16_t{0});
    store(to + at_sequence, record.sequence.value);
    store(to + at_offset, record.offset.value);
    store(to + at_enqueued, record.enqueued.milliseconds);
    store(to + at_batch_index, record.batch_index);
    store(to + at_batch_remaining, record.batch_remaining);
    store(to + at_synced, record.synced.value);
    std::byte* at = to + record_header_bytes;
    if (!record.key.empty()) std::memcpy(at, record.key.data(), record.key.size());
    at += record.key.size();
    if (!record.body.empty()) std::memcpy(at, record.body.data(), record.body.size());
    at += record.body.size();
    std::memset(at, 0, static_cast<std::size_t>(to + size - at));
    store(to + at_crc, crc32c({to + at_body_bytes, size - at_body_bytes}, seed));
}

Record view(const std::byte* bytes) {
    Record record;
    const auto body_bytes = load<std::uint32_t>(bytes + at_body_bytes);
    const auto key_bytes = load<std::uint16_t>(bytes + at_key_bytes);
    record.sequence.value = load<std::int64_t>(bytes + at_sequence);
    record.offset.value = load<std::int64_t>(bytes + at_offset);
    record.enqueued.milliseconds = load<std::int64_t>(bytes + at_enqueued);
    record.batch_index = load<std::uint32_t>(bytes + at_batch_index);
    record.batch_remaining = load<std::uint32_t>(bytes + at_batch_remaining);
    record.synced.value = load<std::int64_t>(bytes + at_synced);
    record.key = {bytes + record_header_bytes, key_bytes};
    record.body = {bytes + record_header_bytes + key_bytes, body_bytes};
    return record;
}

std::size_t stored_bytes_at(const std::byte* bytes) {
    return stored_bytes(load<std::uint16_t>(bytes + at_key_bytes),
                        load<std::uint32_t>(bytes + at_body_bytes));
}

std::optional<std::size_t> claimed_bytes(ByteView bytes) {
    if (bytes.size() < record_header_bytes) return std::nullopt;
    if (load<std::uint32_t>(bytes.data()) != record_magic) return std::nullopt;
    const auto body_bytes = load<std::uint32_t>(bytes.data() + at_body_bytes);
    if (body_bytes > body_bytes_max) return std::nullopt;
    return stored_bytes(load<std::uint16_t>(bytes.data() + at_key_bytes), body_bytes);
}

std::optional<Record> decode(ByteView bytes, Offset offset, std::uint32_t seed) {
    const auto size = claimed_bytes(bytes);
    if (!size || *size > bytes.size()) return std::nullopt;
    if (load<std::int64_t>(bytes.data() + at_offset) != offset.value) return std::nullopt;
    const auto crc = load<std::uint32_t>(bytes.data() + at_crc);
    if (crc != crc32c(bytes.subspan(at_body_bytes, *size - at_body_bytes), seed)) {
        return std::nullopt;
    }
    return view(bytes.data());
}

}  // namespace evenkeel::commitlog
