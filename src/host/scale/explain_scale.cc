#include "host/scale/explain_scale.h"

#include <algorithm>

#include <fmt/core.h>

#include "host/scale/even_split.h"

namespace evenkeel::host {
namespace {

using Above = ScaleDecision::Above;
using Below = ScaleDecision::Below;

std::string count_of(std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string seconds_text(Duration duration) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
    return fmt::format("{} s", std::max<std::int64_t>(0, seconds));
}

std::string why(const ScaleDecision& decision, const ScalePolicy& policy) {
    if (decision.unknown) return fmt::format("hold: the lag is not known: {}", *decision.unknown);
    const LoadSum& load = decision.load;
    std::string text = fmt::format("{} unread / {} per instance = {}", load.unread, policy.target,
                                   decision.demand);
    if (decision.formula < decision.demand) {
        text += fmt::format(", at most one for each of {}", count_of(load.partitions, "partition"));
    } else if (decision.formula != decision.demand) {
        text += fmt::format(", next even split of {} = {}", count_of(load.partitions, "partition"),
                            decision.formula);
    }
    if (policy.standby > 0 && decision.formula > 0) {
        text += fmt::format(", and {} on standby", policy.standby);
    }
    if (load.never_read > 0) {
        text += fmt::format("; {} without a checkpoint", count_of(load.never_read, "partition"));
    }
    if (load.lost > 0) {
        text +=
            fmt::format("; {} that retention removed do not count", count_of(load.lost, "event"));
    }
    return text;
}

std::string not_more(const ScaleDecision& decision, const ScalePolicy& policy) {
    switch (decision.above) {
        case Above::formula:
            if (decision.load.unread == 0) return "nothing is unread";
            return fmt::format("{} for up to {} unread events",
                               decision.formula == 1
                                   ? "one is enough"
                                   : fmt::format("{} are enough", decision.formula),
                               decision.formula * policy.target);
        case Above::partitions:
            return fmt::format("a partition has one reader: of more than {} some would wait",
                               count_of(decision.load.partitions, "instance"));
        case Above::max:
            return policy.max == 0 ? fmt::format("one for each of {} and the standby is the most",
                                                 count_of(decision.load.partitions, "partition"))
                                   : fmt::format("max is {}", policy.max);
        case Above::step:
            return fmt::format("one step doubles the instances, or adds {}; more will follow",
                               policy.step_min);
        case Above::unknown: return "nothing is started for a lag that is not known";
    }
    return "";
}

std::string needed(const ScaleDecision& decision, const ScalePolicy& policy) {
    const std::uint32_t fewer = even_split_below(decision.formula, decision.load.partitions);
    if (fewer == 0) return "somebody has to read the unread events";
    return fmt::format("{} would have more than {} unread events each", count_of(fewer, "instance"),
                       policy.target);
}

std::string not_less(const ScaleDecision& decision, const ScalePolicy& policy) {
    const std::string when =
        decision.may_shrink_in
            ? fmt::format("; may shrink in {}", seconds_text(*decision.may_shrink_in))
            : "";
    switch (decision.below) {
        case Below::formula: return needed(decision, policy);
        case Below::zero: return "there is nothing below 0";
        case Below::min: return fmt::format("min is {}", policy.min);
        case Below::recent:
            return fmt::format("a load of the last {} needed it{}", seconds_text(policy.in_after),
                               when);
        case Below::idle:
            return fmt::format("an event was unread within the last {}{}",
                               seconds_text(policy.idle_after), when);
        case Below::arrivals:
            return fmt::format(
                "{:.1f} events/s arrive and an instance handles {:.1f}: fewer "
                "would fall behind",
                decision.arrivals_per_s.value_or(0), decision.instance_per_s.value_or(0));
        case Below::step:
            return fmt::format("while events arrive, one step in {} halves the instances{}",
                               seconds_text(policy.in_after), when);
        case Below::young:
            return fmt::format("the lag has not been watched for {} yet{}",
                               seconds_text(policy.in_after), when);
        case Below::moving: return "partitions are being handed over";
        case Below::unknown: return "nothing is stopped for a lag that is not known";
    }
    return "";
}

}  // namespace

ScaleWords explain_scale(const ScaleDecision& decision, const ScalePolicy& policy) {
    return {why(decision, policy), not_more(decision, policy), not_less(decision, policy)};
}

std::string scale_line(const ScaleDecision& decision, const ScalePolicy& policy) {
    const ScaleWords words = explain_scale(decision, policy);
    return fmt::format("{} wanted, {} now: {}. Not more: {}. Not less: {}.",
                       count_of(decision.wanted, "instance"), decision.instances, words.why,
                       words.not_more, words.not_less);
}

}  // namespace evenkeel::host
