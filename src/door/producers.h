// Idempotent producers: what the hub remembers of each, so that an event sent twice is refused the
// second time. An id, an epoch that tells a producer's lives apart, and the number of its last
// event in the partition.
//
// Kept in memory only, and at most `producers_max` of them, the least used going first: after a
// restart a producer that names its last number goes on from there, one that does not begins at 0.
// So what is refused as a repeat was surely stored; what was stored may pass again after a restart.
// A repeat of what is on its way to the disk is put off: whether it was stored is not known yet.
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
#include "door/events.h"
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

class Producers {
public:
    static constexpr std::size_t producers_max = 100'000;

    // The producer as it goes on from here, or the condition that its attach is refused with.
    std::optional<amqp::Condition> attach(const ProducerPlace& place, const ProducerWish& wish,
                                          ProducerState& state);
    // Counts the events as stored, or tells why they must not be.
    std::optional<amqp::Condition> admit(const ProducerPlace& place, const ProducerStamp& stamp,
                                         std::size_t events);
    // Those that were admitted were stored.
    void stored(const ProducerPlace& place, const ProducerStamp& stamp, std::size_t events);
    // They were not stored after all: the same numbers may come again.
    void take_back(const ProducerPlace& place, const ProducerStamp& stamp);
    // For what comes back later.
    std::weak_ptr<Producers> weak() { return alive_; }
    std::size_t size() const { return entries_.size(); }

private:
    using Key = std::pair<ProducerPlace, std::int64_t>;
    struct Entry {
        ProducerState state;
        std::int32_t stored = 0;  // of the last event on disk
        std::list<Key>::iterator used;
    };

    Entry& entry(const Key& key);

    std::map<Key, Entry> entries_;
    std::list<Key> by_use_;  // the least used first
    std::shared_ptr<Producers> alive_{this, [](Producers*) {}};
};

}  // namespace evenkeel::door
