// Crash states: disk images as a power loss or a kill may leave them, taken before every operation
// that changes the disk, each recovered by the real code and checked.
//
//   running log ──hook──▶ image ──recover──▶ read all, check ──▶ append one ──▶ power loss again
//                                  │                                            ──▶ same answer
//                                  └─hook─▶ nested images, to `depth_max`: same answer
//
// After a recovery all that can be read is durable, so a second power loss may take nothing. The
// replay of the journal (JOURNAL-4) is part of a recovery.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "crash/log_world.h"

namespace evenkeel::crash {

// How a process and its machine end.
enum class End : std::uint8_t { drop_all, keep_all, random_subset, grown_with_zeros, prefix, kill };
inline constexpr std::size_t end_kinds = 6;
std::string_view to_string(End end);
std::unique_ptr<io::sim::Disk> image_of(const io::sim::Disk& disk, End end, Random& random);

// What was tried, so that totals can be claimed.
struct Ledger {
    static constexpr std::size_t depths = 4;
    std::array<std::uint64_t, end_kinds> by_end{};
    std::array<std::uint64_t, depths> by_depth{};
    std::uint64_t faults = 0;
    std::uint64_t states() const;
    void add(const Ledger& other);
    std::string to_string() const;
};

struct ExplorerOptions {
    commitlog::LogOptions log;
    std::uint64_t images_per_point = end_kinds;  // as many ends, drawn without repeating one
    std::uint64_t one_point_in = 1;              // operations that are looked at, by chance
    std::uint64_t nested_one_in = 8;             // the same, of those that a recovery makes
    std::size_t depth_max = 3;
    bool faults = false;  // the disk fails: what was refused may come back after a crash
};

class Explorer {
public:
    Explorer(std::uint64_t seed, const History& history, const ExplorerOptions& options);

    // Looks at `disk` before each of its operations from now on; ends with the disk.
    void watch(io::sim::Disk& disk);
    // Looks at it now.
    void visit(const io::sim::Disk& disk, const std::string& where);

    // The first state that was wrong, with all that is needed to find it again.
    const std::string& failure() const { return failure_; }
    const Ledger& ledger() const { return ledger_; }

private:
    struct State {
        std::unique_ptr<io::sim::Disk> disk;
        End end;
        std::size_t depth;
        std::string where;
        bool
            settled;  // nothing was pending: interrupted recovery ends as an uninterrupted one does
    };

    Result<> open(LogWorld& world) const;
    void examine(State state, const Reading* expected);
    void examine_again(LogWorld& world, const State& state, Reading expected);
    void fail(const State& state, const std::string& why);

    Random random_;
    const History& history_;
    const ExplorerOptions options_;
    Ledger ledger_;
    std::deque<std::string> operations_;  // the last ones of the running log, for readers
    std::string failure_;
};

}  // namespace evenkeel::crash
