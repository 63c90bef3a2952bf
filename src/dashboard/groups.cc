#include "dashboard/groups.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::dashboard {
namespace {

using checkpoint::GroupName;
using eventhubs::folded;

constexpr Duration groups_period = std::chrono::seconds(3);

}  // namespace

void WatchedGroup::take(GroupLook look, Instant now) {
    error_ = std::move(look.error);
    retried_at_.reset();
    if (error_) {
        state_ = State::failed;
        retried_at_ = now + look.retried_in;
        seen_.note_failure();
        return;
    }
    state_ = State::ok;
    is_known_ = look.state != nullptr;
    content_ = std::move(look.state);
    seen_.observe(content_ ? content_->members : std::vector<checkpoint::Member>(), now);
}

Groups::Groups(io::Loop& loop, hub::Namespace& hubs, Stores& stores, GroupsOptions options)
    : loop_(loop), hubs_(hubs), stores_(stores), options_(std::move(options)) {
    loop_.post(lifetime_.guard([this] {
        for (const auto& wish : options_.groups) add(wish, true);
        look_for_groups();
    }));
}

Groups::~Groups() {
    for (auto& [key, group] : groups_) end(*group);
}

void Groups::add(const GroupWish& wish, bool is_wished) {
    const Key key{folded(wish.hub), folded(wish.group), wish.store};
    if (groups_.contains(key)) return;
    if (groups_.size() >= GroupsOptions::groups_max) {
        ++left_out_;
        return;
    }
    auto group = std::make_unique<WatchedGroup>(wish, is_wished);
    io::Loop& store_loop = stores_.loop_of(wish.store);
    GroupReader::Name name{wish.hub, wish.group, hubs_.identity(), options_.hosts,
                           !wish.host.empty()};
    if (!wish.host.empty()) name.hosts = {wish.host};
    auto seen = lifetime_.guard([this, key](GroupLook look) {
        const auto found = groups_.find(key);
        if (found == groups_.end()) return;
        WatchedGroup& watched = *found->second;
        watched.take(std::move(look), loop_.clock().now());
        watched.stalls_.observe(view(watched), loop_.clock().now(), loop_.clock().wall());
        // Another store may know the group better.
        if (on_look_ && find(key.hub, key.group) == &watched) on_look_(watched);
    });
    group->reader_ = std::make_shared<GroupReader>(
        GroupReader::Place{
            store_loop,
            [&stores = stores_, &store_loop, url = wish.store](const GroupName& group_name) {
                return stores.open(url, group_name, store_loop);
            },
            [&loop = loop_, seen = std::move(seen)](GroupLook look) {
                loop.post([seen, look = std::move(look)]() mutable { seen(std::move(look)); });
            }},
        std::move(name));
    store_loop.post([reader = group->reader_] { reader->start(); });
    groups_[key] = std::move(group);
}

void Groups::end(WatchedGroup& group) {
    io::Loop& store_loop = stores_.loop_of(group.wish_.store);
    store_loop.post([reader = std::move(group.reader_)]() mutable { reader.reset(); });
}

void Groups::look_for_groups() {
    if (options_.stores.empty()) return;
    std::set<std::pair<std::string, std::string>> there;  // hub and group
    left_out_ = 0;
    for (const auto* record : hubs_.list()) {
        std::vector<std::string> names = record->groups;
        names.emplace_back(eventhubs::default_group);
        for (const auto& name : names) {
            there.emplace(folded(record->name), folded(name));
            for (const auto& store : options_.stores) add({record->name, name, store}, false);
        }
    }
    std::erase_if(groups_, [&](auto& entry) {
        const Key& key = entry.first;
        if (entry.second->is_wished_ || there.contains({key.hub, key.group})) return false;
        end(*entry.second);
        return true;
    });
    if (left_out_ > 0 && left_out_told_ != left_out_) {
        trace(
            TraceLevel::warning, "too many groups to watch; name those to show by [[group]]",
            {{"watched", std::to_string(groups_.size())}, {"left_out", std::to_string(left_out_)}});
    }
    left_out_told_ = left_out_;
    timer_.run_after(groups_period, [this] { look_for_groups(); });
}

std::vector<const WatchedGroup*> Groups::list() const {
    loop_.check_here();
    std::vector<const WatchedGroup*> shown;
    const Key* last = nullptr;
    for (const auto& [key, group] : groups_) {
        if (!group->is_shown()) continue;
        if (last == nullptr || last->hub != key.hub || last->group != key.group) {
            shown.push_back(group.get());
        } else if (shown.back()->rank() < group->rank()) {
            shown.back() = group.get();
        }
        last = &key;
    }
    return shown;
}

const WatchedGroup* Groups::find(std::string_view hub, std::string_view group) const {
    loop_.check_here();
    const Key first{folded(hub), folded(group), ""};
    const WatchedGroup* best = nullptr;
    for (auto at = groups_.lower_bound(first); at != groups_.end(); ++at) {
        const auto& [key, watched] = *at;
        if (key.hub != first.hub || key.group != first.group) break;
        if (!watched->is_shown()) continue;
        if (best == nullptr || best->rank() < watched->rank()) best = watched.get();
    }
    return best;
}

GroupView Groups::view(const WatchedGroup& group) const {
    loop_.check_here();
    GroupView view = make_group_view(group.content(), hub_side(group.wish()), group.seen(),
                                     loop_.clock().now(), loop_.clock().wall());
    group.stalls_.mark(view, loop_.clock().now());
    return view;
}

void Groups::look_soon(const WatchedGroup& group) {
    loop_.check_here();
    stores_.loop_of(group.wish().store).post([reader = group.reader_] { reader->look_soon(); });
}

HubSide Groups::hub_side(const GroupWish& wish) const {
    HubSide side;
    const auto found = hubs_.find(wish.hub);
    if (!found.ok()) return side;
    hub::EventHub& event_hub = **found;
    const auto retention = event_hub.record().retention.count();
    if (retention != 0) side.retention_ms = retention;
    const std::string group = folded(wish.group);
    const Instant now = loop_.clock().now();
    for (std::uint32_t p = 0; p < event_hub.partition_count(); ++p) {
        HubPartition& to = side.partitions.emplace_back();
        const auto partition = event_hub.partition({p});
        if (!partition.ok()) continue;
        const auto log = (*partition)->log();
        if (!log.ok()) continue;
        const auto properties = (*log)->properties();
        // Its beginning is -1 while there was never an event.
        to.end = {std::max<std::int64_t>(0, properties.begin_sequence.value),
                  properties.last_sequence.value, properties.last_enqueued.milliseconds,
                  properties.is_empty, event_hub.record().created.milliseconds};
        const auto traffic = (*partition)->traffic(now);
        to.in_per_s = traffic.in;
        to.out_per_s = traffic.out;
        for (const auto& reader : (*partition)->readers()) {
            if (reader.group == group && reader.epoch) to.reader_epoch = reader.epoch->value;
        }
        // Also of one that is gone: what it was sent may be repeated.
        if (const auto last = (*partition)->last_epoch_reader(group)) {
            to.last_sent = last->next.value - 1;
            to.sent_epoch = last->epoch->value;
        }
    }
    return side;
}

}  // namespace evenkeel::dashboard
