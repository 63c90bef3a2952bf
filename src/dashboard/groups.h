// The groups that the server watches: which there are, and how each of them is now.
//
//     [[group]], --watch-store ──▶ Groups (hub's loop) ──one GroupReader each──▶ stores' loops
//                                    │  ◀──────────── GroupLook, posted back ────────┘
//                                    └──▶ GroupView: asked for by the admin interface
//
// The hub keeps no progress, so it looks into the stores of those who do. No call of a store runs
// on the hub's loop. A group may be looked for in several stores; it is shown once: as it was asked
// for by name, else from a store that knows it, else from one that cannot tell.
// Ownership: loop, hubs and stores outlive it. Readers end on their own loops.
// Threads: pinned to the hub's loop.
// Failure: a store that cannot be opened is a state of its group, with the error and the next try.
// What is beyond groups_max is not looked for; the log says how many.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "checkpoint/store.h"
#include "dashboard/group_reader.h"
#include "dashboard/group_view.h"
#include "dashboard/stalls.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::dashboard {

// Where stores are opened and called. Threads: any.
class Stores {
public:
    virtual ~Stores() = default;
    // The same for all groups of one store; not the hub's.
    virtual io::Loop& loop_of(const std::string& url) = 0;
    // On that loop; may block. None, and nothing was made, if the store does not know the group.
    virtual Result<std::unique_ptr<checkpoint::Store>> open(const std::string& url,
                                                            const checkpoint::GroupName& group,
                                                            io::Loop& loop) = 0;
};

struct GroupWish {
    std::string hub;
    std::string group;
    std::string store;
    std::string host = {};  // under which its entries are kept; "" = found by the hub's identity
    bool operator==(const GroupWish&) const = default;
};

struct GroupsOptions {
    std::vector<GroupWish> groups = {};
    // All groups that these know, of all event hubs that there are.
    std::vector<std::string> stores = {};
    std::vector<std::string> hosts = {"localhost", "127.0.0.1"};  // by which the hub is reached
    static constexpr std::size_t groups_max = 200;  // a group in two stores counts twice
};

// A group that is watched.
class WatchedGroup {
public:
    enum class State : std::uint8_t { opening, ok, failed };

    WatchedGroup(GroupWish wish, bool is_wished) : wish_(std::move(wish)), is_wished_(is_wished) {}

    const GroupWish& wish() const { return wish_; }
    State state() const { return state_; }
    const std::optional<Error>& error() const { return error_; }
    std::optional<Instant> retried_at() const { return retried_at_; }
    // It was asked for by name, its store knows it, or nobody can tell.
    bool is_shown() const { return is_wished_ || is_known_ || state_ == State::failed; }
    const GroupState* content() const { return content_.get(); }
    const processor::Members& seen() const { return seen_; }

private:
    friend class Groups;
    void take(GroupLook look, Instant now);
    // The higher is shown, of one group in several stores.
    int rank() const { return (is_wished_ ? 2 : 0) + (is_known_ ? 1 : 0); }

    const GroupWish wish_;
    const bool is_wished_;
    State state_ = State::opening;
    std::optional<Error> error_;
    std::optional<Instant> retried_at_;
    bool is_known_ = false;
    std::shared_ptr<const GroupState> content_;
    processor::Members seen_{"", watching_timing()};
    Stalls stalls_;
    std::shared_ptr<GroupReader> reader_;  // lives on the loop of its store
};

class Groups {
public:
    Groups(io::Loop& loop, hub::Namespace& hubs, Stores& stores, GroupsOptions options);
    ~Groups();
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    // Those that are shown, by hub and group, each once.
    std::vector<const WatchedGroup*> list() const;
    // Without regard to case; none if it is not shown.
    const WatchedGroup* find(std::string_view hub, std::string_view group) const;
    GroupView view(const WatchedGroup& group) const;
    // Each look that came in, for the live feed.
    void on_look(std::function<void(const WatchedGroup&)> seen) { on_look_ = std::move(seen); }

    // Calls `act` with the store of the group on its loop; what that answers comes back on ours.
    // unavailable if the store is not open.
    template <typename T, typename Act>
    void with_store(const WatchedGroup& group, Act act, Callback<void(Result<T>)> done) {
        auto back = [&loop = loop_,
                     done = lifetime_.guard(std::move(done))](Result<T> result) mutable {
            loop.post([done = std::move(done), result = std::move(result)]() mutable {
                done(std::move(result));
            });
        };
        stores_.loop_of(group.wish().store)
            .post([reader = group.reader_, act = std::move(act), back = std::move(back)]() mutable {
                const auto store = reader->store();
                if (!store.ok()) return back(store.error());
                act(**store, Callback<void(Result<T>)>(std::move(back)));
            });
    }
    // Something was changed in its store.
    void look_soon(const WatchedGroup& group);

private:
    struct Key {
        std::string hub;  // folded, as the group
        std::string group;
        std::string store;
        auto operator<=>(const Key&) const = default;
    };

    void add(const GroupWish& wish, bool is_wished);
    void end(WatchedGroup& group);
    void look_for_groups();
    HubSide hub_side(const GroupWish& wish) const;

    io::Loop& loop_;
    hub::Namespace& hubs_;
    Stores& stores_;
    const GroupsOptions options_;
    std::map<Key, std::unique_ptr<WatchedGroup>> groups_;
    std::function<void(const WatchedGroup&)> on_look_;
    std::size_t left_out_ = 0;       // by the look for groups under way, beyond groups_max
    std::size_t left_out_told_ = 0;  // by the last one
    io::Timer timer_{loop_};
    Lifetime lifetime_;
};

}  // namespace evenkeel::dashboard
