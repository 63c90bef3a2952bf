// How fast a total has grown lately: the mean over the last ten seconds, or over as long as it has
// been watched. It is fed samples about once a second, and told the time.
// Threads: those of its owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace evenkeel::hub {

class Rate {
public:
    static constexpr Duration window = std::chrono::seconds(10);
    static constexpr Duration step = std::chrono::seconds(1);  // between two samples, at least

    // Watched from now on; `total` is what was there before.
    explicit Rate(std::int64_t total = 0) : before_(total) {}

    // Does nothing if the last sample is younger than a step.
    void sample(Instant now, std::int64_t total);
    // What came in less than a second counts as a second's, so that one event is not thousands a
    // second. 0 if the total has fallen.
    double per_second(Instant now, std::int64_t total) const;

private:
    struct Sample {
        Instant at;
        std::int64_t total = 0;
    };
    // One more than fits the window, so that one of them is as old as it.
    std::array<Sample, window / step + 1> samples_{};
    std::size_t count_ = 0;  // the newest one is at (count_ - 1) % size
    std::int64_t before_;
};

}  // namespace evenkeel::hub
