#include "commitlog/scan.h"

#include <algorithm>

#include "commitlog/segment.h"

namespace evenkeel::commitlog {
namespace {

constexpr std::size_t window_bytes = std::size_t{128} << 10;
constexpr std::int64_t least_bytes = stored_bytes(0, 0);

}  // namespace

Result<std::optional<Record>> Scanner::at(Offset offset, SequenceNumber sequence) {
    EK_TRY_ASSIGN(const auto record, decode_at(offset));
    if (!record || record->sequence != sequence) return std::optional<Record>();
    return record;
}

Result<std::optional<Record>> Scanner::find(Offset from, SequenceNumber sequence,
                                            SequenceNumber below) {
    for (Offset at = from; at < end_; at = at + 8) {
        EK_TRY_ASSIGN(const auto bytes, window(at, record_header_bytes));
        if (bytes.size() < record_header_bytes) break;
        if (load<std::uint32_t>(bytes.data()) != record_magic) continue;
        EK_TRY_ASSIGN(const auto record, look_at(at));
        if (!record || record->sequence < sequence || record->sequence >= below) continue;
        // Each event that is missing had a record, of no less than its header.
        const std::int64_t missing_max = (at.value - from.value + 8) / least_bytes;
        if (record->sequence.value - sequence.value > missing_max) continue;
        EK_TRY_ASSIGN(const bool contradicted, is_contradicted(*record, below));
        if (!contradicted) return decode_at(at);
    }
    return std::optional<Record>();
}

Result<std::optional<Scanner::Seen>> Scanner::look_at(Offset offset) {
    EK_TRY_ASSIGN(const auto record, decode_at(offset));
    if (!record) return std::optional<Seen>();
    return std::optional(
        Seen{record->sequence, offset + static_cast<std::int64_t>(stored_bytes(*record))});
}

// One of two neighbours whose numbers do not follow each other is wrong; the third one tells which.
Result<bool> Scanner::is_contradicted(const Seen& record, SequenceNumber below) {
    EK_TRY_ASSIGN(const auto second, look_at(record.end));
    if (!second || second->sequence == record.sequence + 1) return false;
    if (second->end >= end_) return second->sequence + 1 == below;
    EK_TRY_ASSIGN(const auto third, look_at(second->end));
    return third && third->sequence == second->sequence + 1 &&
           third->sequence != record.sequence + 2;
}

Result<std::optional<Record>> Scanner::decode_at(Offset offset) {
    if (offset >= end_) return std::optional<Record>();
    EK_TRY_ASSIGN(auto bytes, window(offset, record_header_bytes));
    const auto size = claimed_bytes(bytes);
    const auto room = static_cast<std::uint64_t>(end_.value - offset.value);
    if (!size || *size > room) return std::optional<Record>();
    if (*size > bytes.size()) {
        EK_TRY_ASSIGN(bytes, window(offset, *size));
    }
    return decode(bytes, offset, seed_);
}

Result<ByteView> Scanner::window(Offset offset, std::size_t bytes) {
    const Offset buffer_end = buffer_from_ + static_cast<std::int64_t>(buffer_bytes_);
    const bool inside = offset >= buffer_from_ && offset < buffer_end;
    std::size_t held = inside ? static_cast<std::size_t>(buffer_end.value - offset.value) : 0;
    if (held < bytes) {
        const auto room = static_cast<std::size_t>(end_.value - offset.value);
        const std::size_t wanted = std::min(room, std::max(bytes, window_bytes));
        if (buffer_.size() < wanted) buffer_.resize(wanted);
        EK_TRY_ASSIGN(buffer_bytes_,
                      file_.read(file_position(base_, offset), ByteSpan(buffer_).first(wanted)));
        buffer_from_ = offset;
        held = buffer_bytes_;
    }
    const auto skip = static_cast<std::size_t>(offset.value - buffer_from_.value);
    return ByteView(buffer_).subspan(skip, held);
}

}  // namespace evenkeel::commitlog
