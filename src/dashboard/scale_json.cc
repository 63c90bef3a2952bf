#include "dashboard/scale_json.h"

#include <algorithm>

#include "host/scale/explain_scale.h"

namespace evenkeel::dashboard {

host::GroupLoad load_of(const GroupView& view) {
    host::GroupLoad load;
    load.behind_ms = view.behind_ms();
    for (const PartitionView& partition : view.partitions) {
        const Progress& progress = partition.progress;
        load.partitions.push_back(
            {progress.lag, progress.lost, progress.position, partition.hub.end.last});
        if (!view.members.empty() && partition.phase != "owned") load.is_moving = true;
    }
    return load;
}

std::uint32_t instances_of(const GroupView& view) {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(view.members, [](const MemberView& member) {
            return member.state == "active" || member.state == "standby";
        }));
}

void write_scale(JsonWriter& json, const host::ScaleDecision& decision,
                 const host::ScalePolicy& policy) {
    const bool is_known = !decision.unknown;
    const host::LoadSum& load = decision.load;
    const auto if_known = [&](auto value) {
        return is_known ? std::optional(value) : std::nullopt;
    };
    json.member("state", is_known ? "known" : "unknown");
    json.member("wanted", if_known(decision.wanted));
    json.member("instances", if_known(decision.instances));
    json.member("partitions", if_known(load.partitions));
    json.member("unread", if_known(load.unread));
    std::optional<double> behind_s;
    if (is_known && load.behind_ms) behind_s = static_cast<double>(*load.behind_ms) / 1000;
    json.member("unread_seconds", behind_s);
    json.member("lost", if_known(load.lost)).member("never_read", if_known(load.never_read));
    json.member("target", policy.target);
    const auto words = host::explain_scale(decision, policy);
    json.member("why", words.why).member("why_not_more", words.not_more);
    json.member("why_not_less", words.not_less);
}

}  // namespace evenkeel::dashboard
