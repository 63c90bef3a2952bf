#include "checkpoint/own/entries.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/number.h"
#include "base/percent.h"
#include "checkpoint/member_text.h"
#include "checkpoint/redis/text.h"

namespace evenkeel::checkpoint {
namespace {

using Entry = CheckpointStore::Entry;

constexpr std::string_view empty_name = "%";  // what no encoded name is
constexpr std::string_view first_dot = "%2E";
constexpr std::string_view slash = "%2F";

std::string_view last_part(std::string_view key) {
    return key.substr(key.rfind('/') + 1);
}

Error damaged(const Entry& entry) {
    return {ErrorCode::corrupt,
            fmt::format("the checkpoint store's entry '{}' is damaged, or of another program; "
                        "remove it or restore it",
                        entry.key)};
}

std::string text(double value) {
    return fmt::format("{}", std::isfinite(value) ? value : 0.0);
}

}  // namespace

std::string key_part(std::string_view name) {
    if (name.empty()) return std::string(empty_name);
    std::string part = percent_encoded(name);
    if (part.front() == '.') part.replace(0, 1, first_dot);
    return part;
}

Result<OwnKeys> OwnKeys::of(const GroupName& group) {
    const GroupName names = lower_cased(group);
    std::string prefix;
    for (const std::string* name : {&names.hub_namespace, &names.event_hub, &names.group}) {
        const std::string part = key_part(*name);
        if (part.size() > key_part_bytes_max) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is too long a name for an own store", *name)};
        }
        prefix += part + "/";
    }
    return OwnKeys(std::move(prefix));
}

std::string OwnKeys::kind(std::string_view name) const {
    return fmt::format("{}{}/", prefix_, name);
}

Result<std::string> OwnKeys::member(std::string_view id) const {
    const std::string part = key_part(id);
    if (part.size() > key_part_bytes_max) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("'{}' is too long an id for an own store", id)};
    }
    return kind("member") + part;
}

std::string OwnKeys::ownership(PartitionId partition) const {
    return kind("ownership") + std::to_string(partition.value);
}

std::string OwnKeys::checkpoint(PartitionId partition) const {
    return kind("checkpoint") + std::to_string(partition.value);
}

std::string OwnKeys::dead_letter(PartitionId partition, SequenceNumber sequence) const {
    return fmt::format("{}{}/{}", kind("dead"), partition.value, sequence.value);
}

// One part, though a record's key has slashes: another key may go on behind it. They are of a-z,
// 0-9, '-', '.' and '/'.
std::string OwnKeys::record(std::string_view key) const {
    std::string part = key_part(key);
    for (std::size_t at; (at = part.find(slash)) != part.npos;) part.replace(at, slash.size(), "~");
    return kind("record") + part;
}

std::string to_value(const Member& member) {
    return encode_strings({member.incarnation, std::string(state_name(member.state)),
                           std::to_string(member.since_ms), member.note,
                           std::to_string(member.restarts), std::to_string(member.generation),
                           member.expecting ? "1" : "0", encode_offers(member.offers)});
}

std::string to_value(const Ownership& ownership) {
    return encode_strings({ownership.owner, std::to_string(ownership.epoch.value),
                           std::to_string(ownership.since_ms), text(ownership.load)});
}

std::string to_value(const Checkpoint& checkpoint) {
    return encode_strings(
        {std::to_string(checkpoint.sequence.value), checkpoint.offset,
         std::to_string(checkpoint.epoch.value), std::to_string(checkpoint.attempts),
         std::to_string(checkpoint.hub_created_ms), std::to_string(checkpoint.enqueued_ms),
         std::to_string(checkpoint.written_ms)});
}

std::string to_value(const DeadLetter& letter) {
    return encode_strings({std::to_string(letter.partition.value),
                           std::to_string(letter.sequence.value), letter.offset,
                           std::to_string(letter.enqueued_ms), letter.partition_key, letter.cause,
                           std::to_string(letter.attempts), std::to_string(letter.at_ms),
                           std::string(as_text(letter.sections))});
}

Result<Member> member_of(const Entry& entry) {
    const auto fields = decode_strings(entry.value, 8);
    const std::string_view part = last_part(entry.key);
    Member member{.id = part == empty_name ? std::string() : percent_decoded(part),
                  .incarnation = {}};
    if (!fields || !read_number((*fields)[2], member.since_ms) ||
        !read_number((*fields)[4], member.restarts) ||
        !read_number((*fields)[5], member.generation)) {
        return damaged(entry);
    }
    member.incarnation = (*fields)[0];
    member.state = state_named((*fields)[1]);
    member.note = (*fields)[3];
    member.expecting = (*fields)[6] == "1";
    member.offers = decode_offers((*fields)[7]);
    member.version = entry.version;
    member.age = entry.age;
    return member;
}

Result<Ownership> ownership_of(const Entry& entry) {
    const auto fields = decode_strings(entry.value, 4);
    Ownership ownership{};
    if (!fields || !read_number(last_part(entry.key), ownership.partition.value) ||
        !read_number((*fields)[1], ownership.epoch.value) ||
        !read_number((*fields)[2], ownership.since_ms)) {
        return damaged(entry);
    }
    ownership.owner = (*fields)[0];
    ownership.load = std::strtod((*fields)[3].c_str(), nullptr);
    ownership.version = entry.version;
    ownership.age = entry.age;
    return ownership;
}

Result<Checkpoint> checkpoint_of(const Entry& entry) {
    const auto fields = decode_strings(entry.value, 7);
    Checkpoint checkpoint{};
    if (!fields || !read_number(last_part(entry.key), checkpoint.partition.value) ||
        !read_number((*fields)[0], checkpoint.sequence.value) ||
        !read_number((*fields)[2], checkpoint.epoch.value) ||
        !read_number((*fields)[3], checkpoint.attempts) ||
        !read_number((*fields)[4], checkpoint.hub_created_ms) ||
        !read_number((*fields)[5], checkpoint.enqueued_ms) ||
        !read_number((*fields)[6], checkpoint.written_ms)) {
        return damaged(entry);
    }
    checkpoint.offset = (*fields)[1];
    return checkpoint;
}

Result<DeadLetter> dead_letter_of(const Entry& entry) {
    const auto fields = decode_strings(entry.value, 9);
    DeadLetter letter{};
    if (!fields || !read_number((*fields)[0], letter.partition.value) ||
        !read_number((*fields)[1], letter.sequence.value) ||
        !read_number((*fields)[3], letter.enqueued_ms) ||
        !read_number((*fields)[6], letter.attempts) || !read_number((*fields)[7], letter.at_ms)) {
        return damaged(entry);
    }
    letter.offset = (*fields)[2];
    letter.partition_key = (*fields)[4];
    letter.cause = (*fields)[5];
    const ByteView sections = as_bytes((*fields)[8]);
    letter.sections.assign(sections.begin(), sections.end());
    return letter;
}

Record record_of(const Entry& entry, std::string_view kind) {
    std::string key = percent_decoded(std::string_view(entry.key).substr(kind.size()));
    std::ranges::replace(key, '~', '/');
    return {.key = std::move(key), .value = entry.value, .version = entry.version};
}

}  // namespace evenkeel::checkpoint
