// The demo's producer process, and one producer in it: sends numbered batches by AMQP to the
// partitions in turn, at a given rate, with a bounded number under way. What the hub refuses for
// now is not sent again: its numbers are skipped, and not expected. If nothing is accepted for a
// while the producer gives up. It reports what it does as Report.
//
// Threads: pinned to its loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "demo/stream_body.h"
#include "io/system/loop.h"
#include <evenkeel/producer.h>

namespace evenkeel::demo {

struct StreamProducerOptions {
    std::string event_hub;
    std::uint64_t run = 0;
    std::uint32_t partitions = 1;
    std::uint32_t producers = 1;
    std::size_t event_bytes = 256;
    std::size_t batch_events = 100;
    double rate = 0;  // events a second of all together; 0: no limit
};

// The process: its stdin brings the connection string, then ends when it is to stop.
cli::ExitCode run_producer(const StreamProducerOptions& options);

class StreamProducer {
public:
    StreamProducer(std::unique_ptr<Producer> producer, std::uint32_t id,
                   const StreamProducerOptions& options);
    // stop() has called `done`.
    ~StreamProducer();

    void start();
    // Threads: any. `done` runs on the loop when nothing is under way any more.
    void stop(Task done);

private:
    static constexpr Duration back_off_min = std::chrono::milliseconds(20);

    void pump();
    void send_batch();
    void on_done(std::uint32_t partition, std::uint64_t first, std::uint64_t count, Duration took,
                 const Result<>& result);
    void on_refused(std::uint32_t partition, std::uint64_t count, const Error& error);
    void pump_later(Duration delay);
    void finish_if_idle();

    const std::uint32_t id_;
    const StreamProducerOptions options_;
    const double rate_;  // of this one
    io::system::LoopThread loop_;
    std::vector<std::byte> body_;
    std::vector<std::uint64_t> next_number_;  // by partition
    std::uint32_t next_partition_;
    Instant started_;
    std::uint64_t paced_ = 0;  // events since started_
    Instant last_success_;
    std::size_t under_way_ = 0;
    bool waiting_ = false;  // a timer will pump
    Instant resume_;        // nothing is sent before: the hub has refused something
    Duration back_off_ = back_off_min;
    bool gave_up_ = false;
    bool stopping_ = false;
    Task stopped_;
    std::unique_ptr<Producer> producer_;  // destroyed before the loop that it posts to
};

}  // namespace evenkeel::demo
