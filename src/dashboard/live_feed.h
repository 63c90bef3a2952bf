// What changes, as server-sent events, for all pages that are open: GET /api/v1/live.
//
//     looks, every second ──▶ topic: what differs from before? ──one frame──▶ all its LiveClients
//
//     event      when                                         data beside the topic
//     snapshot   first, and after a gap                       everything
//     tick       every tick_period                            columns of changed partitions
//     member, owner, move, state, request, letter, group      as soon as it is seen
//     dropped    when a client was too slow                   how many frames it has missed
//
// Ownership: the dashboard outlives it; clients belong to their connections.
// Threads: pinned to the hub's loop.
// Failure: a client beyond clients_max, or clients_of_one_max, is refused with `overloaded`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "base/result.h"
#include "dashboard/dashboard.h"
#include "dashboard/group_changes.h"
#include "dashboard/live_client.h"
#include "http/body_stream.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::dashboard {

// "overview", or "group:HUB/GROUP" with names that are percent-encoded.
struct LiveTopic {
    std::string hub;  // "" of the overview
    std::string group;
};
// invalid_argument names what is wrong; at most topics_max.
Result<std::vector<LiveTopic>> parse_topics(std::string_view text);

class LiveFeed {
public:
    static constexpr std::size_t clients_max = 64;
    static constexpr std::size_t clients_of_one_max = 16;  // so that one key leaves room for others
    static constexpr std::size_t topics_max = 16;
    // So that a figure is never older than a second when it is drawn.
    static constexpr Duration tick_period = std::chrono::milliseconds(750);
    static constexpr Duration ping_period = std::chrono::seconds(15);

    LiveFeed(io::Loop& loop, Dashboard& dashboard);
    ~LiveFeed();

    struct Listener {
        std::vector<LiveTopic> topics;
        Reach reach;
        // Of the reach: those with the same share the frames of the overview.
        std::string reach_name;
        std::string who = {};            // a key or a subject; else an address
        std::function<bool()> may_stay;  // asked every second
    };
    // not_found for a group that is not watched.
    Result<std::shared_ptr<http::BodyStream>> open(Listener listener);
    std::size_t client_count() const { return clients_.size(); }

private:
    // A group as its clients know it.
    struct GroupTopic {
        std::unique_ptr<GroupChanges> changes;
        std::set<LiveClient*> clients;
    };
    using Key = std::pair<std::string, std::string>;  // hub and group, folded

    void tick();
    void looked(const WatchedGroup& group);
    void leave(LiveClient& client);
    enum class With : std::uint8_t { changes, tick };
    void send_changes(const WatchedGroup& group, With with);
    void send_overview();
    std::string snapshots(const Listener& listener);
    std::string frame(std::string_view event, std::string_view data);

    io::Loop& loop_;
    Dashboard& dashboard_;
    std::map<LiveClient*, std::shared_ptr<const Listener>> clients_;
    std::map<Key, GroupTopic> groups_;
    std::uint64_t last_id_ = 0;
    io::Timer timer_{loop_};
    Lifetime lifetime_;
};

}  // namespace evenkeel::dashboard
