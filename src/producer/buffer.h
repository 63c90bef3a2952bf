// Collects events into batches: grouped by destination, a batch is closed when it is full or its
// oldest event has waited long enough, and is sent by a Core.
//
//     add ──▶ group (a partition, a key, or any) ──full or old──▶ [ready] ──one at a time──▶ Core
//
// Invariants
//   SEND-3  Of a group that is a partition or a key, one batch is under way at a time, in order.
//   SEND-4  Each event is reported once: `settled` is called for its batch.
// Threads: pinned to the loop.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/task.h"
#include "io/loop.h"
#include "io/timer.h"
#include "producer/core.h"
#include <evenkeel/producer.h>

namespace evenkeel::producer {

struct BufferOptions {
    Duration wait_max{};
    std::uint32_t in_flight_max = 1;
    std::size_t event_overhead = 0;  // bytes that the core adds to each event
};

class Buffer {
public:
    // The result of a batch; it is gone afterwards.
    using Settled = Callback<void(const Result<>&, const SendBatch&)>;

    // Core and loop outlive this.
    Buffer(io::Loop& loop, Core& core, const BufferOptions& options, Settled settled);
    ~Buffer();

    // `section` as append_event() makes it. If it is larger than what the hub takes by now, its
    // batch fails with `invalid_argument`.
    void add(std::optional<std::uint32_t> partition, std::string_view key, ByteView section);
    // `done` runs when all that was added before is settled.
    void flush(Task done);

private:
    using Where = std::pair<std::optional<std::uint32_t>, std::string>;
    // Finds a group without a copy of its key.
    using Place = std::pair<std::optional<std::uint32_t>, std::string_view>;
    struct ByPlace {
        using is_transparent = void;
        static Place place(const Where& where) { return {where.first, where.second}; }
        static Place place(const Place& place) { return place; }
        template <typename A, typename B>
        bool operator()(const A& a, const B& b) const {
            return place(a) < place(b);
        }
    };
    struct Closed {
        std::uint64_t number;
        std::shared_ptr<const SendBatch> batch;
    };
    struct Group {
        explicit Group(io::Loop& loop) : timer(loop) {}
        std::unique_ptr<SendBatch> open;
        std::deque<Closed> ready;
        std::uint32_t in_flight = 0;
        bool is_queued = false;  // in runnable_
        io::Timer timer;
    };
    struct Flush {
        std::uint64_t up_to;
        Task done;
    };

    static bool is_ordered(const Where& where) { return where.first || !where.second.empty(); }
    void close(const Where& where, Group& group);
    void enqueue(const Where& where, Group& group);
    void pump();
    void send(const Where& where, Group& group);
    void settle(const Where& where, const Closed& closed, const Result<>& result);
    void finish_flushes();

    io::Loop& loop_;
    Core& core_;
    const BufferOptions options_;
    Settled settled_;
    std::map<Where, Group, ByPlace> groups_;
    std::deque<Where> runnable_;
    std::uint32_t in_flight_ = 0;
    std::uint64_t last_number_ = 0;
    std::set<std::uint64_t> unsettled_;  // numbers of closed batches
    std::deque<Flush> flushes_;
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::producer
