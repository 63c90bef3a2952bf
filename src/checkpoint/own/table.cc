#include "checkpoint/own/table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/memory/table.h"

namespace evenkeel::checkpoint {
namespace {

using StoredEntry = CheckpointStore::Entry;

template <typename T, typename Read>
Result<std::vector<T>> read_all(Result<std::vector<StoredEntry>> listed, Read read) {
    EK_TRY_ASSIGN(const auto entries, std::move(listed));
    std::vector<T> all;
    all.reserve(entries.size());
    for (const auto& entry : entries) {
        EK_TRY_ASSIGN(T one, read(entry));
        all.push_back(std::move(one));
    }
    return all;
}

template <typename T, typename Key>
Result<std::vector<T>> sorted(Result<std::vector<T>> all, Key key) {
    if (all.ok()) std::ranges::sort(*all, {}, key);
    return all;
}

}  // namespace

Result<std::vector<Member>> OwnTable::members() {
    const auto read = [](const StoredEntry& entry) { return member_of(entry); };
    return sorted(read_all<Member>(store_->list(keys_.kind("member")), read), &Member::id);
}

Result<std::string> OwnTable::write_member(const Member& member) {
    EK_TRY_ASSIGN(const std::string key, keys_.member(member.id));
    return store_->put(key, to_value(member), member.version);
}

Result<> OwnTable::remove_member(std::string_view id, const std::string& version) {
    EK_TRY_ASSIGN(const std::string key, keys_.member(id));
    return store_->remove(key, version);
}

Result<std::vector<Ownership>> OwnTable::ownerships() {
    const auto read = [](const StoredEntry& entry) { return ownership_of(entry); };
    return sorted(read_all<Ownership>(store_->list(keys_.kind("ownership")), read),
                  &Ownership::partition);
}

Result<std::string> OwnTable::write_ownership(const Ownership& ownership) {
    return store_->put(keys_.ownership(ownership.partition), to_value(ownership),
                       ownership.version);
}

Result<std::vector<Checkpoint>> OwnTable::checkpoints() {
    const auto read = [](const StoredEntry& entry) { return checkpoint_of(entry); };
    return sorted(read_all<Checkpoint>(store_->list(keys_.kind("checkpoint")), read),
                  &Checkpoint::partition);
}

Result<OwnTable::Known> OwnTable::read(PartitionId partition) {
    EK_TRY_ASSIGN(const auto entry, store_->get(keys_.checkpoint(partition)));
    Known known{Checkpoint{.partition = partition}, ""};
    if (entry) {
        EK_TRY_ASSIGN(known.checkpoint, checkpoint_of(*entry));
        known.version = entry->version;
    }
    return known;
}

template <typename Change>
Result<Checkpoint> OwnTable::change(PartitionId partition, Change change) {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        const auto found = known_.find(partition);
        const bool may_be_old = found != known_.end();
        if (!may_be_old) {
            EK_TRY_ASSIGN(Known known, read(partition));
            known_.insert_or_assign(partition, std::move(known));
        }
        Known& known = known_.at(partition);
        Checkpoint wanted = known.checkpoint;
        const Result<bool> judged = change(wanted, known.version.empty());
        if (judged.ok() && !*judged && !may_be_old) return wanted;
        if (judged.ok() && *judged) {
            auto version =
                store_->put(keys_.checkpoint(partition), to_value(wanted), known.version);
            if (version.ok()) {
                known = {wanted, std::move(*version)};
                return wanted;
            }
            known_.erase(partition);
            if (version.error().code != ErrorCode::conflict) return version.error();
            continue;
        }
        // Judged by what may be old: look again.
        known_.erase(partition);
        if (!may_be_old) return judged.error();
    }
    return Error{ErrorCode::overloaded,
                 fmt::format("checkpoint of partition {}: others were faster {} times",
                             partition.value, attempts_max)};
}

