// What a Redis server does in one step, as Lua scripts: compare-and-set of an entry, and the fenced
// checkpoint. Format: docs/formats/redis.md.
#pragma once

#include <array>

namespace evenkeel::checkpoint {

struct RedisScript {
    const char* source;
};

// Numbers are decimal texts of up to 64 bits, which Lua's own numbers cannot hold.
//
// KEYS: the hash. ARGV: field, expected version ("" = none), new version, meaning, detail, channel
// ("" = no message is sent), our name. Without meaning and detail it is removed. An entry is
// "VERSION MICROSECONDS MEANING-SIZE MEANING DETAIL". Answers {1 or 0, the version stored now}.
inline constexpr RedisScript write_entry_script{R"(
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local version, size = '', 0
if stored then
    local v, s = string.match(stored, '^(%S+) %d+ (%d+) ')
    if not v then return redis.error_reply('EVENKEEL ' .. KEYS[1] .. ' is damaged') end
    version, size = v, tonumber(s)
end
local is_removal = ARGV[4] == '' and ARGV[5] == ''
if is_removal and version == '' then return {1, ''} end
if version ~= ARGV[2] then return {0, version} end
local is_news = true
if is_removal then
    redis.call('HDEL', KEYS[1], ARGV[1])
else
    if stored then
        local first = string.find(stored, ' ', string.find(stored, ' ', #version + 2) + 1) + 1
        is_news = string.sub(stored, first, first + size - 1) ~= ARGV[4]
    end
    local time = redis.call('TIME')
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. time[1] ..
        string.format('%06d', time[2]) .. ' ' .. #ARGV[4] .. ' ' .. ARGV[4] .. ARGV[5])
end
if is_news and ARGV[6] ~= '' then redis.call('PUBLISH', ARGV[6], ARGV[7]) end
return {1, is_removal and '' or ARGV[3]}
)"};

// KEYS: the hash. ARGV: partition, how ("write", "seal" or "reset"), epoch, sequence, attempts,
// hub_created_ms, enqueued_ms, offset. A checkpoint is "EPOCH SEQUENCE ATTEMPTS HUB_CREATED
// ENQUEUED WRITTEN OFFSET". Answers {"written", "fenced" or "behind", what is stored now}.
inline constexpr RedisScript write_checkpoint_script{R"(
local function is_below(a, b)
    local minus_a, minus_b = string.sub(a, 1, 1) == '-', string.sub(b, 1, 1) == '-'
    if minus_a ~= minus_b then return minus_a end
    if minus_a then a, b = string.sub(b, 2), string.sub(a, 2) end
    if #a ~= #b then return #a < #b end
    return a < b
end
local how, epoch, sequence, attempts = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local rest = nil
if stored then
    local e, s, a, r = string.match(stored, '^(%-?%d+) (%-?%d+) (%d+)( %-?%d+ %-?%d+ %d+ .*)$')
    if not e then return redis.error_reply('EVENKEEL ' .. KEYS[1] .. ' is damaged') end
    if how == 'reset' then
        if is_below(epoch, e) then epoch = e end
    else
        if is_below(epoch, e) then return {'fenced', stored} end
        if how == 'seal' then
            sequence, attempts, rest = s, a, r
        elseif is_below(sequence, s) or (sequence == s and is_below(attempts, a)) then
            return {'behind', stored}
        end
    end
end
if not rest then
    local time = redis.call('TIME')
    rest = ' ' .. ARGV[6] .. ' ' .. ARGV[7] .. ' ' .. time[1] ..
        string.sub(string.format('%06d', time[2]), 1, 3) .. ' ' .. ARGV[8]
end
local value = epoch .. ' ' .. sequence .. ' ' .. attempts .. rest
redis.call('HSET', KEYS[1], ARGV[1], value)
return {'written', value}
)"};

}  // namespace evenkeel::checkpoint
