#include "checkpoint/redis/text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/number.h"
#include "checkpoint/member_text.h"

namespace evenkeel::checkpoint {

namespace {

Error damaged(std::string_view what, std::string_view which) {
    return {ErrorCode::corrupt,
            fmt::format("the Redis store's {} '{}' is damaged, or of another program; remove it or "
                        "restore it",
                        what, which)};
}

// The text up to the next blank, which goes with it.
std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

Duration age_of(std::int64_t written_us, std::int64_t now_us) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 1000;
    return std::chrono::microseconds(std::clamp<std::int64_t>(now_us - written_us, 0, most));
}

}  // namespace

std::optional<std::int64_t> redis_time_us(std::string_view seconds, std::string_view microseconds) {
    constexpr std::int64_t seconds_max = 1'000'000'000'000;  // in some 30,000 years
    const auto whole = parse_number<std::int64_t>(seconds);
    const auto rest = parse_number<std::int64_t>(microseconds);
    if (!whole || *whole < 0 || *whole > seconds_max) return std::nullopt;
    if (!rest || *rest < 0 || *rest >= 1'000'000) return std::nullopt;
    return *whole * 1'000'000 + *rest;
}

std::string encode_strings(const std::vector<std::string>& strings) {
    std::string text;
    for (const std::string& each : strings) {
        text += std::to_string(each.size());
        text += ':';
        text += each;
        text += ',';
    }
    return text;
}

std::optional<std::vector<std::string>> decode_strings(std::string_view text, std::size_t count) {
    std::vector<std::string> strings;
    while (!text.empty()) {
        const std::size_t colon = text.find(':');
        std::size_t size = 0;
        if (colon == text.npos || !read_number(text.substr(0, colon), size)) return std::nullopt;
        text.remove_prefix(colon + 1);
        if (text.size() <= size || text[size] != ',') return std::nullopt;
        strings.emplace_back(text.substr(0, size));
        text.remove_prefix(size + 1);
    }
    if (strings.size() != count) return std::nullopt;
    return strings;
}

std::optional<RedisEntry> parse_redis_entry(std::string_view stored) {
    RedisEntry entry;
    entry.version = take_word(stored);
    std::size_t size = 0;
    if (entry.version.empty() || !read_number(take_word(stored), entry.written_us) ||
        !read_number(take_word(stored), size) || size > stored.size()) {
        return std::nullopt;
    }
    entry.meaning = stored.substr(0, size);
    entry.detail = stored.substr(size);
    return entry;
}

RedisEntry to_redis(const Member& member) {
    return {.meaning =
                encode_strings({member.incarnation, std::string(state_name(member.state)),
                                std::to_string(member.restarts), std::to_string(member.generation),
                                member.expecting ? "1" : "0", encode_offers(member.offers)}),
            .detail = encode_strings({std::to_string(member.since_ms), member.note})};
}

RedisEntry to_redis(const Ownership& ownership) {
    return {.meaning = encode_strings({ownership.owner, std::to_string(ownership.epoch.value)}),
            .detail = encode_strings(
                {std::to_string(ownership.since_ms),
                 fmt::format("{}", std::isfinite(ownership.load) ? ownership.load : 0.0)})};
}

Result<Member> member_of(const std::string& id, std::string_view stored, std::int64_t now_us) {
    const auto entry = parse_redis_entry(stored);
    if (!entry) return damaged("member", id);
    const auto meaning = decode_strings(entry->meaning, 6);
    const auto detail = decode_strings(entry->detail, 2);
    Member member{.id = id, .incarnation = {}};
    if (!meaning || !detail || !read_number((*meaning)[2], member.restarts) ||
        !read_number((*meaning)[3], member.generation) ||
        !read_number((*detail)[0], member.since_ms)) {
        return damaged("member", id);
    }
    member.incarnation = (*meaning)[0];
    member.state = state_named((*meaning)[1]);
    member.expecting = (*meaning)[4] == "1";
    member.offers = decode_offers((*meaning)[5]);
    member.note = (*detail)[1];
    member.version = entry->version;
    member.age = age_of(entry->written_us, now_us);
    return member;
}

