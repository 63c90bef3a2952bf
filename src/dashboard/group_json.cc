// tidy: no test: door/admin/dashboard_resource_test.cc reads what it writes
#include "dashboard/group_json.h"

#include <algorithm>

#include "base/redacted.h"

namespace evenkeel::dashboard {
namespace {

std::string_view name_of(WatchedGroup::State state) {
    switch (state) {
        case WatchedGroup::State::opening: return "opening";
        case WatchedGroup::State::ok: return "ok";
        case WatchedGroup::State::failed: return "failed";
    }
    return "";
}

// "" = nobody
std::optional<std::string> name_or_none(const std::string& id) {
    return id.empty() ? std::nullopt : std::optional(id);
}

// Partitions that somebody should look at, some of many.
void write_needs(JsonWriter& json, const GroupView& view) {
    constexpr std::size_t needs_max = 8;
    std::size_t count = 0;
    json.key("needs").array([&] {
        for (const PartitionView& partition : view.partitions) {
            if (partition.state != "stalled" && partition.state != "parked") continue;
            if (++count > needs_max) return;
            json.object([&] {
                json.member("p", partition.partition);
                write_state(json, partition);
                json.member("lag", partition.progress.lag);
            });
        }
    });
}

void write_partition(JsonWriter& json, const PartitionView& partition) {
    const HubPartition& hub = partition.hub;
    const Progress& progress = partition.progress;
    json.object([&] {
        write_owner(json, partition);
        json.member("in_per_s", hub.in_per_s).member("out_per_s", hub.out_per_s);
        json.member("begin", hub.end.begin).member("end", hub.end.last);
        write_time(json, "end_at", hub.end.last_enqueued_ms);
        json.member("checkpoint",
                    progress.position < 0 ? std::nullopt : std::optional(progress.position));
        write_time(json, "checkpoint_at", partition.checkpoint_at_ms);
        json.member("stored_ms", partition.stored_ms);
        json.member("behind_ms", progress.behind_ms).member("lag", progress.lag);
        json.member("loss_s", partition.loss_s).member("lost", progress.lost);
        json.member("repeats_max", partition.repeats_max);
        write_state(json, partition);
        json.member("reader_epoch", hub.reader_epoch);
    });
}

// The partition that is furthest behind; none if of one it is not known.
std::optional<std::uint32_t> furthest_partition(const GroupView& view) {
    const auto behind = view.behind_ms();
    const auto found = std::ranges::find_if(view.partitions, [&](const PartitionView& each) {
        return behind && each.progress.behind_ms == *behind;
    });
    return found == view.partitions.end() ? std::nullopt : std::optional(found->partition);
}

}  // namespace

void write_head(JsonWriter& json, const WatchedGroup& group, Instant now) {
    json.member("hub", group.wish().hub).member("group", group.wish().group);
    json.member("store", without_secrets(group.wish().store));
    json.member("state", name_of(group.state()));
    std::optional<std::string> error;
    if (group.error()) error = without_secrets(group.error()->detail);
    json.member("error", error);
    std::optional<std::int64_t> retry;
    if (const auto at = group.retried_at()) {
        retry = std::max<std::int64_t>(
            0, std::chrono::duration_cast<std::chrono::seconds>(*at - now).count());
    }
    json.member("retry_in_s", retry);
}

void write_time(JsonWriter& json, std::string_view key, std::optional<std::int64_t> ms) {
    json.key(key);
    if (ms.value_or(0) == 0) {
        json.null();
    } else {
        json.value(WallTime{*ms});
    }
}

void write_member(JsonWriter& json, const MemberView& member) {
    json.member("id", member.id).member("state", member.state).member("host", member.host);
    write_time(json, "since", member.since_ms);
    json.member("silent_ms", member.silent_ms).member("lease_ms", member.lease_ms);
    json.member("dead_after_ms", member.dead_after_ms).member("profile", member.profile);
    json.member("share", member.share).member("in_per_s", member.in_per_s);
}

void write_owner(JsonWriter& json, const PartitionView& partition) {
    json.member("p", partition.partition).member("owner", partition.owner);
    json.member("epoch", partition.epoch);
    write_time(json, "owned_since", partition.owned_since_ms);
    json.member("phase", partition.phase).member("next", partition.next);
}

void write_state(JsonWriter& json, const PartitionView& partition) {
    json.member("state", partition.state);
    write_time(json, "since", partition.since_ms);
    json.member("cause", partition.cause);
}

void write_move(JsonWriter& json, const processor::OwnerMove& move) {
    write_time(json, "at", move.at_ms);
    json.member("p", move.partition.value);
    json.member("from", name_or_none(move.from)).member("to", name_or_none(move.to));
    json.member("reason", move.reason);
    json.member("gap_ms", move.gap_ms).member("repeated", move.repeated);
}

void write_requests(JsonWriter& json, const GroupView& view) {
    json.key("requests").array([&] {
        for (const auto& request : view.requests) {
            json.object([&] {
                json.member("kind", request.kind).member("what", request.what);
                json.key("at").null();
            });
        }
    });
}

void write_summary(JsonWriter& json, const WatchedGroup& group, const GroupView& view,
                   Instant now) {
    write_head(json, group, now);
    json.member("members", view.members.size()).member("partitions", view.partitions.size());
    json.member("owned", view.owned()).member("behind_ms", view.behind_ms());
    json.member("furthest", furthest_partition(view));
    json.member("lag_events", view.lag()).member("loss_s", view.loss_s());
    json.member("dead_letters", view.dead_letters);
    write_needs(json, view);
    json.key("owners").array([&] {
        for (const auto& member : view.members) json.value(member.id);
    });
    json.key("strip").array([&] {
        for (const auto& partition : view.partitions) {
            const auto owner = std::ranges::find_if(view.members, [&](const MemberView& member) {
                return partition.owner == member.id;
            });
            json.value(owner == view.members.end() ? std::ptrdiff_t{-1}
                                                   : owner - view.members.begin());
        }
    });
}

void write_snapshot(JsonWriter& json, const WatchedGroup& group, const GroupView& view,
                    const Moment& moment) {
    json.member("at", moment.wall);
    json.member("steady_ms", moment.now.nanoseconds / 1'000'000);
    write_head(json, group, moment.now);
    json.member("retention_ms", view.retention_ms);
    json.key("members").array([&] {
        for (const auto& member : view.members) {
            json.object([&] { write_member(json, member); });
        }
    });
    json.key("partitions").array([&] {
        for (const auto& partition : view.partitions) write_partition(json, partition);
    });
    json.key("moves").array([&] {
        for (const auto& move : view.moves) {
            json.object([&] { write_move(json, move); });
        }
    });
    write_requests(json, view);
    json.member("dead_letters", view.dead_letters);
}

}  // namespace evenkeel::dashboard
