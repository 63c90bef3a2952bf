// Producers for benchmarks, by the client library: without a limit, or at a rate.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/promise.h"
#include "base/result.h"
#include "io/system/loop.h"
#include <evenkeel/producer.h>

namespace evenkeel::bench {

inline double seconds_of(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

struct EventSize {
    std::size_t event_bytes;
    std::uint64_t stored_events;  // for readers
    std::size_t batch_events;     // for writers
};

// Sends batches to all partitions in turn, a few for each under way at a time, each batch made
// anew.
class BatchLoad {
public:
    static constexpr std::uint32_t under_way = 4;  // of a partition

    BatchLoad(Producer& producer, std::uint32_t partitions, const EventSize& size)
        : producer_(producer), partitions_(partitions), size_(size), body_(size.event_bytes, 'e') {}

    // So many events, or for a while.
    Result<> run(std::uint64_t events_max, Duration duration);
    double events_per_second();

private:
    Result<> send(std::uint32_t partition);
    void give_back(std::uint32_t partition);
    std::uint32_t take_turn();

    Producer& producer_;
    const std::uint32_t partitions_;
    const EventSize size_;
    const std::string body_;
    double seconds_ = 0;
    Mutex mutex_;
    Condition condition_;
    std::deque<std::uint32_t> turns_ EK_GUARDED_BY(mutex_);
    std::uint64_t acknowledged_ EK_GUARDED_BY(mutex_) = 0;
    std::optional<Error> error_ EK_GUARDED_BY(mutex_);
};

// Sends the events that are due together to the next partitions, evenly, those of one partition as
// one batch, whether those before are acknowledged or not. The first eight bytes of an event are
// the instant at which it was due: a load that comes too late makes no event look fast. Several
// producers take turns, batch by batch. Threads: the one that made it.
class PacedLoad {
public:
    struct Options {
        std::uint32_t partitions = 1;
        double events_per_second = 1000;
        std::size_t due_together = 1;
        std::size_t event_bytes = 100;
    };
    PacedLoad(std::vector<Producer*> producers, const Options& options);
    PacedLoad(Producer& producer, const Options& options)
        : PacedLoad(std::vector<Producer*>{&producer}, options) {}
    ~PacedLoad();

    void start();
    // Waits for what is under way. A send that was refused is the error.
    Result<> stop();
    std::uint64_t events() const { return sent_.load(std::memory_order_relaxed); }

private:
    void pump();
    void send_due();
    void send(std::size_t events);
    void finish_if_idle();

    const std::vector<Producer*> producers_;
    const Options options_;
    // The loop's.
    std::size_t next_producer_ = 0;
    std::string body_;
    Instant due_;
    std::uint32_t next_partition_ = 0;
    std::uint64_t under_way_ = 0;
    std::optional<Error> error_;
    bool is_stopping_ = false;
    bool is_started_ = false;  // the maker's
    Promise<bool> idle_;
    std::atomic<std::uint64_t> sent_{0};
    io::system::LoopThread loop_{"produce/0"};
};

// The instant in an event of PacedLoad.
Instant sent_at(std::span<const std::byte> body);

}  // namespace evenkeel::bench
