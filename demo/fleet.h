// The processors of the demo: who runs, who was stopped or killed, and whether others have taken
// over what a killed one had. It knows them by their numbers, 0 for "a".
//
// Threads: one; the traffic may be written meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "demo/traffic.h"

namespace evenkeel::demo {

class Fleet {
public:
    // The traffic outlives it.
    explicit Fleet(const Traffic& traffic) : traffic_(traffic) {}

    // The next number is that member of the cast.
    void add(std::size_t member) { processors_.push_back({member, true}); }
    std::size_t started() const { return processors_.size(); }
    std::size_t living() const;
    bool lives(int processor) const { return processors_[index(processor)].lives; }
    std::size_t member(int processor) const { return processors_[index(processor)].member; }
    // The living one that owns the most partitions, of equal ones the newest. At least one lives.
    int busiest() const;

    void stopped(int processor) { processors_[index(processor)].lives = false; }
    // Returns how many partitions it had.
    std::size_t killed(int processor, Instant now);
    struct TakenOver {
        int killed = 0;
        Duration after{};  // the kill
    };
    // A kill whose partitions have other owners by now. Each is reported once.
    std::optional<TakenOver> next_taken_over(Instant now);
    bool all_taken_over() const;
    bool was_killed() const { return !kills_.empty(); }
    // Partitions of all that were killed.
    std::size_t orphans() const;

private:
    struct Processor {
        std::size_t member = 0;
        bool lives = true;
    };
    struct Kill {
        int processor = 0;
        Instant at;
        std::vector<std::size_t> partitions;
        bool is_told = false;
    };
    static std::size_t index(int processor) { return static_cast<std::size_t>(processor); }
    std::size_t owned_by(int processor) const;

    const Traffic& traffic_;
    std::vector<Processor> processors_;
    std::vector<Kill> kills_;
};

}  // namespace evenkeel::demo
