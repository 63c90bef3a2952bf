// One reader of the demo: follows a partition on a thread of its own and checks each event.
// Sequence numbers are dense, each producer's numbers rise, and the body is what its producer made.
//
// Threads: made, asked for its results and destroyed on one; run() on its worker.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/demo_traffic.h"
#include "cli/number_set.h"
#include "io/system/loop.h"
#include <evenkeel/hub.h>

namespace evenkeel::cli {

class DemoReader {
public:
    struct Options {
        std::string event_hub;
        std::uint64_t run = 0;
        std::uint32_t partition = 0;
        std::uint32_t producers = 1;
        std::int64_t after_sequence = -1;  // the last event that was there before
    };
    struct Results {
        std::vector<NumberSet> read;  // by producer
        std::uint64_t out_of_order = 0;
        std::uint64_t repeated = 0;
        std::uint64_t wrong_content = 0;
        std::optional<Error> error;  // why it ended early, or what was damaged
    };

    static Result<std::unique_ptr<DemoReader>> open(Hub& hub, PartitionTraffic& traffic,
                                                    const Options& options);

    void start();
    // The event with this number is the last to come: read on up to it, but do not wait for ever.
    void finish_at(std::int64_t last_sequence);
    void join() { worker_.finish(); }
    const Results& results() const { return results_; }

private:
    static constexpr std::int64_t unknown = -2;

    DemoReader(std::unique_ptr<Reader> reader, PartitionTraffic& traffic, const Options& options);
    void run();
    void check(const Event& event);

    std::unique_ptr<Reader> reader_;
    PartitionTraffic& traffic_;
    const Options options_;
    std::int64_t next_sequence_;
    std::vector<std::uint64_t> next_number_;  // by producer
    std::atomic<std::int64_t> last_{unknown};
    const SystemClock clock_;
    Results results_;
    io::system::WorkerThread worker_;
};

}  // namespace evenkeel::cli
