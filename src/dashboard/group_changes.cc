// tidy: no test: tested by live_feed_test.cc
#include "dashboard/group_changes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace evenkeel::dashboard {
namespace {

auto face_of(const MemberView& member) {
    return std::tie(member.state, member.share, member.host, member.profile, member.since_ms);
}
auto owner_of(const PartitionView& partition) {
    return std::tie(partition.owner, partition.epoch, partition.phase, partition.next);
}
auto state_of(const PartitionView& partition) {
    return std::tie(partition.state, partition.since_ms, partition.cause);
}

const MemberView* find(const std::vector<MemberView>& members, const std::string& id) {
    const auto found = std::ranges::find(members, id, &MemberView::id);
    return found == members.end() ? nullptr : &*found;
}

}  // namespace

template <typename Fill>
LiveEvent GroupChanges::event(std::string_view name, Fill fill) const {
    JsonWriter json;
    json.object([&] {
        json.member("topic", topic_);
        fill(json);
    });
    return {std::string(name), json.take()};
}

std::vector<LiveEvent> GroupChanges::update(const WatchedGroup& group, const GroupView& view,
                                            Instant now) {
    std::vector<LiveEvent> events;
    // Without the time of the next try, which passes by itself.
    JsonWriter head;
    head.array([&] {
        head.value(static_cast<int>(group.state()));
        head.value(group.error() ? group.error()->detail : "");
    });
    if (before_) {
        if (head.text() != head_before_) {
            events.push_back(
                event("group", [&](JsonWriter& json) { write_head(json, group, now); }));
        }
        compare_members(view, events);
        compare_partitions(view, events);
        compare_rest(view, events);
    }
    compare_moves(view, events);
    head_before_ = head.take();
    before_ = view;
    return events;
}

void GroupChanges::compare_members(const GroupView& view, std::vector<LiveEvent>& events) const {
    for (const MemberView& member : view.members) {
        const MemberView* const old = find(before_->members, member.id);
        if (old && face_of(*old) == face_of(member)) continue;
        events.push_back(event("member", [&](JsonWriter& json) { write_member(json, member); }));
    }
    for (const MemberView& old : before_->members) {
        if (find(view.members, old.id)) continue;
        MemberView gone = old;
        gone.state = "gone";
        gone.share = 0;
        events.push_back(event("member", [&](JsonWriter& json) { write_member(json, gone); }));
    }
}

void GroupChanges::compare_partitions(const GroupView& view, std::vector<LiveEvent>& events) const {
    for (std::size_t p = 0; p < view.partitions.size(); ++p) {
        const PartitionView& partition = view.partitions[p];
        const bool is_new = p >= before_->partitions.size();
        if (is_new || owner_of(before_->partitions[p]) != owner_of(partition)) {
            events.push_back(
                event("owner", [&](JsonWriter& json) { write_owner(json, partition); }));
        }
        if (is_new || state_of(before_->partitions[p]) != state_of(partition)) {
            events.push_back(event("state", [&](JsonWriter& json) {
                json.member("p", partition.partition);
                write_state(json, partition);
            }));
        }
    }
}

void GroupChanges::compare_moves(const GroupView& view, std::vector<LiveEvent>& events) {
    std::set<std::tuple<std::uint32_t, std::int64_t, bool>> now;
    for (auto move = view.moves.rbegin(); move != view.moves.rend(); ++move) {
        // Its gap is known a moment later: then it is reported again.
        const std::tuple key(move->partition.value, move->epoch.value, move->gap_ms.has_value());
        now.insert(key);
        if (!before_ || moves_.contains(key)) continue;
        events.push_back(event("move", [&](JsonWriter& json) { write_move(json, *move); }));
    }
    moves_ = std::move(now);
}

void GroupChanges::compare_rest(const GroupView& view, std::vector<LiveEvent>& events) const {
    if (view.requests != before_->requests) {
        events.push_back(event("request", [&](JsonWriter& json) { write_requests(json, view); }));
    }
    if (view.dead_letters != before_->dead_letters) {
        events.push_back(event(
            "letter", [&](JsonWriter& json) { json.member("dead_letters", view.dead_letters); }));
    }
}

std::optional<LiveEvent> GroupChanges::tick(const GroupView& view, const Moment& moment) {
    std::vector<const PartitionView*> changed;
    figures_.resize(view.partitions.size());
    for (std::size_t p = 0; p < view.partitions.size(); ++p) {
        const PartitionView& partition = view.partitions[p];
        const Figures figures{std::llround(partition.hub.in_per_s * 10), partition.hub.end.last,
                              partition.progress.position, partition.progress.lag,
                              partition.progress.behind_ms};
        if (std::exchange(figures_[p], figures) == figures) continue;
        changed.push_back(&partition);
    }
    if (changed.empty()) return std::nullopt;
    return event("tick", [&](JsonWriter& json) {
        json.member("at", moment.wall).member("steady_ms", moment.now.nanoseconds / 1'000'000);
        const auto column = [&](std::string_view name, auto value_of) {
            json.key(name).array([&] {
                for (const PartitionView* each : changed) json.value(value_of(*each));
            });
        };
        column("p", [](const PartitionView& each) { return each.partition; });
        column("in", [](const PartitionView& each) { return each.hub.in_per_s; });
        column("end", [](const PartitionView& each) { return each.hub.end.last; });
        column("cp", [](const PartitionView& each) {
            return each.progress.position < 0 ? std::nullopt
                                              : std::optional(each.progress.position);
        });
        column("behind_ms", [](const PartitionView& each) { return each.progress.behind_ms; });
        column("lag", [](const PartitionView& each) { return each.progress.lag; });
        column("loss_s", [](const PartitionView& each) { return each.loss_s; });
        column("stored_ms", [](const PartitionView& each) { return each.stored_ms; });
    });
}

}  // namespace evenkeel::dashboard
