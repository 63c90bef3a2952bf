// How many instances a group should have now: target-based, in counts that divide the partitions
// evenly, out at once and in slowly. Pure; explain_scale.h tells a decision in words.
//
//     demand  = ceil(unread / target)
//     formula = least even count >= demand, at most one instance per partition (even_split.h)
//     wanted  = formula + standby, between min and max
//
// Invariants
//   SCALE-3  wanted is between min and the ceiling (max, or else partitions + standby).
//   SCALE-4  Never less than now while the hub or the store cannot be read.
//   SCALE-5  Never less than what any reading of the last `in_after` wanted, nor than what the
//            arriving events need: a load that oscillates faster does not move the count.
//   SCALE-6  0 only after `idle_after` without an unread event, and without one that arrived.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "host/scale/load_history.h"

namespace evenkeel::host {

struct ScalePolicy {
    std::int64_t target = 100;  // unread events for one instance
    std::uint32_t min = 0;
    std::uint32_t max = 0;      // 0: one for each partition, and the standby
    std::uint32_t standby = 0;  // beyond what the load needs, ready to take over
    // A scale-out at most doubles the instances, or adds this many. 0: all at once.
    std::uint32_t step_min = 4;
    Duration in_after = std::chrono::seconds(60);
    Duration idle_after = std::chrono::seconds(120);

    static constexpr std::int64_t target_max = 1'000'000'000;
    static constexpr std::uint32_t instances_max = 10'000;
    // For one who asks once, and keeps the count steady himself: the formula and its limits.
    static ScalePolicy without_memory();
};

// invalid_argument names what is wrong, and what is allowed.
Result<> check_policy(const ScalePolicy& policy);

struct ScaleDecision {
    enum class Above : std::uint8_t {  // why not more
        formula,                       // it is enough
        partitions,                    // a further one would own none
        max,
        step,  // more will follow
        unknown,
    };
    enum class Below : std::uint8_t {  // why not less
        formula,                       // it is needed
        zero,
        min,
        recent,    // a load within the last minutes
        idle,      // an event within the last minutes
        arrivals,  // fewer would fall behind
        step,      // while events arrive, one step halves the instances
        young,     // nobody has watched for long enough to know
        moving,    // partitions are being handed over
        unknown,
    };

    std::uint32_t wanted = 0;
    std::uint32_t instances = 0;  // now
    std::uint32_t formula = 0;    // without standby, history and limits
    std::int64_t demand = 0;
    std::uint32_t ceiling = 0;
    Above above = Above::formula;
    Below below = Below::formula;
    std::optional<Duration> may_shrink_in = {};  // if nothing more arrives
    LoadSum load = {};
    std::optional<std::string> unknown = {};  // why the load is not known: hold
    std::optional<double> arrivals_per_s = {};
    std::optional<double> instance_per_s = {};
};

// `instances` run now. `policy` was checked.
ScaleDecision decide_scale(const LoadHistory& history, const ScalePolicy& policy,
                           std::uint32_t instances, Instant now);

// Of several functions in one instance: that which wants the most.
const ScaleDecision& greatest(const ScaleDecision& a, const ScaleDecision& b);

}  // namespace evenkeel::host
