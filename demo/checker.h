// Checks a stream by reports of its processes: what was acknowledged and what was read, in which
// order. It knows neither hub nor processes.
//
// Threads: take() one; traffic() may be read by any thread; the rest once take() is over.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "demo/handled.h"
#include "demo/number_set.h"
#include "demo/report.h"
#include "demo/traffic.h"
#include "demo/verdict.h"

namespace evenkeel::demo {

class Checker {
public:
    // `last_before`: the last sequence number of each partition before the run; -1 if none.
    Checker(std::uint32_t producers, const std::vector<std::int64_t>& last_before);

    // From the process with that number.
    void take(const Report& report, std::uint32_t process = 0);
    // That process was killed, not asked to stop.
    void killed(std::uint32_t process, std::int64_t at_ms);
    const Traffic& traffic() const { return traffic_; }
    // Who else wants to hear what is read; on the thread of take(). Before anything is taken.
    void on_read(std::function<void(const Report&)> listener) { on_read_ = std::move(listener); }
    // A process cannot go on.
    void fail(const Error& error);
    // The worst error that was reported; none if there was none.
    std::optional<Error> error() const { return failure_ ? failure_ : trouble_; }

    // Fills in what the checker knows.
    void judge(Verdict& verdict) const;

private:
    // What one owner of a partition, under one epoch, has to get next.
    struct Reign {
        std::int64_t next_sequence = 0;
        std::vector<std::uint64_t> next_number;  // by producer
    };
    struct Partition {
        std::int64_t begin = 0;
        std::map<std::int64_t, Reign> reigns;  // by epoch
        std::vector<NumberSet> acknowledged;   // by producer
        std::vector<NumberSet> read;           // by producer
        std::uint64_t out_of_order = 0;
        std::uint64_t repeated = 0;
        std::uint64_t wrong_content = 0;
    };

    void take_read(const Report& report, std::uint32_t process);
    Reign& reign(Partition& partition, const Report& report);

    Traffic traffic_;
    std::vector<Partition> partitions_;
    std::function<void(const Report&)> on_read_;
    Handled handled_;
    std::optional<Error> failure_;
    std::optional<Error> trouble_;  // of a reader: events that could not be read
};

}  // namespace evenkeel::demo
