// The day of one home, as its residents see it, put together from the aggregates and nothing else.
//
// Objects never change once they are there, so a home that was asked for before needs only those
// that are new. Homes nobody asks for cost nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aggregate.h"
#include "objects.h"
#include <evenkeel/error.h>

namespace homes {

struct HomeDay {
    static constexpr std::int64_t bucket_ms = 600'000;  // a stroke of the ring: ten minutes
    static constexpr std::size_t buckets = 150;         // 25 hours: a day with any clock change
    static constexpr std::size_t happenings_max = 40;

    struct SensorDay {
        std::int64_t known_ms = 0;    // when it last reported; 0: not yet
        std::int64_t changed_ms = 0;  // when something last happened; 0: nothing did
        State state = State::still;
        std::array<std::uint32_t, buckets> changes = {};  // by bucket, as at()
    };
    struct Happening {
        std::int64_t at_ms = 0;
        std::uint8_t sensor = 0;
        State state = State::still;
    };

    std::int64_t as_of_ms = 0;  // up to when the aggregates of its partition reach
    std::int64_t window_ms = 0;
    std::int64_t first_bucket = 0;  // since 1970
    std::array<SensorDay, sensors.size()> by_sensor = {};
    std::deque<Happening> happenings = {};  // in order of time
    std::optional<Happening> incident = {};

    void add(const HomeSum& sum);
    // Forgets what is older than the buckets that end now.
    void move_on(std::int64_t now_ms);

private:
    void add_happening(const Happening& happening);
};

// As the page gets it.
std::string to_json(std::uint32_t home, const HomeDay& day, std::int64_t now_ms);

// Threads: one.
class HomeDays {
public:
    HomeDays(Objects& objects, std::uint32_t partitions);

    // Not found: no aggregate of this home in the last minutes.
    evenkeel::Result<const HomeDay*> look(std::uint32_t home, std::int64_t now_ms);

private:
    static constexpr std::size_t homes_max = 1000;  // looked at lately
    static constexpr std::size_t heads_max = 20'000;

    struct Looked {
        HomeDay day = {};
        ObjectName last = {};          // that was read; everything behind it is new
        HomeDay before = {};           // it was read
        std::int64_t gap_seen_ms = 0;  // an object behind `last` is missing; 0: none is
        std::int64_t used_ms = 0;
    };

    evenkeel::Result<std::uint32_t> find_partition(std::uint32_t home, std::int64_t now_ms);
    evenkeel::Result<> learn_partitions(std::uint32_t home, std::int64_t now_ms);
    evenkeel::Result<> learn_homes(const ObjectName& object);
    // False if an object is missing, and may still come.
    evenkeel::Result<bool> read_new(std::uint32_t home, std::vector<ObjectName> names,
                                    std::int64_t now_ms, Looked& looked);
    evenkeel::Result<> read_object(std::uint32_t home, const ObjectName& object, Looked& looked);
    evenkeel::Result<const WindowHead*> head(const std::string& name);
    evenkeel::Result<std::optional<HomeSum>> sum(const std::string& name, std::uint32_t home);
    void make_room();

    Objects& objects_;
    const std::uint32_t partitions_;
    std::map<std::uint32_t, Looked> looked_;
    struct KeptHead {
        WindowHead head;
        std::uint64_t bytes = 0;  // of the first line
    };
    std::map<std::string, KeptHead> heads_;
    std::map<std::uint32_t, std::uint32_t> partition_of_;  // never changes; bounded by the homes
    std::set<std::string> learned_;  // objects whose homes are in partition_of_
    std::int64_t learn_again_ms_ = 0;
};

}  // namespace homes
