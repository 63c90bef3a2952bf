// What has changed in a group since it was looked at before, as events of the live feed. No I/O;
// the caller passes the view. Threads: those of its owner.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dashboard/group_json.h"
#include "dashboard/group_view.h"
#include "dashboard/groups.h"

namespace evenkeel::dashboard {

struct LiveEvent {
    std::string name;  // "owner"
    std::string data;  // JSON, one line
};

class GroupChanges {
public:
    // `topic` begins the data of each event.
    explicit GroupChanges(std::string topic) : topic_(std::move(topic)) {}

    // Nothing the first time: a snapshot tells it all.
    std::vector<LiveEvent> update(const WatchedGroup& group, const GroupView& view, Instant now);
    // The figures of the partitions that differ from the last tick; none if none does.
    std::optional<LiveEvent> tick(const GroupView& view, const Moment& moment);

private:
    template <typename Fill>
    LiveEvent event(std::string_view name, Fill fill) const;
    void compare_members(const GroupView& view, std::vector<LiveEvent>& events) const;
    void compare_partitions(const GroupView& view, std::vector<LiveEvent>& events) const;
    void compare_moves(const GroupView& view, std::vector<LiveEvent>& events);
    void compare_rest(const GroupView& view, std::vector<LiveEvent>& events) const;

    struct Figures {
        std::int64_t in_tenths = 0;
        std::int64_t end = 0;
        std::int64_t position = 0;
        std::int64_t lag = 0;
        std::optional<std::int64_t> behind_ms;
        bool operator==(const Figures&) const = default;
    };

    const std::string topic_;
    std::optional<GroupView> before_;
    std::string head_before_;
    std::set<std::tuple<std::uint32_t, std::int64_t, bool>> moves_;  // partition, epoch, has a gap
    std::vector<Figures> figures_;
};

}  // namespace evenkeel::dashboard
