// A log at work, by chance from one seed: appends of all sizes, several in flight, rolls,
// retention, purge, close and reopen, clock steps, readers, and crashes that it comes back from;
// with an explorer that looks at every step of its disk.
#pragma once

#include <memory>
#include <string>

#include "crash/explorer.h"
#include "crash/log_world.h"

namespace evenkeel::crash {

enum class Step : std::uint8_t {
    append_one,
    append_batch,
    append_roll,  // larger than what is left of the segment
    retain,
    purge,
    reopen,
};
inline constexpr std::size_t step_kinds = 6;
std::string_view to_string(Step step);

// Events of one size: what is left of a refused flush lines up with what is written over it.
enum class Sizes : std::uint8_t { any, same };

class Workload {
public:
    Workload(std::uint64_t seed, const ExplorerOptions& options, Sizes sizes = Sizes::any);

    // One step, to its end.
    void step(Step step);
    // One that is drawn, of these and more; the disk may still be at work afterwards.
    void random_step();
    // The process or the machine ends here and now, and starts again.
    void crash(End end);
    // The disk is well again: the log takes appends at once, without a restart.
    void heal();
    // Waits for the disk, reads everything, checks; and looks at the end state too.
    void finish();
    // The same without the last look: the running log gives what it took, and nothing it refused.
    void read_and_check();

    History& history() { return history_; }
    LogWorld& world() { return *world_; }
    Explorer& explorer() { return explorer_; }
    std::uint64_t acknowledged() const;

    // Empty if nothing was wrong so far.
    std::string failure() const { return failure_.empty() ? explorer_.failure() : failure_; }

private:
    void append_random(std::size_t events, std::size_t body_bytes_max);
    void retain();
    void purge(std::int64_t first_kept);
    void note_begin();
    void start(std::unique_ptr<io::sim::Disk> disk);
    void reopen();
    void settle();
    void failed_read(const Error& error);
    void fail(const std::string& why);

    Random random_;
    const ExplorerOptions options_;
    const Sizes sizes_;
    History history_;
    Explorer explorer_;
    std::unique_ptr<LogWorld> world_;
    std::unique_ptr<commitlog::RetentionClock> retention_clock_;
    std::string failure_;
    std::string steps_;  // what was done, for readers
};

}  // namespace evenkeel::crash
