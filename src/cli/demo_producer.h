// One producer of the demo: sends numbered batches to the partitions in turn, at a given rate, with
// a bounded number under way. What the hub refuses for now is not sent again: its numbers are
// skipped, and nobody expects them. When nothing was taken for a while the producer gives up.
//
// Threads: pinned to its loop; results() after the loop has stopped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/demo_traffic.h"
#include "cli/number_set.h"
#include "cli/stream_body.h"
#include "io/system/loop.h"
#include <evenkeel/hub.h>

namespace evenkeel::cli {

class DemoProducer {
public:
    struct Options {
        std::string event_hub;
        std::uint64_t run = 0;
        std::uint32_t id = 0;
        std::uint32_t partitions = 1;
        std::size_t event_bytes = 256;
        std::size_t batch_events = 100;
        double rate = 0;                // events a second; 0: no limit
        std::size_t under_way_max = 8;  // batches
    };
    struct Results {
        std::vector<NumberSet> acknowledged;      // by partition
        std::vector<std::int64_t> last_sequence;  // acknowledged, by partition; -1 if none
        std::optional<Error> error;               // the last one
    };

    // `hub` and `traffic` outlive the producer.
    DemoProducer(Hub& hub, Traffic& traffic, const Options& options);
    // stop() has told that it is done.
    ~DemoProducer();

    void start();
    // Threads: any. `done` runs on the loop when nothing is under way any more.
    void stop(Task done);
    void join() { loop_.stop(); }
    const Results& results() const { return results_; }

private:
    static constexpr Duration back_off_min = std::chrono::milliseconds(20);

    void pump();
    void send_batch();
    void on_done(std::uint32_t partition, std::uint64_t first, Instant sent, Instant answered,
                 const Result<Receipt>& result);
    void on_refused(std::uint32_t partition, const Error& error);
    void pump_later(Duration delay);
    void finish_if_idle();

    Hub& hub_;
    Traffic& traffic_;
    const Options options_;
    io::system::LoopThread loop_;
    std::vector<std::byte> bytes_;
    std::vector<std::string_view> bodies_;
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
    Results results_;
};

}  // namespace evenkeel::cli
