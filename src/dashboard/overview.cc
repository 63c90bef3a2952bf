// tidy: no test: door/admin/dashboard_resource_test.cc asks for it
#include "dashboard/overview.h"

#include <algorithm>

namespace evenkeel::dashboard {

TrafficHistory::TrafficHistory(io::Loop& loop, hub::Namespace& hubs) : loop_(loop), hubs_(hubs) {
    timer_.run_after(step, [this] { sample(); });
}

TrafficHistory::Sum TrafficHistory::now(const std::string& hub) const {
    loop_.check_here();
    Sum sum;
    const auto found = hubs_.find(hub);
    if (!found.ok()) return sum;
    const Instant now = loop_.clock().now();
    for (std::uint32_t p = 0; p < (*found)->partition_count(); ++p) {
        const auto partition = (*found)->partition({p});
        if (!partition.ok()) continue;
        const auto traffic = (*partition)->traffic(now);
        sum.in += traffic.in;
        sum.out += traffic.out;
    }
    return sum;
}

void TrafficHistory::sample() {
    Point point{loop_.clock().wall(), {}};
    for (const auto* record : hubs_.list()) point.hubs[record->name] = now(record->name);
    points_.push_back(std::move(point));
    if (points_.size() > steps_max) points_.pop_front();
    timer_.run_after(step, [this] { sample(); });
}

void TrafficHistory::write(JsonWriter& json, const Reach& reach) const {
    loop_.check_here();
    const auto write_sums = [&](double Sum::*part) {
        json.array([&] {
            for (const Point& point : points_) {
                double sum = 0;
                for (const auto& [hub, each] : point.hubs) {
                    if (reach(hub)) sum += each.*part;
                }
                json.value(sum);
            }
        });
    };
    json.key("history").object([&] {
        json.key("t").array([&] {
            for (const Point& point : points_) json.value(point.at.milliseconds);
        });
        json.key("in");
        write_sums(&Sum::in);
        json.key("out");
        write_sums(&Sum::out);
        json.key("hubs").object([&] { write_lines(json, reach); });
    });
}

void TrafficHistory::write_lines(JsonWriter& json, const Reach& reach) const {
    for (const auto* record : hubs_.list()) {
        if (!reach(record->name)) continue;
        json.key(record->name).array([&] {
            for (std::size_t from = 0; from < points_.size(); from += spark_steps) {
                const std::size_t to = std::min(points_.size(), from + spark_steps);
                double sum = 0;
                for (std::size_t i = from; i < to; ++i) {
                    const auto found = points_[i].hubs.find(record->name);
                    if (found != points_[i].hubs.end()) sum += found->second.in;
                }
                json.value(sum / static_cast<double>(to - from));
            }
        });
    }
}

}  // namespace evenkeel::dashboard
