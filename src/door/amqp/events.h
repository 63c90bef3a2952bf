// Events between the wire and the log.
//
// In: an event is stored without its header section, with its sections in canonical order, and
// without annotations that are the hub's own to give. Most events need no change and are stored as
// the very bytes that came. Out: the hub's annotations are spliced in front of the stored bytes;
// nothing is decoded.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amqp/codec.h"
#include "amqp/grammar.h"
#include "base/result.h"
#include "hub/partition.h"

namespace evenkeel::door {

// What an idempotent producer writes on its events.
struct ProducerStamp {
    std::int64_t id = 0;
    std::int64_t epoch = 0;
    std::int64_t sequence = 0;  // of the first event of a batch
};

// That of a stored event; none if it lacks a part of it.
std::optional<ProducerStamp> stamp_of(ByteView stored_body);

// A message that came in, as events. Views point into the message and into this object.
class Incoming {
public:
    // `corrupt` if it is malformed (amqp/grammar.h): then nothing of it is stored.
    // With `restores`, each event of a batch keeps the key and the enqueued time that its own
    // annotations say.
    Result<> decode(ByteView message, std::uint32_t message_format, bool restores = false);

    const std::string& key() const { return key_; }
    // Valid after decode(), until the next one. Each carries the key.
    const std::vector<commitlog::NewEvent>& events() const { return events_; }
    // The first one found, on the batch or on one of its events.
    const std::optional<ProducerStamp>& stamp() const { return stamp_; }

private:
    Result<> add(ByteView message);
    Result<> add_changed(ByteView message);
    Result<> check(const amqp::Section& section);
    // Looks at annotations; true if some of them are the hub's own to give.
    bool take_annotations(ByteView annotations);
    void push(ByteView stored);

    amqp::Grammar grammar_;
    bool restores_ = false;
    commitlog::NewEvent given_;  // key and time of the event at hand, as its annotations say
    std::string key_;
    std::optional<ProducerStamp> stamp_;
    std::vector<commitlog::NewEvent> events_;
    std::vector<std::unique_ptr<amqp::Buffer>> changed_;
};

// The end of the partition when an event was delivered, for receivers that asked for it.
struct RuntimeMetric {
    SequenceNumber last_sequence;
    Offset last_offset;
    WallTime last_enqueued;
    WallTime retrieved;
};

// What goes in front of an event that has no annotations but ours, and no key: the hot path. Made
// once for many events, of which only the numbers differ.
class UsualPrefix {
public:
    // So many bytes are in front of the annotations, for whoever sends them.
    explicit UsualPrefix(std::size_t room_bytes);
    UsualPrefix(const UsualPrefix&) = delete;
    UsualPrefix& operator=(const UsualPrefix&) = delete;
    static bool suits(const commitlog::Record& record);
    // Room and annotations; valid until the next call. The event's body follows as it is.
    ByteSpan encode(const commitlog::Record& record);

private:
    std::array<std::byte, 176> bytes_{};
    std::byte* annotations_;
    std::byte* sequence_;
    std::byte* time_;
    std::byte* offset_;
};

// What goes in front of any stored event; `body` becomes what of it follows the prefix.
void encode_prefix(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric,
                   amqp::Buffer& prefix, ByteView& body);

}  // namespace evenkeel::door
