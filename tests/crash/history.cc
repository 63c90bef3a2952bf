#include "crash/history.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/crc32c.h"

namespace evenkeel::crash {
namespace {

constexpr std::size_t id_bytes = 12;  // 0 crc u32 | 4 producer u32 | 8 counter u32

std::uint32_t checksum(ByteView key, ByteView body, bool in_body) {
    const std::uint64_t sizes[] = {key.size(), body.size(), in_body};
    std::uint32_t crc = crc32c(std::as_bytes(std::span(sizes)));
    crc = crc32c(in_body ? key : key.subspan(4), crc);
    return crc32c(in_body ? body.subspan(4) : body, crc);
}

}  // namespace

std::string to_string(Value value) {
    return fmt::format("{}.{}", value.producer, value.counter);
}

Content content_of(Value value, std::size_t key_bytes, std::size_t body_bytes, Random& random) {
    const bool in_body = body_bytes >= id_bytes;
    Content content;
    content.key.resize(in_body ? key_bytes : std::max(key_bytes, id_bytes));
    content.body.resize(body_bytes);
    random.fill(content.key);
    random.fill(content.body);
    std::byte* const id = in_body ? content.body.data() : content.key.data();
    store(id + 4, value.producer);
    store(id + 8, value.counter);
    store(id, checksum(content.key, content.body, in_body));
    return content;
}

std::optional<Value> value_of(ByteView key, ByteView body) {
    const bool in_body = body.size() >= id_bytes;
    if (!in_body && key.size() < id_bytes) return std::nullopt;
    const std::byte* const id = in_body ? body.data() : key.data();
    if (load<std::uint32_t>(id) != checksum(key, body, in_body)) return std::nullopt;
    return Value{load<std::uint32_t>(id + 4), load<std::uint32_t>(id + 8)};
}

Observed observe(const commitlog::Record& record) {
    return {record.sequence.value, record.offset.value, record.enqueued.milliseconds,
            value_of(record.key, record.body)};
}

std::size_t History::invoke(std::vector<Value> values) {
    for (std::size_t i = 0; i < values.size(); ++i) sent[values[i].id()] = {batches.size(), i};
    batches.push_back({std::move(values)});
    return batches.size() - 1;
}

void History::acknowledge(std::size_t batch, const commitlog::Appended& appended) {
    SentBatch& sent_batch = batches[batch];
    sent_batch.fate = Fate::acknowledged;
    sent_batch.first = appended.first.value;
    sent_batch.last_offset = appended.last_offset.value;
    sent_batch.time = appended.enqueued.milliseconds;
}

std::string History::see(const Observed& event) {
    if (event.sequence < 0) return "a reader got an event without a number";
    const auto at = static_cast<std::size_t>(event.sequence);
    if (seen.size() <= at) seen.resize(at + 1);
    if (seen[at] && *seen[at] != event) {
        return fmt::format("event {} was seen with two values", event.sequence);
    }
    seen[at] = event;
    return {};
}

std::int64_t History::next_min() const {
    auto next = static_cast<std::int64_t>(seen.size());
    for (const auto& batch : batches) {
        if (batch.fate != Fate::acknowledged) continue;
        next = std::max(next, batch.first + static_cast<std::int64_t>(batch.values.size()));
    }
    return next;
}

}  // namespace evenkeel::crash
