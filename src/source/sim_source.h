// A model of an event hub for simulations, and the source that reads it: partitions with events in
// memory, exclusive readers, and all the ways in which a broker far away behaves badly. Everything
// it does follows from the calls and one seed.
//
//     SimHub (the world's)  ◀── SimSource "a" on a's loop
//                           ◀── SimSource "b" on b's loop
//
// A newer epoch is let in at once; the older reader is cut `cut_after` later, and reads on until
// then, as one does whose bad news is still on its way.
// Threads: one.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "io/loop.h"
#include "source/source.h"

namespace evenkeel::source {

struct SimHubOptions {
    std::uint32_t partitions = 1;
    std::int64_t created_ms = 1;
    Duration latency_min{0};  // of each call
    Duration latency_max{0};
    Duration cut_after{0};
    bool exclusive = true;  // false: a broker that knows no epochs
    std::uint64_t seed = 1;
};

class SimReader;

class SimHub {
public:
    explicit SimHub(const SimHubOptions& options);

    SequenceNumber append(PartitionId partition, std::string_view body, WallTime now,
                          std::string_view key = {});
    void append_many(PartitionId partition, std::size_t count, WallTime now);
    SequenceNumber last(PartitionId partition) const;

    void add_partitions(std::uint32_t count);
    // Retention: what comes before that is gone.
    void remove_before(PartitionId partition, SequenceNumber first);
    // Removed and created again: the same name, nothing in it.
    void recreate(std::int64_t created_ms);
    // Another server answers under this address.
    void set_identity(std::string identity) { identity_ = std::move(identity); }
    // From a back-up that ends with `last`: the events behind it are gone, their numbers are given
    // again.
    void restore(PartitionId partition, SequenceNumber last);
    // Links that are there are lost; readers come back by themselves.
    void cut(PartitionId partition);
    // Nothing is answered but `unavailable`; events and epochs of readers stay.
    void stop();
    void start();
    // Readers of the partition wait although there are events, until cut() or a new reader.
    void stall(PartitionId partition);
    // One event that cannot be read.
    void damage(PartitionId partition, SequenceNumber sequence);

    std::size_t readers(PartitionId partition) const;
    std::uint32_t partitions() const { return static_cast<std::uint32_t>(partitions_.size()); }

private:
    friend class SimReader;
    friend class SimSource;
    struct Stored {
        std::shared_ptr<const std::string> bytes;  // key, then sections
        std::size_t key_bytes = 0;
        std::int64_t offset = 0;
        std::int64_t enqueued_ms = 0;
        bool is_damaged = false;
    };
    struct Part {
        std::deque<Stored> events;
        std::int64_t first = 0;  // sequence number of events.front()
        std::int64_t next_offset = 0;
        bool is_stalled = false;
        std::set<SimReader*> readers;
    };

    Part& part(PartitionId partition);
    const Part& part(PartitionId partition) const;
    Duration latency();
    // In the order in which they came, so that equal seeds give equal worlds.
    std::vector<SimReader*> in_order(const Part& part) const;
    Result<> admit(SimReader& reader);

    const SimHubOptions options_;
    Random random_;
    std::deque<Part> partitions_;
    std::int64_t created_ms_;
    std::string identity_ = "sim";
    std::uint64_t last_reader_ = 0;
    bool is_up_ = true;
};

class SimSource final : public Source {
public:
    // Both outlive this.
    SimSource(SimHub& hub, io::Loop& loop) : hub_(hub), loop_(loop) {}

    const Name& name() const override { return name_; }
    bool is_exclusive() const override { return hub_.options_.exclusive; }
    void properties(Callback<void(Result<HubProperties>)> answer) override;
    void properties(PartitionId partition,
                    Callback<void(Result<PartitionProperties>)> answer) override;
    void open(PartitionId partition, const Position& position, const ReadOptions& options,
              Callback<void(Result<std::unique_ptr<Reader>>)> answer) override;
    void close(Task done) override { loop_.post(std::move(done)); }
    // Closed: as behind a relay that is stopped. Nothing arrives, and nobody says so; questions
    // that were asked are answered when it is open again, or `timed_out` after question_max.
    void set_path(bool is_open) { *is_path_open_ = is_open; }

private:
    static constexpr Duration question_max = std::chrono::seconds(30);
    static constexpr Duration path_poll = std::chrono::milliseconds(100);

    template <typename T>
    void later(Callback<void(Result<T>)> answer, std::function<Result<T>()> question);
    void when_open(Instant deadline, Callback<void(bool)> then);

    SimHub& hub_;
    io::Loop& loop_;
    const Name name_{"sim", "homes"};
    // Of this source and its readers.
    std::shared_ptr<bool> is_path_open_ =  // tidy: allow lifetime: a switch, no guard
        std::make_shared<bool>(true);
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::source
