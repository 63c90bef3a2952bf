// tidy: no test: door/admin/dashboard_resource_test.cc asks for all of it
#include "dashboard/dashboard.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/redacted.h"
#include "eventhubs/names.h"
#include <evenkeel/version.h>

namespace evenkeel::dashboard {
namespace {

constexpr Duration disk_period = std::chrono::seconds(10);
constexpr Duration disk_step = std::chrono::minutes(10);
constexpr std::size_t disk_steps_max = 145;  // a day
constexpr std::size_t last_moves_max = 10;
constexpr Duration lag_period = std::chrono::minutes(1);
constexpr Duration lag_first = std::chrono::seconds(5);  // the stores are open then

}  // namespace

Dashboard::Dashboard(io::Loop& loop, io::Executor& slow, hub::Namespace& hubs, Stores& stores,
                     DashboardOptions options)
    : loop_(loop),
      slow_(slow),
      hubs_(hubs),
      options_(std::move(options)),
      started_(now()),
      groups_(loop, hubs, stores, options_.groups),
      traffic_(loop, hubs) {
    look_at_disk();
    lag_timer_.run_after(lag_first, [this] { sample_lag(); });
}

void Dashboard::sample_lag() {
    std::map<std::pair<std::string, std::string>, LagHistory> kept;
    for (const WatchedGroup* group : groups_.list()) {
        const std::pair key{group->wish().hub, group->wish().group};
        LagHistory& history = kept[key] = std::move(lag_[key]);
        if (group->content()) history.sample(groups_.view(*group), loop_.clock().wall());
    }
    lag_ = std::move(kept);
    std::erase_if(loads_, [&](const auto& entry) { return !lag_.contains(entry.first); });
    lag_timer_.run_after(lag_period, [this] { sample_lag(); });
}

void Dashboard::write_lag(JsonWriter& json, const WatchedGroup& group, std::int64_t minutes) const {
    const GroupView view = groups_.view(group);
    const auto found = lag_.find({group.wish().hub, group.wish().group});
    const LagHistory none;
    json.member("since", started_.wall).member("partitions", view.partitions.size());
    json.member("retention_ms", view.retention_ms);
    (found == lag_.end() ? none : found->second).write(json, minutes, loop_.clock().wall());
}

host::ScaleDecision Dashboard::scale(const WatchedGroup& group, const host::ScalePolicy& policy) {
    loop_.check_here();
    host::LoadHistory& history = loads_[{group.wish().hub, group.wish().group}];
    const GroupView view = groups_.view(group);
    const std::uint32_t instances = instances_of(view);
    const Instant at = loop_.clock().now();
    switch (group.state()) {
        case WatchedGroup::State::opening:
            history.note_unknown("its checkpoint store is being opened");
            break;
        case WatchedGroup::State::failed:
            history.note_unknown(group.error() ? without_secrets(group.error()->detail)
                                               : "its checkpoint store cannot be read");
            break;
        case WatchedGroup::State::ok:
            if (view.partitions.empty()) {
                history.note_unknown("its event hub does not exist");
            } else {
                history.note(load_of(view), instances, at);
            }
            break;
    }
    return decide_scale(history, policy, instances, at);
}

void Dashboard::look_at_disk() {
    if (!options_.disk) return;
    auto take = lifetime_.guard([this](DiskSpace space) {
        disk_ = space;
        note_disk();
        timer_.run_after(disk_period, [this] { look_at_disk(); });
    });
    slow_.post([&loop = loop_, disk = options_.disk, take = std::move(take)]() mutable {
        loop.post([space = disk(), take = std::move(take)]() mutable { take(space); });
    });
}

void Dashboard::note_disk() {
    const Instant at = loop_.clock().now();
    if (!disk_.free_bytes) return;
    if (!disk_history_.empty() && at - disk_history_.back().first < disk_step) return;
    disk_history_.emplace_back(at, *disk_.free_bytes);
    if (disk_history_.size() > disk_steps_max) disk_history_.pop_front();
}

std::optional<std::int64_t> Dashboard::disk_full_s() const {
    if (disk_history_.empty() || !disk_.free_bytes) return std::nullopt;
    const auto& [since, was_free] = disk_history_.front();
    const double seconds = std::chrono::duration<double>(loop_.clock().now() - since).count();
    if (*disk_.free_bytes >= was_free || seconds < std::chrono::duration<double>(disk_step).count())
        return std::nullopt;
    const double a_second = static_cast<double>(was_free - *disk_.free_bytes) / seconds;
    return static_cast<std::int64_t>(static_cast<double>(*disk_.free_bytes) / a_second);
}

void Dashboard::write_server(JsonWriter& json) const {
    const Moment moment = now();
    json.member("version", version()).member("identity", hubs_.identity());
    json.member("mode", options_.mode).key("demo");
    if (options_.demo.ask) {
        json.object([&] {
            json.key("actions").array([&] {
                for (const auto& action : options_.demo.actions) {
                    json.object(
                        [&] { json.member("id", action.id).member("label", action.label); });
                }
            });
        });
    } else {
        json.null();
    }
    json.member("started_at", started_.wall);
    json.member(
        "up_seconds",
        std::chrono::duration_cast<std::chrono::seconds>(moment.now - started_.now).count());
    json.member("now", moment.wall);
    const auto port = [](std::uint16_t wanted) {
        return wanted == 0 ? std::nullopt : std::optional(wanted);
    };
    json.member("amqp_port", port(options_.amqp_port));
    json.member("amqps_port", port(options_.amqps_port));
    json.member("disk_free_bytes", disk_.free_bytes).member("disk_total_bytes", disk_.total_bytes);
}

void Dashboard::write_groups(JsonWriter& json, const Reach& reach) const {
    json.key("groups").array([&] {
        for (const WatchedGroup* group : groups_.list()) {
            if (!reach(group->wish().hub)) continue;
            json.object([&] { write_summary(json, *group, groups_.view(*group), now().now); });
        }
    });
}

void Dashboard::write_processors(JsonWriter& json, const WatchedGroup& group) const {
    write_snapshot(json, group, groups_.view(group), now());
}

void Dashboard::write_hubs(JsonWriter& json, const Reach& reach) const {
    json.key("hubs").array([&] {
        for (const auto* record : hubs_.list()) {
            if (!reach(record->name)) continue;
            std::int64_t events = 0;
            std::uint64_t bytes = 0;
            const auto found = hubs_.find(record->name);
            for (std::uint32_t p = 0; found.ok() && p < (*found)->partition_count(); ++p) {
                const auto partition = (*found)->partition({p});
                const auto log = partition.ok() ? (*partition)->log() : partition.error();
                if (!log.ok()) continue;
                const auto properties = (*log)->properties();
                bytes += properties.bytes;
                if (properties.is_empty) continue;
                events += properties.last_sequence.value - properties.begin_sequence.value + 1;
            }
            const auto sum = traffic_.now(record->name);
            json.object([&] {
                json.member("name", record->name).member("partitions", record->partitions);
                json.member("events", events).member("bytes", bytes);
                json.member("in_per_s", sum.in).member("out_per_s", sum.out);
                json.member("groups", record->groups.size() + 1);
                const std::int64_t kept_ms = record->retention.count();
                json.member("retention_ms", kept_ms == 0 ? std::nullopt : std::optional(kept_ms));
            });
        }
    });
}

void Dashboard::write_overview(JsonWriter& json, const Reach& reach) const {
    write_overview_now(json, reach);
    traffic_.write(json, reach);
}

void Dashboard::write_overview_now(JsonWriter& json, const Reach& reach) const {
    TrafficHistory::Sum sum;
    for (const auto* record : hubs_.list()) {
        if (!reach(record->name)) continue;
        const auto each = traffic_.now(record->name);
        sum.in += each.in;
        sum.out += each.out;
    }
    struct Moved {
        const WatchedGroup* group;
        processor::OwnerMove move;
    };
    std::vector<Moved> moves;
    std::optional<std::int64_t> behind;
    std::optional<std::int64_t> loss;
    for (const WatchedGroup* group : groups_.list()) {
        if (!reach(group->wish().hub)) continue;
        const GroupView view = groups_.view(*group);
        if (const auto of_group = view.behind_ms())
            behind = std::max(behind.value_or(0), *of_group);
        if (const auto of_group = view.loss_s()) {
            loss = std::min(loss.value_or(*of_group), *of_group);
        }
        for (std::size_t i = 0; i < std::min(view.moves.size(), last_moves_max); ++i) {
            moves.push_back({group, view.moves[i]});
        }
    }
    std::ranges::stable_sort(
        moves, [](const Moved& a, const Moved& b) { return a.move.at_ms > b.move.at_ms; });
    if (moves.size() > last_moves_max) moves.resize(last_moves_max);
    json.member("in_per_s", sum.in).member("out_per_s", sum.out);
    json.member("behind_ms", behind).member("loss_s", loss);
    json.key("connections");
    if (options_.connections) {
        json.value(options_.connections());
    } else {
        json.null();
    }
    json.member("disk_free_bytes", disk_.free_bytes).member("disk_total_bytes", disk_.total_bytes);
    json.member("disk_full_s", disk_full_s());
    write_hubs(json, reach);
    json.key("moves").array([&] {
        for (const Moved& moved : moves) {
            json.object([&] {
                const GroupWish& wish = moved.group->wish();
                json.member("hub", wish.hub).member("group", wish.group);
                write_move(json, moved.move);
            });
        }
    });
}

}  // namespace evenkeel::dashboard
