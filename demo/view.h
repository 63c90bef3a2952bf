// The demo while it runs, on stderr: on a terminal a table that is drawn anew each second,
// elsewhere a line every few seconds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/text/terminal.h"
#include "demo/traffic.h"

namespace evenkeel::demo {

// "a" for processor 0, "b" and so on.
std::string processor_name(int processor);

class View {
public:
    // `duration` is how long the demo will run, if that is known.
    // `keys`, if there are any, are shown with it.
    // `memory` tells how much the processes use, in one line.
    View(const Traffic& traffic, std::optional<Duration> duration, Instant start, std::string keys,
         std::function<std::string()> memory = {});

    Instant start() const { return start_; }
    // Prints an event of the run once, above the table.
    void say(Instant now, const std::string& text);
    // When it is time again.
    void show(Instant now);
    // The last time; below it, one line that says what happens now.
    void finish(Instant now, const std::string& text);

private:
    struct Snapshot {
        std::uint64_t sent = 0;
        std::uint64_t durable = 0;
        std::uint64_t read = 0;
        std::uint64_t refused = 0;
        std::int64_t checkpoint = -1;
        std::int64_t read_up_to = -1;
        int owner = -1;
        cli::Latencies::Buckets acknowledged_after{};
        void add(const PartitionTraffic& traffic);
    };

    std::vector<std::string> row(const std::string& name, const Snapshot& now,
                                 const Snapshot& before, double seconds) const;
    void draw(Instant now);
    void show_table(const std::vector<Snapshot>& now, const Snapshot& total, Instant time);
    void show_line(const Snapshot& total, Instant time);
    std::string footer(const Snapshot& total, Instant time) const;

    const Traffic& traffic_;
    const std::optional<Duration> duration_;
    const Instant start_;
    const std::string keys_;
    const std::function<std::string()> memory_;
    cli::Terminal terminal_ = cli::terminal_of(stderr);  // users change its size
    const bool as_table_;
    std::vector<Snapshot> before_;
    Snapshot total_before_;
    Instant shown_;
    std::size_t lines_shown_ = 0;
};

}  // namespace evenkeel::demo
