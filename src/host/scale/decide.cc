#include "host/scale/decide.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "host/scale/even_split.h"

namespace evenkeel::host {
namespace {

using Above = ScaleDecision::Above;
using Below = ScaleDecision::Below;

// Instances that are just enough would never catch up.
constexpr double headroom = 1.1;
constexpr double demand_max = 1e9;
constexpr double arrivals_min = 0.01;  // a second

std::int64_t demand_of(std::int64_t unread, const ScalePolicy& policy) {
    return unread / policy.target + (unread % policy.target == 0 ? 0 : 1);
}

class Deciding {
public:
    Deciding(const LoadHistory& history, const ScalePolicy& policy, Instant now,
             ScaleDecision& decision)
        : history_(history), policy_(policy), now_(now), decision_(decision) {}

    void decide() {
        decision_.demand = demand_of(decision_.load.unread, policy_);
        decision_.formula = even_split(decision_.demand, decision_.load.partitions);
        const std::uint32_t wanted = with_standby(decision_.formula);
        decision_.wanted = wanted;
        decision_.below = wanted == 0 ? Below::zero : Below::formula;
        if (decision_.demand > decision_.formula) decision_.above = Above::partitions;
        if (wanted > decision_.instances) limit_step();
        if (wanted < decision_.instances) keep();
        limit();
    }

    void limit() {
        if (decision_.wanted > decision_.ceiling) {
            decision_.wanted = decision_.ceiling;
            decision_.above = Above::max;
        }
        const bool is_needed = decision_.below == Below::formula;
        if (decision_.wanted < policy_.min ||
            (decision_.wanted == policy_.min && policy_.min > 0 && !is_needed)) {
            decision_.wanted = policy_.min;
            decision_.below = Below::min;
            decision_.may_shrink_in.reset();
        }
    }

private:
    std::uint32_t with_standby(std::uint32_t count) const {
        return count == 0 ? 0 : count + policy_.standby;
    }

    void limit_step() {
        if (policy_.step_min == 0) return;
        const std::uint32_t step = std::max(decision_.instances, policy_.step_min);
        if (decision_.wanted - decision_.instances <= step) return;
        decision_.wanted = decision_.instances + step;
        decision_.above = Above::step;
    }

    // Raises a count that is below the instances there are, as far as something speaks for them.
    void keep() {
        keep_for_recent_load();
        // Else nothing was unread and nothing arrived for the idle time. The smoothed rate takes
        // minutes to say so after a burst.
        if (decision_.wanted > 0) {
            keep_for_arrivals();
            keep_for_step();
        }
        const bool is_young =
            policy_.in_after > Duration(0) && history_.watched(now_) < policy_.in_after;
        if (is_young) {
            raise(decision_.instances, Below::young);
            decision_.may_shrink_in = policy_.in_after - history_.watched(now_);
        }
        if (history_.is_moving(now_) && policy_.in_after > Duration(0)) {
            raise(decision_.instances, Below::moving);
        }
    }

    void keep_for_recent_load() {
        const auto recent = history_.unread().within(policy_.in_after, now_);
        const std::uint32_t count =
            even_split(demand_of(recent.value_or(0), policy_), decision_.load.partitions);
        raise(with_standby(count), Below::recent);
        if (decision_.below == Below::recent) {
            // What the smaller count is enough for.
            const std::int64_t fits = decision_.formula * policy_.target;
            if (const auto last = history_.unread().last_above(fits)) {
                decision_.may_shrink_in = *last + policy_.in_after - now_;
            }
        }
        if (decision_.wanted > 0) return;
        const auto idle = history_.activity().within(policy_.idle_after, now_);
        const bool is_watched = history_.watched(now_) >= policy_.idle_after;
        if (is_watched && idle.value_or(0) == 0) return;
        raise(with_standby(1), Below::idle);
        const Instant last =
            history_.activity().last_above(0).value_or(now_ - history_.watched(now_));
        decision_.may_shrink_in = last + policy_.idle_after - now_;
    }

