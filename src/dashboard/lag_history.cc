#include "dashboard/lag_history.h"

#include <algorithm>

namespace evenkeel::dashboard {
namespace {

std::optional<std::int64_t> furthest(const std::vector<std::optional<std::int64_t>>& all) {
    std::optional<std::int64_t> most;
    for (const auto& each : all) {
        if (each) most = std::max(most.value_or(0), *each);
    }
    return most;
}

std::optional<std::int64_t> median(const std::vector<std::optional<std::int64_t>>& all) {
    std::vector<std::int64_t> known;
    for (const auto& each : all) {
        if (each) known.push_back(*each);
    }
    if (known.empty()) return std::nullopt;
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::ranges::nth_element(known, middle);
    return *middle;
}

}  // namespace

void LagHistory::sample(const GroupView& view, WallTime now) {
    step_minutes_ = view.partitions.size() > partitions_fine_max ? 5 : 1;
    if (samples_++ % static_cast<std::uint64_t>(step_minutes_) != 0) return;
    Point point{now, {}};
    for (const auto& partition : view.partitions) {
        point.behind_ms.push_back(partition.progress.behind_ms);
    }
    points_.push_back(std::move(point));
    while (points_.size() > static_cast<std::size_t>(minutes_max / step_minutes_)) {
        points_.pop_front();
    }
}

void LagHistory::write(JsonWriter& json, std::int64_t minutes, WallTime now) const {
    const WallTime since = now - std::chrono::minutes(minutes);
    const auto first =
        std::ranges::find_if(points_, [&](const Point& point) { return point.at >= since; });
    const auto column = [&](std::string_view name, auto write_one) {
        json.key(name).array([&] {
            for (auto point = first; point != points_.end(); ++point) write_one(*point);
        });
    };
    json.member("step_s", step_minutes_ * 60);
    column("t", [&](const Point& point) { json.value(point.at.milliseconds); });
    column("furthest_ms", [&](const Point& point) { json.value(furthest(point.behind_ms)); });
    column("median_ms", [&](const Point& point) { json.value(median(point.behind_ms)); });
    column("heat", [&](const Point& point) {
        json.array([&] {
            for (const auto& each : point.behind_ms) json.value(each);
        });
    });
}

}  // namespace evenkeel::dashboard
