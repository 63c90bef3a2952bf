// Our entries as Redis keeps them, and back: docs/formats/redis.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

// "3:abc,0:,": any bytes, one after another.
std::string encode_strings(const std::vector<std::string>& strings);
// None if it is not such a text, or has another count.
std::optional<std::vector<std::string>> decode_strings(std::string_view text, std::size_t count);

// What is compared to tell a change from a heartbeat, and the rest.
struct RedisEntry {
    std::string version = {};
    std::int64_t written_us = 0;
    std::string meaning = {};
    std::string detail = {};
};
std::optional<RedisEntry> parse_redis_entry(std::string_view stored);

RedisEntry to_redis(const Member& member);
RedisEntry to_redis(const Ownership& ownership);
// `now_us` is the server's time. Errors are `corrupt`, and name the entry.
Result<Member> member_of(const std::string& id, std::string_view stored, std::int64_t now_us);
Result<Ownership> ownership_of(const std::string& partition, std::string_view stored,
                               std::int64_t now_us);
Result<Record> record_of(const std::string& key, std::string_view stored);
Result<Checkpoint> checkpoint_of(const std::string& partition, std::string_view stored);

// The server's time from the two numbers of its reply to TIME, in microseconds; none if they are
// not such.
std::optional<std::int64_t> redis_time_us(std::string_view seconds, std::string_view microseconds);

std::string to_redis(const DeadLetter& letter);
// The field that it lies in: "3:1204".
std::string letter_field(const DeadLetterId& id);
Result<DeadLetterId> dead_letter_id_of(const std::string& field);
Result<DeadLetter> dead_letter_of(const std::string& field, std::string_view stored);

}  // namespace evenkeel::checkpoint