    void keep_for_arrivals() {
        if (policy_.in_after == Duration(0)) return;
        const auto arrivals = history_.arrivals_per_s();
        const auto instance = history_.instance_per_s(now_);
        if (!arrivals || !instance || *instance <= 0) return;
        const double needed = std::ceil(*arrivals * headroom / *instance - 1e-9);
        const std::uint32_t count =
            even_split(static_cast<std::int64_t>(std::clamp(needed, 0.0, demand_max)),
                       decision_.load.partitions);
        // A trickle is no reason to stay: going to zero is decided by the idle time.
        if (count > 1) raise(with_standby(count), Below::arrivals);
    }

    // While events arrive, nobody knows how few are enough: half as many, then a look.
    void keep_for_step() {
        if (policy_.in_after == Duration(0)) return;
        if (history_.arrivals_per_s().value_or(0) < arrivals_min) return;
        const auto last = history_.shrunk_at();
        const bool is_early = last && now_ - *last < policy_.in_after;
        raise(is_early ? decision_.instances : (decision_.instances + 1) / 2, Below::step);
        if (is_early && decision_.below == Below::step) {
            decision_.may_shrink_in = *last + policy_.in_after - now_;
        }
    }

    void raise(std::uint32_t count, Below reason) {
        const std::uint32_t kept = std::min(count, decision_.instances);
        if (kept <= decision_.wanted) return;
        decision_.wanted = kept;
        decision_.below = reason;
        decision_.may_shrink_in.reset();
    }

    const LoadHistory& history_;
    const ScalePolicy& policy_;
    const Instant now_;
    ScaleDecision& decision_;
};

}  // namespace

ScalePolicy ScalePolicy::without_memory() {
    ScalePolicy policy;
    policy.step_min = 0;
    policy.in_after = Duration(0);
    policy.idle_after = Duration(0);
    return policy;
}

Result<> check_policy(const ScalePolicy& policy) {
    const auto wrong = [](std::string text) {
        return Error{ErrorCode::invalid_argument, std::move(text)};
    };
    if (policy.target < 1 || policy.target > ScalePolicy::target_max) {
        return wrong(fmt::format("the target is {} unread events for an instance; from 1 to {}",
                                 policy.target, ScalePolicy::target_max));
    }
    for (const std::uint32_t count : {policy.min, policy.max, policy.standby}) {
        if (count <= ScalePolicy::instances_max) continue;
        return wrong(fmt::format("{} instances are too many; at most {}", count,
                                 ScalePolicy::instances_max));
    }
    if (policy.max != 0 && policy.min > policy.max) {
        return wrong(fmt::format("min is {}, which is above max, {}", policy.min, policy.max));
    }
    if (policy.in_after > RecentMax::window_max || policy.idle_after > RecentMax::window_max) {
        return wrong("a scale-in can be held for 30 minutes at most");
    }
    return {};
}

ScaleDecision decide_scale(const LoadHistory& history, const ScalePolicy& policy,
                           std::uint32_t instances, Instant now) {
    ScaleDecision decision;
    decision.instances = instances;
    decision.load = history.latest();
    decision.arrivals_per_s = history.arrivals_per_s();
    decision.instance_per_s = history.instance_per_s(now);
    decision.ceiling = policy.max != 0
                           ? policy.max
                           : std::max(decision.load.partitions + policy.standby, policy.min);
    Deciding deciding(history, policy, now, decision);
    if (!history.unknown()) {
        deciding.decide();
        return decision;
    }
    decision.unknown = history.unknown();
    decision.wanted = instances;
    decision.above = Above::unknown;
    decision.below = Below::unknown;
    decision.ceiling = std::max({policy.max, policy.min, instances});
    deciding.limit();
    return decision;
}

const ScaleDecision& greatest(const ScaleDecision& a, const ScaleDecision& b) {
    return b.wanted > a.wanted ? b : a;
}

}  // namespace evenkeel::host
