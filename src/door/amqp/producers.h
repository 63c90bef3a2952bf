// Idempotent producers: what the hub remembers of each, so that an event sent twice is refused the
// second time. An id, an epoch that tells a producer's lives apart, and the number of its last
// event in the partition.
//
// At most `producers_max` of them are kept, in memory, the least used going first. After a restart
// the end of the log tells of them again (door/amqp/recall.h). One that it does not tell of goes on
// from the number that it names, or begins at 0. So what is refused as a repeat was surely stored;
// what was stored passes again only if it was forgotten. A repeat of what is on its way to the disk
// is put off: whether it was stored is not known yet.
//
// A producer that lost an answer attaches with the last number that it knows of, gets that number
// back, and sends the same events with the same numbers: if they are what was stored last, byte by
// byte, they are acknowledged and not stored again. Told a higher number it would send them as new.
// Ids that the hub gives are below 2^53, which JavaScript's numbers hold.
// Threads: pinned to the door's loop.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "amqp/performatives.h"
#include "base/ids.h"
#include "base/lifetime.h"
#include "door/amqp/events.h"
#include "hub/catalogue.h"

namespace evenkeel::door {

using ProducerPlace = std::pair<commitlog::Incarnation, PartitionId>;

// What a link asks for; what it leaves open the hub chooses.
struct ProducerWish {
    std::optional<std::int64_t> id, epoch, sequence;
};

struct ProducerState {
    std::int64_t id = 0;
    std::int16_t epoch = 0;
    std::int32_t sequence = 0;  // of the last event
    bool operator==(const ProducerState&) const = default;
};

// What a batch holds, to know it again by: how many events, and a checksum of all their bytes.
struct BatchContent {
    std::size_t events = 0;
    std::size_t bytes = 0;
    std::uint32_t checksum = 0;

    void add(ByteView key, ByteView body);
    bool operator==(const BatchContent&) const = default;
};
BatchContent content_of(const std::vector<commitlog::NewEvent>& events);

// The producer behind an event with that stamp; none if there can be none.
std::optional<ProducerState> state_at(const ProducerStamp& stamp);

class Producers {
public:
    static constexpr std::size_t producers_max = 100'000;

    // The producer as reported to its link, or the condition that its attach is refused with.
    std::optional<amqp::Condition> attach(const ProducerPlace& place, const ProducerWish& wish,
                                          ProducerState& state);
    // Whether exactly this was stored last.
    bool is_repeat(const ProducerPlace& place, const ProducerStamp& stamp,
                   const BatchContent& content) const;
    // Counts the events as stored, or tells why they must not be.
    std::optional<amqp::Condition> admit(const ProducerPlace& place, const ProducerStamp& stamp,
                                         std::size_t events);
    // Those that were admitted were stored.
    void stored(const ProducerPlace& place, const ProducerStamp& stamp,
                const BatchContent& content);
    // They were not stored after all: the same numbers may come again.
    void take_back(const ProducerPlace& place, const ProducerStamp& stamp);
    // What the log tells of a producer that nobody has asked for yet. Makes room for itself only
    // where others like it are. `last` is the batch that ends with `state`; empty if not known.
    void restore(const ProducerPlace& place, const ProducerState& state,
                 const BatchContent& last = {});
    // For callbacks that may come after it: null then.
    Lifetime::Handle<Producers> handle() { return lifetime_.handle(this); }
    std::size_t size() const { return entries_.size(); }

private:
    using Key = std::pair<ProducerPlace, std::int64_t>;
    struct Entry {
        ProducerState state;
        std::int32_t stored = 0;  // of the last event on disk
        std::list<Key>::iterator used;
        bool begun = false;      // its number is not just the 0 of a new one
        bool restored = false;   // and not asked for since
        BatchContent last = {};  // of the batch that ends with `stored`
    };

    Entry& entry(const Key& key);
    void forget_least_used();

    std::map<Key, Entry> entries_;
    std::list<Key> by_use_;  // the least used first
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
