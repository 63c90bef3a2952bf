#include "door/amqp/producers.h"

#include <limits>

#include <fmt/core.h>

#include "base/crc32c.h"
#include "base/random.h"
#include "door/amqp/conditions.h"

namespace evenkeel::door {
namespace {

constexpr std::int64_t epoch_max = std::numeric_limits<std::int16_t>::max();
constexpr std::int64_t sequence_max = std::numeric_limits<std::int32_t>::max();

// Numbers go on from 0 behind the largest.
std::int32_t after(std::int32_t sequence, std::size_t events) {
    const std::uint64_t sum = static_cast<std::uint64_t>(sequence) + events;
    return static_cast<std::int32_t>(sum % (static_cast<std::uint64_t>(sequence_max) + 1));
}

// Whether `a` comes before `b`, if neither is half a round behind the other.
bool is_before(std::int64_t a, std::int64_t b) {
    const std::int64_t ahead = (b - a) & sequence_max;
    return ahead > 0 && ahead <= sequence_max / 2;
}

bool in_range(const std::optional<std::int64_t>& value, std::int64_t max) {
    return !value || (*value >= 0 && *value <= max);
}

bool in_range(const ProducerStamp& stamp) {
    return in_range(stamp.id, std::numeric_limits<std::int64_t>::max()) &&
           in_range(stamp.epoch, epoch_max) && in_range(stamp.sequence, sequence_max);
}

amqp::Condition stolen(std::int64_t received, std::int64_t current) {
    return {std::string(vendor::epoch_stolen),
            fmt::format("The producer's epoch is older than that of another one with its id. "
                        "Received:{} Current:{}",
                        received, current)};
}

amqp::Condition out_of_range() {
    return {std::string(vendor::argument_out_of_range),
            "Invalid range for idempotent producer state. Producer Id, Epoch, and Sequence Number "
            "must be zero or positive."};
}

// From 1 on: a client that cannot read its id may take it for 0.
std::int64_t fresh_id() {
    constexpr std::uint64_t ids = (std::uint64_t{1} << 53) - 1;
    return static_cast<std::int64_t>(secure_number() % ids + 1);
}

}  // namespace

void BatchContent::add(ByteView key, ByteView body) {
    ++events;
    bytes += key.size() + body.size();
    checksum = crc32c(body, crc32c(key, checksum));
}

BatchContent content_of(const std::vector<commitlog::NewEvent>& events) {
    BatchContent content;
    for (const auto& event : events) content.add(event.key, event.body);
    return content;
}

std::optional<ProducerState> state_at(const ProducerStamp& stamp) {
    if (!in_range(stamp)) return std::nullopt;
    return ProducerState{stamp.id, static_cast<std::int16_t>(stamp.epoch),
                         static_cast<std::int32_t>(stamp.sequence)};
}

void Producers::forget_least_used() {
    entries_.erase(by_use_.front());
    by_use_.pop_front();
}

Producers::Entry& Producers::entry(const Key& key) {
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
        by_use_.splice(by_use_.end(), by_use_, found->second.used);
        found->second.restored = false;
        return found->second;
    }
    if (entries_.size() >= producers_max) forget_least_used();
    by_use_.push_back(key);
    return entries_.emplace(key, Entry{{key.second, 0, 0}, 0, std::prev(by_use_.end())})
        .first->second;
}

void Producers::restore(const ProducerPlace& place, const ProducerState& state,
                        const BatchContent& last) {
    const Key key{place, state.id};
    if (entries_.contains(key)) return;
    if (entries_.size() >= producers_max) {
        if (!entries_.at(by_use_.front()).restored) return;
        forget_least_used();
    }
    by_use_.push_front(key);
    entries_.emplace(key, Entry{state, state.sequence, by_use_.begin(), true, true, last});
}

std::optional<amqp::Condition> Producers::attach(const ProducerPlace& place,
                                                 const ProducerWish& wish, ProducerState& state) {
    if (!in_range(wish.id, std::numeric_limits<std::int64_t>::max()) ||
        !in_range(wish.epoch, epoch_max) || !in_range(wish.sequence, sequence_max)) {
        return out_of_range();
    }
    const std::int64_t id = wish.id ? *wish.id : fresh_id();
    Entry& entry = this->entry({place, id});
    ProducerState& known = entry.state;
    if (wish.epoch && *wish.epoch < known.epoch) return stolen(*wish.epoch, known.epoch);
    const bool begins_anew = wish.epoch && *wish.epoch > known.epoch;
    if (wish.epoch) known.epoch = static_cast<std::int16_t>(*wish.epoch);
    if (wish.sequence &&
        (begins_anew || !entry.begun || is_before(known.sequence, *wish.sequence))) {
        known.sequence = static_cast<std::int32_t>(*wish.sequence);
        entry.begun = entry.begun || known.sequence != 0;
        entry.stored = known.sequence;
        entry.last = {};
    }
    state = known;
    // It may know less than we do: its last answer was lost on the way.
    if (wish.sequence) state.sequence = static_cast<std::int32_t>(*wish.sequence);
    return std::nullopt;
}

bool Producers::is_repeat(const ProducerPlace& place, const ProducerStamp& stamp,
                          const BatchContent& content) const {
    if (!in_range(stamp) || content.events == 0) return false;
    const auto found = entries_.find({place, stamp.id});
    if (found == entries_.end()) return false;
    const Entry& entry = found->second;
    return stamp.epoch == entry.state.epoch && content == entry.last &&
           after(static_cast<std::int32_t>(stamp.sequence), content.events - 1) == entry.stored;
}

std::optional<amqp::Condition> Producers::admit(const ProducerPlace& place,
                                                const ProducerStamp& stamp, std::size_t events) {
    if (!in_range(stamp)) return out_of_range();
    Entry& entry = this->entry({place, stamp.id});
    ProducerState& known = entry.state;
    if (stamp.epoch < known.epoch) return stolen(stamp.epoch, known.epoch);
    const std::int32_t due = after(known.sequence, 1);
    if (stamp.sequence != due) {
        const bool old = entry.begun && !is_before(known.sequence, stamp.sequence);
        if (old && is_before(entry.stored, stamp.sequence)) {
            return amqp::Condition{std::string(vendor::server_busy),
                                   fmt::format("The sequence number {} came before and is being "
                                               "stored; ask again.",
                                               stamp.sequence)};
        }
        return amqp::Condition{
            std::string(vendor::out_of_order),
            fmt::format("The sequence number {} is not the one that is due, {}{}.", stamp.sequence,
                        due, old ? ": it is an old sequence number" : "")};
    }
    known.sequence = after(known.sequence, events);
    entry.begun = true;
    return std::nullopt;
}

void Producers::stored(const ProducerPlace& place, const ProducerStamp& stamp,
                       const BatchContent& content) {
    const auto found = entries_.find({place, stamp.id});
    if (found == entries_.end() || stamp.epoch != found->second.state.epoch) return;
    found->second.stored = after(static_cast<std::int32_t>(stamp.sequence), content.events - 1);
    found->second.last = content;
}

void Producers::take_back(const ProducerPlace& place, const ProducerStamp& stamp) {
    const auto found = entries_.find({place, stamp.id});
    if (found == entries_.end()) return;
    ProducerState& known = found->second.state;
    if (is_before(known.sequence, stamp.sequence))
        return;  // taken back with an earlier one already
    known.sequence =
        static_cast<std::int32_t>(stamp.sequence == 0 ? sequence_max : stamp.sequence - 1);
}

}  // namespace evenkeel::door
