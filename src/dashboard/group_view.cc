// tidy: no test: tested by groups_test.cc
#include "dashboard/group_view.h"

#include <algorithm>
#include <map>

#include "processor/balance/balancer.h"
#include "processor/ownership/requests.h"

namespace evenkeel::dashboard {
namespace {

using checkpoint::MemberState;
using processor::MemberIndex;
using processor::Members;

constexpr std::int64_t shown_after_ms = 5000;

std::int64_t milliseconds_of(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// As of the last look: what was written since then is not known.
bool is_silent(const Members::Seen& seen, const GroupState& state, Instant looked) {
    const auto usual = state.pace == checkpoint::Pace::thrifty ? processor::thrifty_timing()
                                                               : processor::standard_timing();
    const auto timing = processor::read_note(seen.member.note).timing.value_or(usual);
    return seen.is_dead || looked - seen.version_since > silent_after(timing);
}

MemberView member_view(const Members::Seen& seen, const GroupState& state, Instant looked,
                       Instant now) {
    MemberView view;
    const auto note = processor::read_note(seen.member.note);
    view.id = seen.member.id;
    view.host = note.host;
    if (note.timing) {
        view.profile = note.profile;
        view.lease_ms = milliseconds_of(note.timing->lease);
        view.dead_after_ms = milliseconds_of(note.timing->dead);
    }
    view.since_ms = seen.member.since_ms;
    view.silent_ms = milliseconds_of(now - seen.version_since);
    view.state = is_silent(seen, state, looked)              ? "silent"
                 : seen.member.state == MemberState::leaving ? "leaving"
                 : seen.member.state == MemberState::unable  ? "unable"
                                                             : "active";
    return view;
}

class ViewMaker {
public:
    ViewMaker(const GroupState& state, const HubSide& hub, const Members& seen, Instant now,
              WallTime wall)
        : state_(state), hub_(hub), seen_(seen), now_(now), wall_(wall) {}

    GroupView make() {
        view_.retention_ms = hub_.retention_ms;
        make_partitions();
        make_members();
        make_plan();
        make_requests();
        make_moves();
        view_.dead_letters = state_.dead_letters;
        return std::move(view_);
    }

private:
    void make_partitions() {
        view_.partitions.resize(hub_.partitions.size());
        for (std::uint32_t p = 0; p < view_.partitions.size(); ++p) {
            view_.partitions[p].partition = p;
            view_.partitions[p].hub = hub_.partitions[p];
            set_progress(view_.partitions[p], {.partition = {p}, .sequence = {-1}});
        }
        for (const auto& checkpoint : state_.checkpoints) {
            if (checkpoint.partition.value >= view_.partitions.size()) continue;
            set_progress(view_.partitions[checkpoint.partition.value], checkpoint);
        }
        for (const auto& entry : state_.ownerships) {
            if (entry.partition.value >= view_.partitions.size()) continue;
            PartitionView& partition = view_.partitions[entry.partition.value];
            partition.epoch = entry.epoch.value;
            partition.owned_since_ms = entry.since_ms;
            if (entry.owner.empty()) continue;
            partition.owner = entry.owner;
            partition.phase = "owned";
        }
        for (const auto& [id, seen] : seen_.others()) {
            for (const auto& offer : seen.member.offers) {
                if (offer.partition.value >= view_.partitions.size()) continue;
                PartitionView& partition = view_.partitions[offer.partition.value];
                if (partition.owner != id) continue;
                // The owner lets go of its reader when it drains.
                const bool is_read = partition.hub.reader_epoch == partition.epoch;
                partition.phase = !is_read && partition.hub.sent_epoch == partition.epoch
                                      ? "draining"
                                      : "offered";
                partition.next = offer.to;
            }
        }
    }

    void set_progress(PartitionView& to, const checkpoint::Checkpoint& checkpoint) const {
        to.progress = progress_of(to.hub.end, checkpoint, hub_.retention_ms.value_or(0));
        if (checkpoint.enqueued_ms != 0) to.checkpoint_at_ms = checkpoint.enqueued_ms;
        if (checkpoint.written_ms != 0) {
            to.stored_ms = std::max<std::int64_t>(0, wall_.milliseconds - checkpoint.written_ms);
        }
        to.loss_s.reset();
        to.repeats_max.reset();
        if (to.progress.loss_at_ms) {
            to.loss_s =
                std::max<std::int64_t>(0, (*to.progress.loss_at_ms - wall_.milliseconds) / 1000);
        }
        if (to.hub.last_sent) {
            to.repeats_max = std::max<std::int64_t>(0, *to.hub.last_sent - to.progress.position);
        }
    }

    void make_members() {
        for (const auto& [id, seen] : seen_.others()) {
            MemberView member = member_view(seen, state_, seen_.last_listed(), now_);
            for (const PartitionView& partition : view_.partitions) {
                if (partition.owner != id) continue;
                ++member.share;
                member.in_per_s += partition.hub.in_per_s;
            }
            // One that was taken over is shown a while longer, so that operators see who it was.
            const bool is_forgotten =
                member.dead_after_ms ? member.silent_ms > *member.dead_after_ms + shown_after_ms
                                     : seen.is_dead;
            if (member.share == 0 && is_forgotten) continue;
            if (member.state == "active" && member.share == 0) member.state = "standby";
            view_.members.push_back(std::move(member));
        }
        std::ranges::sort(view_.members, [](const MemberView& a, const MemberView& b) {
            return a.since_ms != b.since_ms ? a.since_ms < b.since_ms : a.id < b.id;
        });
    }

    // Where the partitions of nobody, and of those who are silent, will go: by the function that
    // the members themselves use.
    void make_plan() {
        processor::View view;
        std::map<std::string, MemberIndex, std::less<>> places;
        for (const auto& [id, seen] : seen_.others()) {
            if (is_silent(seen, state_, seen_.last_listed())) continue;
            places[id] = static_cast<MemberIndex>(view.members.size());
            view.members.push_back({.id = id,
                                    .is_leaving = seen.member.state == MemberState::leaving,
                                    .is_unable = seen.member.state == MemberState::unable});
        }
        if (view.members.empty()) return;
        view.self = 0;
        const auto place_of = [&](const std::optional<std::string>& id) {
            const auto found = id ? places.find(*id) : places.end();
            return found == places.end() ? processor::nobody : found->second;
        };
        bool is_any_free = false;
        for (const PartitionView& partition : view_.partitions) {
            view.partitions.push_back({place_of(partition.owner), place_of(partition.next), 0});
            is_any_free = is_any_free || view.partitions.back().owner == processor::nobody;
        }
        if (!is_any_free) return;
        for (const auto& move : processor::plan(view).moves) {
            if (move.from != processor::nobody || move.to == processor::nobody) continue;
            view_.partitions[move.partition.value].next =
                view.members[static_cast<std::size_t>(move.to)].id;
        }
    }

    void make_requests() {
        const auto requests = processor::read_requests(state_.requests, "");
        for (PartitionView& partition : view_.partitions) {
            const PartitionId id{partition.partition};
            if (const auto parked = requests.parked.find(id); parked != requests.parked.end()) {
                partition.state = "parked";
                if (parked->second.at_ms != 0) partition.since_ms = parked->second.at_ms;
                partition.cause = parked->second.reason;
            } else if (requests.paused.contains(id)) {
                partition.state = "paused";
            }
        }
        if (!requests.paused.empty()) {
            view_.requests.push_back(
                {"pause", requests.paused.all
                              ? "all partitions"
                              : "partitions " + processor::encode(requests.paused)});
        }
        for (const auto& [id, seen] : seen_.others()) {
            const std::string key = processor::drain_key(seen.member.incarnation);
            const bool is_asked = std::ranges::any_of(
                state_.requests, [&](const auto& record) { return record.key == key; });
            if (is_asked) view_.requests.push_back({"drain", id});
        }
    }

    void make_moves() {
        if (!state_.moves) return;
        const auto& moves = *state_.moves;
        const std::size_t count = std::min(moves.size(), GroupView::moves_max);
        view_.moves.assign(moves.rbegin(), moves.rbegin() + static_cast<std::ptrdiff_t>(count));
    }

    const GroupState& state_;
    const HubSide& hub_;
    const Members& seen_;
    const Instant now_;
    const WallTime wall_;
    GroupView view_;
};

}  // namespace

Duration silent_after(const processor::Timing& timing) {
    return timing.heartbeat * 5 / 4;
}

processor::Timing watching_timing() {
    processor::Timing timing = processor::standard_timing();
    timing.by_exact_age = true;
    return timing;
}

GroupView make_group_view(const GroupState* state, const HubSide& hub, const Members& seen,
                          Instant now, WallTime wall) {
    const GroupState none;
    return ViewMaker(state ? *state : none, hub, seen, now, wall).make();
}

std::optional<std::int64_t> GroupView::behind_ms() const {
    std::optional<std::int64_t> furthest;
    for (const PartitionView& partition : partitions) {
        if (!partition.progress.behind_ms) return std::nullopt;
        furthest = std::max(furthest.value_or(0), *partition.progress.behind_ms);
    }
    return furthest;
}

std::int64_t GroupView::lag() const {
    std::int64_t lag = 0;
    for (const PartitionView& partition : partitions) lag += partition.progress.lag;
    return lag;
}

std::optional<std::int64_t> GroupView::loss_s() const {
    std::optional<std::int64_t> nearest;
    for (const PartitionView& partition : partitions) {
        if (!partition.loss_s) continue;
        nearest = std::min(nearest.value_or(*partition.loss_s), *partition.loss_s);
    }
    return nearest;
}

std::size_t GroupView::owned() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        partitions, [](const PartitionView& partition) { return partition.owner.has_value(); }));
}

}  // namespace evenkeel::dashboard
