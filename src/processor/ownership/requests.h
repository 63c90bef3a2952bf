// What operators ask of a group, as records in the store (checkpoint/store.h): to pause, and
// to drain one instance. `evenkeel processor` writes them; each instance looks now and then.
//
//     request/pause                 "all", or "0,3,7": partitions
//     request/store, request/lost   written by members: processor/ownership/store_mark.h
//     request/parked/<partition>    written by members: processor/ownership/parked.h
//     request/drain/<incarnation>   that instance hands everything over and stops
//
// Threads: values; RequestWatch is pinned to its loop. Failure: what cannot be read is no request,
// and a store that does not answer is asked again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "io/timer.h"
#include "processor/ownership/parked.h"
#include "processor/ownership/store_mark.h"

namespace evenkeel::processor {

inline constexpr std::string_view request_prefix = "request/";
inline constexpr std::string_view pause_key = "request/pause";
inline constexpr std::string_view drain_prefix = "request/drain/";

struct Paused {
    bool all = false;
    std::set<std::uint32_t> partitions = {};

    bool contains(PartitionId partition) const {
        return all || partitions.contains(partition.value);
    }
    bool empty() const { return !all && partitions.empty(); }
    bool operator==(const Paused&) const = default;
};

// "" if nothing is paused. What cannot be read pauses nothing.
std::string encode(const Paused& paused);
Paused decode_paused(std::string_view text);

struct Requests {
    Paused paused;
    std::optional<checkpoint::Record> drain;  // ours
    StoreSigns store;
    std::map<PartitionId, Parked> parked;
};
// The key under which this incarnation is asked to drain.
std::string drain_key(std::string_view incarnation);
Requests read_requests(const std::vector<checkpoint::Record>& records,
                       std::string_view incarnation);

// Looks for requests again and again. Threads: pinned to the loop.
class RequestWatch {
public:
    struct Told {
        std::function<void(const Requests&)> seen;  // after each good look
        std::function<void(const Error&, Duration retried_in)> failed;
    };
    // Loop and store outlive it.
    RequestWatch(io::Loop& loop, checkpoint::Store& store, std::string incarnation, Duration period,
                 Told told, Random random);
    ~RequestWatch() { stop(); }

    void start() { look(); }
    void stop();
    // Looks now instead of at the end of the period: somebody asks the store anyway.
    void look_now();

private:
    void look();
    void look_after(Duration delay);

    io::Loop& loop_;
    checkpoint::Store& store_;
    const std::string incarnation_;
    const Duration period_;
    const Told told_;
    Random random_;
    io::Timer timer_{loop_};  // not pending while a look is under way
    std::uint32_t failures_ = 0;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
