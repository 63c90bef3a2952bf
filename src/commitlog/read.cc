#include "commitlog/read.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "commitlog/scan.h"

namespace evenkeel::commitlog {
namespace {

constexpr std::size_t read_bytes_min = std::size_t{4} << 10;

}  // namespace

Slice Slice::from(const Target& target) const {
    auto rest = bytes_;
    while (!rest.empty()) {
        const Record record = view(rest.data());
        if (target.reached_by(record)) break;
        rest = rest.subspan(stored_bytes(record));
    }
    return {owner_, rest};
}

Slice Slice::first(std::size_t bytes_max) const {
    if (bytes_.size() <= bytes_max) return *this;
    std::size_t size = 0;
    while (size < bytes_.size()) {
        const std::size_t next = size + stored_bytes(view(bytes_.data() + size));
        if (next > bytes_max && size > 0) break;
        size = next;
    }
    return {owner_, bytes_.first(size)};
}

std::string to_string(const Damage& damage) {
    if (damage.from == damage.to) {
        return fmt::format(
            "{} has bytes before event {} that belong to no event (stream positions {} to {})",
            damage.file, damage.to.value, damage.begin.value, damage.end.value);
    }
    return fmt::format("events {} to {} in {} are damaged (stream positions {} to {})",
                       damage.from.value, damage.to.value - 1, damage.file, damage.begin.value,
                       damage.end.value);
}

Result<ReadOutcome> ColdRead::perform() const {
    if (lost) {
        return ReadOutcome{
            {}, Damage{sequence, end_sequence, from, end, segment->log_path()}, end, end_sequence};
    }
    EK_TRY_ASSIGN(io::File* const file, segment->open());
    EK_TRY_ASSIGN(const Start start, find_start(*file));
    return read_from(*file, start);
}

Result<ColdRead::Start> ColdRead::find_start(io::File& file) const {
    if (!search || !target) return Start{from, sequence};
    const SegmentName& name = segment->name();
    auto index = read_index(segment->files(), segment->index_path(), name.base, end, seed);
    if (index.empty() &&
        static_cast<std::uint64_t>(end.value - name.base.value) > 4 * index_distance_default) {
        EK_TRY_ASSIGN(index, scan_index(file, name, end, seed, index_distance_default));
        std::vector<std::byte> bytes;
        for (const auto& entry : index) append_encoded(entry, seed, bytes);
        // A hint: if it cannot be written, the next search scans again.
        (void)io::replace_file(segment->files(), segment->index_path(), bytes);
    }
    Scanner scanner(file, name.base, end, seed);
    for (auto at = floor_entry(index, *target); at >= 0; --at) {
        const IndexEntry& entry = index[static_cast<std::size_t>(at)];
        if (entry.offset < from) break;
        EK_TRY_ASSIGN(const auto record, scanner.at(entry.offset, entry.sequence));
        if (record) return Start{entry.offset, entry.sequence};
    }
    return Start{from, sequence};
}

ColdRead::Checked ColdRead::check(ByteView block, ReadOutcome& outcome) const {
    Checked checked;
    bool past_target = !target.has_value();
    while (checked.good < block.size()) {
        const auto record = decode(block.subspan(checked.good), outcome.next, seed);
        if (!record || record->sequence != outcome.next_sequence) break;
        const std::size_t bytes = stored_bytes(*record);
        if (!past_target) {
            past_target = target->reached_by(*record);
            if (!past_target) checked.skipped += bytes;
        }
        checked.good += bytes;
        outcome.next = outcome.next + static_cast<std::int64_t>(bytes);
        outcome.next_sequence = outcome.next_sequence + 1;
    }
    return checked;
}

std::optional<ReadOutcome> ColdRead::perform_cached() const {
    io::File* const file = lost || search ? nullptr : segment->if_open();
    if (!file) return std::nullopt;
    const std::size_t size = std::min(std::max(bytes_max, read_bytes_min),
                                      static_cast<std::size_t>(end.value - from.value));
    auto block = std::make_shared_for_overwrite<std::byte[]>(size);
    const std::size_t got =
        file->read_cached(file_position(segment->name().base, from), {block.get(), size});
    ReadOutcome outcome{{}, std::nullopt, from, sequence};
    const auto [good, skipped] = check({block.get(), got}, outcome);
    if (good == skipped) return std::nullopt;
    outcome.events = Slice(block, {block.get() + skipped, good - skipped});
    return outcome;
}

Result<ReadOutcome> ColdRead::read_from(io::File& file, const Start& start) const {
    const Offset base = segment->name().base;
    ReadOutcome outcome{{}, std::nullopt, start.offset, start.sequence};
    std::size_t wanted = std::max(bytes_max, read_bytes_min);
    while (outcome.next < end) {
        const auto room = static_cast<std::size_t>(end.value - outcome.next.value);
        const std::size_t size = std::min(wanted, room);
        auto block = std::make_shared_for_overwrite<std::byte[]>(size);
        EK_TRY_ASSIGN(const std::size_t got,
                      file.read(file_position(base, outcome.next), {block.get(), size}));

        const auto [good, skipped] = check({block.get(), got}, outcome);
        if (good > skipped) {
            outcome.events = Slice(block, {block.get() + skipped, good - skipped});
            if (good == got && got == size) return outcome;
        } else if (good > 0 && good == got && got == size) {
            continue;  // all of it came before the target
        }
        // Something is wrong, or the record is larger than what was read of it.
        const auto claimed = claimed_bytes({block.get() + good, got - good});
        const bool cut =
            got == size && size < room && (got - good < record_header_bytes || claimed);
        if (cut && good > 0) {
            if (!outcome.events.empty()) return outcome;
            continue;
        }
        if (cut && claimed && *claimed > size && *claimed <= room) {
            wanted = *claimed;
            continue;
        }
        EK_TRY_ASSIGN(const Damage damage,
                      measure_damage(file, outcome.next, outcome.next_sequence));
        outcome.next = damage.end;
        outcome.next_sequence = damage.to;
        if (matters(damage) || !outcome.events.empty()) {
            outcome.damage = damage;
            return outcome;
        }
    }
    return outcome;
}

Result<Damage> ColdRead::measure_damage(io::File& file, Offset begin, SequenceNumber number) const {
    Scanner scanner(file, segment->name().base, end, seed);
    EK_TRY_ASSIGN(const auto good, scanner.find(begin + 8, number, end_sequence));
    // The next segment's name may say that it begins with a number that was used here already.
    const SequenceNumber to = good ? good->sequence : std::max(number, end_sequence);
    return Damage{number, to, begin, good ? good->offset : end, segment->log_path()};
}

bool ColdRead::matters(const Damage& damage) const {
    if (!target) return true;
    switch (target->field) {
        case Target::Field::offset: return damage.end.value > target->value;
        case Target::Field::sequence: return damage.to.value > target->value;
        case Target::Field::enqueued: return true;  // its times are not known
    }
    return true;
}

Result<std::vector<IndexEntry>> scan_index(io::File& file, const SegmentName& name, Offset end,
                                           std::uint32_t seed, std::uint64_t distance) {
    std::vector<IndexEntry> index;
    Scanner scanner(file, name.base, end, seed);
    Offset at = name.base;
    SequenceNumber sequence = name.base_sequence;
    while (at < end) {
        EK_TRY_ASSIGN(auto record, scanner.at(at, sequence));
        if (!record) {
            EK_TRY_ASSIGN(record, scanner.find(at + 8, sequence));
            if (!record) break;
        }
        const Offset last = index.empty() ? name.base : index.back().offset;
        if (static_cast<std::uint64_t>(record->offset.value - last.value) >= distance) {
            index.push_back({record->offset, record->sequence, record->enqueued});
        }
        at = record->offset + static_cast<std::int64_t>(stored_bytes(*record));
        sequence = record->sequence + 1;
    }
    return index;
}

}  // namespace evenkeel::commitlog
