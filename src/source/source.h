// Where a processor reads from: an event hub in this process, or one elsewhere. One code for all of
// them in processor/, and for the simulated one.
//
// Threads: pinned to the loop it was opened on: called there, answers there, never within the call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/task.h"
#include <evenkeel/event.h>
#include <evenkeel/hub.h>

namespace evenkeel::source {

// Which event hub it is, for the store's entries.
struct Name {
    std::string hub_namespace;  // the hub's host without its port, or the folder it lies in
    std::string event_hub;
};

struct HubProperties {
    std::uint32_t partitions = 0;
    std::int64_t created_ms = 0;  // tells a recreated hub from the one before; 0 = unknown
    std::string identity = {};    // of the server's data folder; empty = it has none
};

struct PartitionProperties {
    SequenceNumber first;  // the first that is still there; -1 if it never had an event
    SequenceNumber last;
    Offset last_offset;
    std::int64_t last_enqueued_ms = 0;
};

struct ReadOptions {
    // Exclusive: displaces readers of lower or equal epoch. None: the source has no such thing.
    std::optional<Epoch> epoch = {};
    std::string name = {};
    std::uint32_t prefetch_events = 1024;
    std::size_t prefetch_bytes = std::size_t{4} << 20;
    // Ask the broker to tell with each event how far the partition has come.
    bool track_end = false;
};

// One reader of one partition. Destroying it detaches; no answer comes after that.
class Reader {
public:
    virtual ~Reader() = default;

    // One at a time. The next events as soon as there is one, at most `events_max`; none if there
    // is none within `wait`. Events of one reader rise without gaps or repeats, over reconnects
    // too. `fenced`: another reader has the partition, this one is done. `unavailable`,
    // `timed_out`: the next read tries again. `corrupt`: these events are damaged for good, the
    // next read goes on behind them.
    virtual void read(std::size_t events_max, Duration wait,
                      Callback<void(Result<EventBatch>)> answer) = 0;
    // The end of the partition as far as this reader knows it; -1 = not known.
    virtual SequenceNumber last_enqueued() const = 0;
    // False once it is known here that the broker has cut it for another, or has lost it; read()
    // says why, but perhaps much later.
    virtual bool is_attached() const = 0;
};

class Source {
public:
    // Its readers are destroyed before it.
    virtual ~Source() = default;

    virtual const Name& name() const = 0;
    // True if the broker cuts a reader when one with a higher epoch comes: then a stale owner
    // cannot read on.
    virtual bool is_exclusive() const = 0;
    virtual void properties(Callback<void(Result<HubProperties>)> answer) = 0;
    virtual void properties(PartitionId partition,
                            Callback<void(Result<PartitionProperties>)> answer) = 0;
    // Answers once the broker has accepted the reader. `fenced` if one with a higher epoch is
    // there.
    virtual void open(PartitionId partition, const Position& position, const ReadOptions& options,
                      Callback<void(Result<std::unique_ptr<Reader>>)> answer) = 0;
    // The hub in this process that it reads, for those who write beside it; null if it is
    // elsewhere.
    virtual Hub* hub_here() { return nullptr; }
    // Says good-bye. Readers are gone by then, and questions are answered `cancelled` or not at
    // all; `done` runs when nothing more comes.
    virtual void close(Task done) = 0;
};

}  // namespace evenkeel::source
