#include "checkpoint/memory/table.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

// What others act upon; the rest changes with every heartbeat or renewal.
auto meaning(const Member& member) {
    return std::tie(member.incarnation, member.state, member.restarts, member.generation,
                    member.expecting, member.offers);
}

auto meaning(const Ownership& ownership) {
    return std::tie(ownership.owner, ownership.epoch);
}

}  // namespace

std::vector<Member> Table::members(Moment at) const {
    std::vector<Member> listed;
    listed.reserve(members_.size());
    for (const auto& [id, entry] : members_) {
        listed.push_back(entry.value);
        listed.back().age = at.now - entry.written;
    }
    return listed;
}

std::vector<Ownership> Table::ownerships(Moment at) const {
    std::vector<Ownership> listed;
    listed.reserve(ownerships_.size());
    for (const auto& [partition, entry] : ownerships_) {
        listed.push_back(entry.value);
        listed.back().age = at.now - entry.written;
    }
    return listed;
}

std::vector<Checkpoint> Table::checkpoints() const {
    std::vector<Checkpoint> listed;
    listed.reserve(checkpoints_.size());
    for (const auto& [partition, checkpoint] : checkpoints_) listed.push_back(checkpoint);
    return listed;
}

std::vector<DeadLetter> Table::dead_letters(const DeadLetterPage& page) const {
    std::vector<DeadLetter> listed;
    auto each = page.after ? dead_letters_.upper_bound(*page.after) : dead_letters_.begin();
    for (; each != dead_letters_.end() && listed.size() < page.count_max; ++each) {
        listed.push_back(each->second);
    }
    return listed;
}

std::map<PartitionId, std::uint64_t> Table::dead_letter_counts() const {
    std::map<PartitionId, std::uint64_t> counts;
    for (const auto& [id, letter] : dead_letters_) ++counts[id.partition];
    return counts;
}

Result<std::string> Table::write_member(const Member& member, Moment at) {
    const auto found = members_.find(member.id);
    const std::string stored = found == members_.end() ? "" : found->second.value.version;
    if (member.version != stored) {
        return version_conflict("member '" + member.id + "'", member.version, stored);
    }
    if (found == members_.end() || meaning(found->second.value) != meaning(member)) ++changes_;
    Entry<Member>& entry = members_[member.id];
    entry = {member, at.now};
    entry.value.version = next_version();
    return entry.value.version;
}

Result<> Table::remove_member(std::string_view id, std::string_view version) {
    const auto found = members_.find(id);
    if (found == members_.end()) return {};
    if (found->second.value.version != version) {
        return version_conflict(fmt::format("member '{}'", id), version,
                                found->second.value.version);
    }
    members_.erase(found);
    ++changes_;
    return {};
}

Result<std::string> Table::write_ownership(const Ownership& ownership, Moment at) {
    const auto found = ownerships_.find(ownership.partition);
    const std::string stored = found == ownerships_.end() ? "" : found->second.value.version;
    if (ownership.version != stored) {
        return version_conflict(fmt::format("ownership of partition {}", ownership.partition.value),
                                ownership.version, stored);
    }
    if (found == ownerships_.end() || meaning(found->second.value) != meaning(ownership)) {
        ++changes_;
    }
    Entry<Ownership>& entry = ownerships_[ownership.partition];
    entry = {ownership, at.now};
    entry.value.version = next_version();
    return entry.value.version;
}

Result<Checkpoint> Table::seal(PartitionId partition, Epoch epoch, Moment at) {
    const auto [found, is_new] =
        checkpoints_.try_emplace(partition, Checkpoint{.partition = partition});
    Checkpoint& stored = found->second;
    if (epoch < stored.epoch) return epoch_fenced(partition, epoch, stored.epoch);
    stored.epoch = epoch;
    if (is_new) stored.written_ms = at.wall.milliseconds;
    return stored;
}

Result<> Table::write_checkpoint(const Checkpoint& checkpoint, Moment at) {
    const auto found = checkpoints_.find(checkpoint.partition);
    if (found != checkpoints_.end()) {
        const Checkpoint& stored = found->second;
        if (checkpoint.epoch < stored.epoch) {
            return epoch_fenced(checkpoint.partition, checkpoint.epoch, stored.epoch);
        }
        if (std::pair(checkpoint.sequence, checkpoint.attempts) <
            std::pair(stored.sequence, stored.attempts)) {
            return position_conflict(checkpoint, stored);
        }
    }
    Checkpoint& stored = checkpoints_[checkpoint.partition];
    stored = checkpoint;
    stored.written_ms = at.wall.milliseconds;
    return {};
}

void Table::reset_checkpoint(const Checkpoint& checkpoint, Moment at) {
    Checkpoint& stored = checkpoints_[checkpoint.partition];
    const Epoch epoch = std::max(stored.epoch, checkpoint.epoch);
    stored = checkpoint;
    stored.epoch = epoch;
    stored.written_ms = at.wall.milliseconds;
}

void Table::add_dead_letter(const DeadLetter& letter) {
    dead_letters_.try_emplace(DeadLetterId{letter.partition, letter.sequence}, letter);
}

std::vector<Record> Table::records(std::string_view prefix) const {
    std::vector<Record> listed;
    for (auto each = records_.lower_bound(prefix);
         each != records_.end() && each->first.starts_with(prefix); ++each) {
        listed.push_back(each->second);
    }
    return listed;
}

Result<std::string> Table::write_record(const Record& record) {
    EK_TRY(check(record));
    const auto found = records_.find(record.key);
    const bool is_removal = record.value.empty();
    if (is_removal && found == records_.end()) return std::string();
    const std::string stored = found == records_.end() ? "" : found->second.version;
    if (record.version != stored) {
        return version_conflict("record '" + record.key + "'", record.version, stored);
    }
    if (is_removal) {
        records_.erase(found);
        return std::string();
    }
    Record& written = records_[record.key];
    written = record;
    written.version = next_version();
    return written.version;
}

std::string Table::next_version() {
    return std::to_string(++last_version_);
}

Error version_conflict(std::string_view what, std::string_view given, std::string_view stored) {
    const auto shown = [](std::string_view version) {
        return version.empty() ? std::string("none") : fmt::format("version {}", version);
    };
    return {ErrorCode::conflict,
            fmt::format("{}: expected {}, the store has {}", what, shown(given), shown(stored))};
}

Error epoch_fenced(PartitionId partition, Epoch given, Epoch stored) {
    return {ErrorCode::fenced,
            fmt::format("checkpoint of partition {}: epoch {} was replaced by epoch {}",
                        partition.value, given.value, stored.value)};
}

Error position_conflict(const Checkpoint& given, const Checkpoint& stored) {
    return {ErrorCode::conflict,
            fmt::format("checkpoint of partition {}: sequence number {} (attempts {}) is behind "
                        "the stored {} (attempts {})",
                        given.partition.value, given.sequence.value, given.attempts,
                        stored.sequence.value, stored.attempts)};
}

}  // namespace evenkeel::checkpoint
