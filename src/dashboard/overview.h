// The hub's traffic as a whole, with its last hour: sums of all event hubs that a reader may see.
//
// Ownership: loop and hubs outlive it. Threads: pinned to the hub's loop.
// Failure: the history is in memory, and begins with the server.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "dashboard/json_writer.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::dashboard {

// Which event hubs a reader may see, by name.
using Reach = std::function<bool(const std::string& hub)>;

class TrafficHistory {
public:
    static constexpr Duration step = std::chrono::seconds(10);
    static constexpr std::size_t steps_max = 360;  // an hour
    static constexpr std::size_t spark_steps = 9;  // of a line's 40 points

    TrafficHistory(io::Loop& loop, hub::Namespace& hubs);

    struct Sum {
        double in = 0;
        double out = 0;
    };
    Sum now(const std::string& hub) const;
    // "history":{"t":[...],"in":[...],"out":[...],"hubs":{"homes":[...]}}, of the event hubs within
    // reach; of each of them what came in, as means of spark_steps.
    void write(JsonWriter& json, const Reach& reach) const;

private:
    struct Point {
        WallTime at;
        std::map<std::string, Sum> hubs;  // by name
    };
    void sample();
    void write_lines(JsonWriter& json, const Reach& reach) const;

    io::Loop& loop_;
    hub::Namespace& hubs_;
    std::deque<Point> points_;
    io::Timer timer_{loop_};
};

}  // namespace evenkeel::dashboard