Result<Ownership> ownership_of(const std::string& partition, std::string_view stored,
                               std::int64_t now_us) {
    const auto entry = parse_redis_entry(stored);
    if (!entry) return damaged("ownership of partition", partition);
    const auto meaning = decode_strings(entry->meaning, 2);
    const auto detail = decode_strings(entry->detail, 2);
    Ownership ownership{};
    if (!meaning || !detail || !read_number(partition, ownership.partition.value) ||
        !read_number((*meaning)[1], ownership.epoch.value) ||
        !read_number((*detail)[0], ownership.since_ms)) {
        return damaged("ownership of partition", partition);
    }
    ownership.owner = (*meaning)[0];
    ownership.load = std::strtod((*detail)[1].c_str(), nullptr);
    ownership.version = entry->version;
    ownership.age = age_of(entry->written_us, now_us);
    return ownership;
}

Result<Record> record_of(const std::string& key, std::string_view stored) {
    auto entry = parse_redis_entry(stored);
    if (!entry) return damaged("record", key);
    return Record{.key = key, .value = std::move(entry->detail), .version = entry->version};
}

Result<Checkpoint> checkpoint_of(const std::string& partition, std::string_view stored) {
    Checkpoint checkpoint{};
    const bool is_read = read_number(partition, checkpoint.partition.value) &&
                         read_number(take_word(stored), checkpoint.epoch.value) &&
                         read_number(take_word(stored), checkpoint.sequence.value) &&
                         read_number(take_word(stored), checkpoint.attempts) &&
                         read_number(take_word(stored), checkpoint.hub_created_ms) &&
                         read_number(take_word(stored), checkpoint.enqueued_ms) &&
                         read_number(take_word(stored), checkpoint.written_ms);
    if (!is_read) return damaged("checkpoint of partition", partition);
    checkpoint.offset = stored;
    return checkpoint;
}

std::string to_redis(const DeadLetter& letter) {
    return encode_strings({letter.offset, std::to_string(letter.enqueued_ms), letter.partition_key,
                           letter.cause, std::to_string(letter.attempts),
                           std::to_string(letter.at_ms), std::string(as_text(letter.sections))});
}

std::string letter_field(const DeadLetterId& id) {
    return fmt::format("{}:{}", id.partition.value, id.sequence.value);
}

Result<DeadLetterId> dead_letter_id_of(const std::string& field) {
    const std::size_t colon = field.find(':');
    DeadLetterId id{};
    const bool is_read =
        colon != field.npos &&
        read_number(std::string_view(field).substr(0, colon), id.partition.value) &&
        read_number(std::string_view(field).substr(colon + 1), id.sequence.value);
    if (!is_read) return damaged("dead letter", field);
    return id;
}

Result<DeadLetter> dead_letter_of(const std::string& field, std::string_view stored) {
    EK_TRY_ASSIGN(const DeadLetterId id, dead_letter_id_of(field));
    auto parts = decode_strings(stored, 7);
    DeadLetter letter{.partition = id.partition, .sequence = id.sequence};
    const bool is_read = parts && read_number((*parts)[1], letter.enqueued_ms) &&
                         read_number((*parts)[4], letter.attempts) &&
                         read_number((*parts)[5], letter.at_ms);
    if (!is_read) return damaged("dead letter", field);
    letter.offset = std::move((*parts)[0]);
    letter.partition_key = std::move((*parts)[2]);
    letter.cause = std::move((*parts)[3]);
    const ByteView sections = as_bytes((*parts)[6]);
    letter.sections.assign(sections.begin(), sections.end());
    return letter;
}

}  // namespace evenkeel::checkpoint