Result<Checkpoint> OwnTable::seal(PartitionId partition, Epoch epoch, WallTime now) {
    return change(partition, [&](Checkpoint& stored, bool is_new) -> Result<bool> {
        if (epoch < stored.epoch) return epoch_fenced(partition, epoch, stored.epoch);
        if (is_new) stored.written_ms = now.milliseconds;
        const bool is_changed = is_new || stored.epoch != epoch;
        stored.epoch = epoch;
        return is_changed;
    });
}

Result<> OwnTable::write_checkpoint(const Checkpoint& checkpoint, WallTime now) {
    const auto written =
        change(checkpoint.partition, [&](Checkpoint& stored, bool is_new) -> Result<bool> {
            if (!is_new && checkpoint.epoch < stored.epoch) {
                return epoch_fenced(checkpoint.partition, checkpoint.epoch, stored.epoch);
            }
            if (!is_new && std::pair(checkpoint.sequence, checkpoint.attempts) <
                               std::pair(stored.sequence, stored.attempts)) {
                return position_conflict(checkpoint, stored);
            }
            stored = checkpoint;
            stored.written_ms = now.milliseconds;
            return true;
        });
    if (!written.ok()) return written.error();
    return {};
}

Result<> OwnTable::reset_checkpoint(const Checkpoint& checkpoint, WallTime now) {
    const auto written =
        change(checkpoint.partition, [&](Checkpoint& stored, bool) -> Result<bool> {
            const Epoch epoch = std::max(stored.epoch, checkpoint.epoch);
            stored = checkpoint;
            stored.epoch = epoch;
            stored.written_ms = now.milliseconds;
            return true;
        });
    if (!written.ok()) return written.error();
    return {};
}

Result<> OwnTable::add_dead_letter(const DeadLetter& letter) {
    const auto version =
        store_->put(keys_.dead_letter(letter.partition, letter.sequence), to_value(letter), "");
    // It is there already.
    if (version.ok() || version.error().code == ErrorCode::conflict) return {};
    return version.error();
}

Result<std::vector<DeadLetter>> OwnTable::dead_letters(const DeadLetterPage& page) {
    const auto read = [](const StoredEntry& entry) { return dead_letter_of(entry); };
    const auto id = [](const DeadLetter& letter) {
        return DeadLetterId{letter.partition, letter.sequence};
    };
    auto letters = sorted(read_all<DeadLetter>(store_->list(keys_.kind("dead")), read), id);
    if (!letters.ok()) return letters;
    if (page.after) {
        std::erase_if(*letters,
                      [&](const DeadLetter& letter) { return id(letter) <= *page.after; });
    }
    if (letters->size() > page.count_max) letters->resize(page.count_max);
    return letters;
}

Result<std::map<PartitionId, std::uint64_t>> OwnTable::dead_letter_counts() {
    EK_TRY_ASSIGN(const auto letters,
                  dead_letters({.count_max = std::numeric_limits<std::size_t>::max()}));
    std::map<PartitionId, std::uint64_t> counts;
    for (const DeadLetter& letter : letters) ++counts[letter.partition];
    return counts;
}

Result<> OwnTable::remove_dead_letter(const DeadLetterId& id) {
    const std::string key = keys_.dead_letter(id.partition, id.sequence);
    EK_TRY_ASSIGN(const auto found, store_->get(key));
    if (!found) return {};
    return store_->remove(key, found->version);
}

Result<std::vector<Record>> OwnTable::records(std::string_view prefix) {
    const std::string kind = keys_.kind("record");
    auto records = read_all<Record>(store_->list(kind), [&](const StoredEntry& entry) {
        return Result<Record>(record_of(entry, kind));
    });
    if (records.ok()) {
        std::erase_if(*records, [&](const Record& each) { return !each.key.starts_with(prefix); });
    }
    return sorted(std::move(records), &Record::key);
}

Result<std::string> OwnTable::write_record(const Record& record) {
    const std::string key = keys_.record(record.key);
    if (!record.value.empty()) return store_->put(key, record.value, record.version);
    EK_TRY(store_->remove(key, record.version));
    return std::string();
}

}  // namespace evenkeel::checkpoint
