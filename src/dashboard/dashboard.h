// What the dashboard's page asks for, as JSON: the server, its traffic, and the groups it watches.
// The admin interface (door/admin) decides who may ask.
//
// Ownership: owns the watched groups and the history. What it is given outlives it.
// Threads: pinned to the hub's loop; how much disk there is, is looked up on `slow`.
// Failure: what is not known is null.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/lifetime.h"
#include "dashboard/demo_controls.h"
#include "dashboard/group_json.h"
#include "dashboard/groups.h"
#include "dashboard/lag_history.h"
#include "dashboard/overview.h"
#include "dashboard/scale_json.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::dashboard {

struct DiskSpace {
    std::optional<std::uint64_t> free_bytes = {};
    std::optional<std::uint64_t> total_bytes = {};
};

struct DashboardOptions {
    GroupsOptions groups = {};
    std::string mode = "serve";   // or dev
    std::uint16_t amqp_port = 0;  // 0: none
    std::uint16_t amqps_port = 0;
    std::function<DiskSpace()> disk = {};  // may block
    std::function<std::uint64_t()> connections = {};
    DemoControls demo = {};
};

class Dashboard {
public:
    Dashboard(io::Loop& loop, io::Executor& slow, hub::Namespace& hubs, Stores& stores,
              DashboardOptions options);

    Groups& groups() { return groups_; }
    const DemoControls& demo() const { return options_.demo; }
    // All but "access", into an object that the caller has begun.
    void write_server(JsonWriter& json) const;
    void write_groups(JsonWriter& json, const Reach& reach) const;
    void write_overview(JsonWriter& json, const Reach& reach) const;
    // The same without the history.
    void write_overview_now(JsonWriter& json, const Reach& reach) const;
    // Of a group that is watched.
    void write_processors(JsonWriter& json, const WatchedGroup& group) const;
    void write_lag(JsonWriter& json, const WatchedGroup& group, std::int64_t minutes) const;
    // How many instances it should have. Who asks every few seconds gets a steady count: it is
    // remembered what the last minutes needed.
    host::ScaleDecision scale(const WatchedGroup& group, const host::ScalePolicy& policy);

private:
    void look_at_disk();
    void note_disk();
    // Until the disk is full, if it goes on as in the last day; none: not known, or it does not
    // fill.
    std::optional<std::int64_t> disk_full_s() const;
    void sample_lag();
    Moment now() const { return {loop_.clock().now(), loop_.clock().wall()}; }
    void write_hubs(JsonWriter& json, const Reach& reach) const;

    io::Loop& loop_;
    io::Executor& slow_;
    hub::Namespace& hubs_;
    const DashboardOptions options_;
    const Moment started_;
    Groups groups_;
    TrafficHistory traffic_;
    DiskSpace disk_;
    // What was free, and when; a sample every disk_step.
    std::deque<std::pair<Instant, std::uint64_t>> disk_history_;
    std::map<std::pair<std::string, std::string>, LagHistory> lag_;  // by hub and group
    std::map<std::pair<std::string, std::string>, host::LoadHistory> loads_;
    io::Timer timer_{loop_};
    io::Timer lag_timer_{loop_};
    Lifetime lifetime_;
};

}  // namespace evenkeel::dashboard
