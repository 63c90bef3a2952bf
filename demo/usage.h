// What the processes of a run use: CPU time, and the most memory that each had at a time. It looks
// into /proc now and then, so what a process did since the last look before it was killed is not
// counted.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace evenkeel::demo {

// Of one process, since its start.
struct ProcessUse {
    std::uint64_t cpu_ticks = 0;  // of the system's clock (_SC_CLK_TCK), by itself and the system
    std::size_t memory_mb = 0;
    std::size_t memory_mb_max = 0;
};
// `stat` and `status` are the files of these names in /proc/PID; none if they are something else.
std::optional<ProcessUse> parse_use(std::string_view stat, std::string_view status);

class Usage {
public:
    struct Group {
        std::string name;
        std::size_t processes = 0;      // all that were started
        double cpu_seconds = 0;         // of all together
        std::size_t memory_mb_max = 0;  // of the one with the most
    };

    // Groups keep the order in which they came.
    void add(const std::string& group, pid_t process);
    // CPU time before this does not count.
    void begin();
    void look();
    std::vector<Group> groups() const;
    // What it uses now; 0 if it is gone.
    static std::size_t memory_mb(pid_t process);

private:
    struct Process {
        std::size_t group = 0;
        pid_t id = 0;
        std::uint64_t ticks_before = 0;
        ProcessUse use = {};
    };
    std::vector<std::string> names_;
    std::vector<Process> processes_;
};

}  // namespace evenkeel::demo
