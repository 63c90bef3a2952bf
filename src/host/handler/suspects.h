// Executions that a process held when it ended, until it is known which of them ended it. An event
// that crashes a process must not cost the events beside it an attempt.
//
//     held when the shared process ended ──▶ suspect: runs alone from now on
//         its process ends again ──▶ to blame; its next attempt runs alone as well
//         it is answered         ──▶ no suspect any more
//
// A suspect is a range of events of one partition. If a batch is to blame and its events are tried
// one by one, each of them runs alone. Pure. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace evenkeel::host {

// Events of one partition that a function is called with, by their sequence numbers.
struct Execution {
    std::string function;
    std::uint32_t partition = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
};

class Suspects {
public:
    // Forgets those of this partition and function that it has passed.
    bool has(const Execution& execution);
    // It was held by a process that held others as well, and ended.
    void add(const Execution& execution);
    // It ran alone, and its process ended. Whether it is to blame: not if the process was asked to
    // end, but only once, since a function may do that to itself.
    bool is_to_blame(const Execution& execution, bool was_asked);
    // It ran alone, and its process did not end.
    void answered(const Execution& execution);
    // The partition has gone.
    void forget(const std::string& function, std::uint32_t partition);
    bool empty() const { return ranges_.empty(); }

private:
    struct Range {
        std::int64_t first = 0;
        std::int64_t last = 0;
        bool was_excused = false;
    };
    using Key = std::pair<std::string, std::uint32_t>;

    std::map<Key, Range> ranges_;
};

}  // namespace evenkeel::host
