// What was asked of a log and what it answered, kept outside of it: the checker's ground truth.
//
// Every event carries its own value id (producer, counter, checksum over key and body), so that
// whatever a reader gets can be named, and a wrong byte is seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "commitlog/log.h"

namespace evenkeel::crash {

struct Value {
    std::uint32_t producer = 0;
    std::uint32_t counter = 0;
    auto operator<=>(const Value&) const = default;
    std::uint64_t id() const { return std::uint64_t{producer} << 32 | counter; }
};
std::string to_string(Value value);

// The bytes of an event: the id lies in the body, or in the key if the body is too small for it.
struct Content {
    std::vector<std::byte> key;
    std::vector<std::byte> body;
};
Content content_of(Value value, std::size_t key_bytes, std::size_t body_bytes, Random& random);
// None if the bytes are not those of any value.
std::optional<Value> value_of(ByteView key, ByteView body);

// An event as a reader got it; without a value if its bytes are wrong.
struct Observed {
    std::int64_t sequence = -1;
    std::int64_t offset = -1;
    std::int64_t time = -1;
    std::optional<Value> value;
    bool operator==(const Observed&) const = default;
};
Observed observe(const commitlog::Record& record);

enum class Fate : std::uint8_t { open, acknowledged, refused };

struct SentBatch {
    std::vector<Value> values;
    Fate fate = Fate::open;
    std::int64_t first = -1;
    std::int64_t last_offset = -1;
    std::int64_t time = -1;
};

struct History {
    std::vector<SentBatch> batches;
    // By sequence number: what a reader of the running log got, and what may therefore never go.
    std::vector<std::optional<Observed>> seen;
    std::int64_t begin_done = 0;   // removal up to here was acknowledged
    std::int64_t begin_asked = 0;  // and up to here it was asked for
    // By value id: the batch it was sent in, and its place there.
    std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>> sent;

    std::size_t invoke(std::vector<Value> values);
    void acknowledge(std::size_t batch, const commitlog::Appended& appended);
    void refuse(std::size_t batch) { batches[batch].fate = Fate::refused; }
    // Returns what is wrong with it: another value was seen there before.
    std::string see(const Observed& event);
    // One above the highest number that was acknowledged or seen.
    std::int64_t next_min() const;
};

}  // namespace evenkeel::crash
