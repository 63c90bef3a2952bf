#include "processor/ownership/parked.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Record;

namespace {

constexpr std::size_t reason_bytes_max = 1024;
constexpr std::size_t name_bytes_max = 200;

}  // namespace

std::string parked_key(PartitionId partition) {
    return fmt::format("{}{}", parked_prefix, partition.value);
}

std::optional<PartitionId> partition_of_parked(std::string_view key) {
    if (!key.starts_with(parked_prefix)) return std::nullopt;
    const auto number = parse_number<std::uint32_t>(key.substr(parked_prefix.size()));
    if (!number) return std::nullopt;
    return PartitionId{*number};
}

std::string encode(const Parked& parked) {
    return fmt::format("{}\t{}\t{}\t{}", parked.at_ms, parked.is_storm ? "storm" : "park",
                       printable(parked.by, name_bytes_max),
                       printable(parked.reason, reason_bytes_max));
}

Parked decode_parked(std::string_view text) {
    const auto word = [&] {
        const std::string_view found = text.substr(0, text.find('\t'));
        text.remove_prefix(std::min(text.size(), found.size() + 1));
        return found;
    };
    Parked parked;
    if (!read_number(word(), parked.at_ms)) return {.reason = "unknown"};
    parked.is_storm = word() == "storm";
    parked.by = word();
    parked.reason = text;
    return parked;
}

std::optional<Parked> ParkedPartitions::find(PartitionId partition) const {
    const auto found = entries_.find(partition);
    if (found == entries_.end() || found->second.value.empty()) return std::nullopt;
    return decode_parked(found->second.value);
}

void ParkedPartitions::want(PartitionId partition, std::string value) {
    loop_.check_here();
    Entry& entry = entries_[partition];
    entry.value = std::move(value);
    entry.is_stored = false;
    if (!entry.is_under_way) write(partition);
}

void ParkedPartitions::write(PartitionId partition) {
    entries_[partition].is_under_way = true;
    const std::string key = parked_key(partition);
    store_.list_records(
        key, lifetime_.guard([this, partition, key](const Result<std::vector<Record>>& listed) {
            if (!listed.ok()) return written(partition, "", listed.error());
            std::string version;
            for (const Record& each : *listed) {
                if (each.key == key) version = each.version;
            }
            write_over(partition, version);
        }));
}

void ParkedPartitions::write_over(PartitionId partition, const std::string& version) {
    const std::string value = entries_[partition].value;
    store_.write_record({parked_key(partition), value, version},
                        lifetime_.guard([this, partition, value](const Result<std::string>& done) {
                            written(partition, value, done.ok() ? Result<>() : done.error());
                        }));
}

void ParkedPartitions::written(PartitionId partition, const std::string& value,
                               const Result<>& result) {
    Entry& entry = entries_[partition];
    entry.is_under_way = false;
    if (result.ok()) {
        failures_ = 0;
        entry.is_fresh = true;
        entry.is_stored = entry.value == value;
        if (!entry.is_stored) write(partition);
        return;
    }
    const Duration delay = restart_delay(++failures_, random_);
    if (!timer_.is_pending()) timer_.run_after(delay, [this] { write_all(); });
    told_.failed(partition, result.error(), delay);
}

void ParkedPartitions::write_all() {
    std::vector<PartitionId> due;
    for (const auto& [partition, entry] : entries_) {
        if (!entry.is_stored && !entry.is_under_way) due.push_back(partition);
    }
    for (const PartitionId partition : due) write(partition);
}

void ParkedPartitions::seen(const std::map<PartitionId, Parked>& parked) {
    bool is_changed = false;
    for (auto each = entries_.begin(); each != entries_.end();) {
        Entry& entry = each->second;
        const auto found = parked.find(each->first);
        const std::string value = found == parked.end() ? "" : encode(found->second);
        const bool is_ours = !entry.is_stored || entry.is_under_way || entry.is_fresh;
        entry.is_fresh = false;
        if (!is_ours) {
            is_changed = is_changed || value.empty() != entry.value.empty();
            entry.value = value;
        }
        each = !is_ours && value.empty() ? entries_.erase(each) : std::next(each);
    }
    for (const auto& [partition, found] : parked) {
        if (entries_.contains(partition)) continue;
        entries_[partition].value = encode(found);
        is_changed = true;
    }
    if (is_changed) told_.changed();
}

}  // namespace evenkeel::processor
