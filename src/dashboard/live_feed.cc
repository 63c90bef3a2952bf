#include "dashboard/live_feed.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/percent.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::dashboard {
namespace {

using eventhubs::folded;

constexpr std::string_view overview_name = "overview";
constexpr std::string_view group_prefix = "group:";

std::string topic_name(const GroupWish& wish) {
    return std::string(group_prefix) + percent_encoded(wish.hub) + "/" +
           percent_encoded(wish.group);
}

Result<LiveTopic> parse_topic(std::string_view text) {
    if (text == overview_name) return LiveTopic{};
    const std::size_t slash = text.rfind('/');
    if (text.starts_with(group_prefix) && slash != text.npos && slash > group_prefix.size()) {
        const auto hub =
            percent_decoded_strictly(text.substr(group_prefix.size(), slash - group_prefix.size()));
        const auto group = percent_decoded_strictly(text.substr(slash + 1));
        if (hub && group && !hub->empty() && !group->empty()) return LiveTopic{*hub, *group};
    }
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("'{}' is no topic; there are overview and group:HUB/GROUP", shown(text))};
}

}  // namespace

Result<std::vector<LiveTopic>> parse_topics(std::string_view text) {
    std::vector<LiveTopic> topics;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        EK_TRY_ASSIGN(auto topic, parse_topic(word));
        topics.push_back(std::move(topic));
    }
    if (topics.empty() || topics.size() > LiveFeed::topics_max) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("topics must name 1 to {} topics", LiveFeed::topics_max)};
    }
    return topics;
}

LiveFeed::LiveFeed(io::Loop& loop, Dashboard& dashboard) : loop_(loop), dashboard_(dashboard) {
    dashboard_.groups().on_look([this](const WatchedGroup& group) { looked(group); });
}

LiveFeed::~LiveFeed() {
    dashboard_.groups().on_look({});
}

Result<std::shared_ptr<http::BodyStream>> LiveFeed::open(Listener listener) {
    loop_.check_here();
    if (clients_.size() >= clients_max) {
        return Error{ErrorCode::overloaded,
                     fmt::format("there are {} live feeds already; close a page, or ask again "
                                 "later",
                                 clients_max)};
    }
    const auto of_same = std::ranges::count_if(
        clients_, [&](const auto& entry) { return entry.second->who == listener.who; });
    if (std::cmp_greater_equal(of_same, clients_of_one_max)) {
        return Error{ErrorCode::overloaded,
                     fmt::format("there are {} live feeds of {} already; close a page, or use "
                                 "another key",
                                 of_same, shown(listener.who))};
    }
    for (const LiveTopic& topic : listener.topics) {
        if (topic.hub.empty() || dashboard_.groups().find(topic.hub, topic.group)) continue;
        return Error{ErrorCode::not_found,
                     fmt::format("group '{}' of event hub '{}' is not watched", shown(topic.group),
                                 shown(topic.hub))};
    }
    const auto shared = std::make_shared<const Listener>(std::move(listener));
    // The connection may let go of its client after the feed has ended.
    auto client = std::make_shared<LiveClient>(
        LiveClient::Place{[feed = lifetime_.handle(this), shared] {
                              return feed.get() ? feed.get()->snapshots(*shared) : std::string();
                          },
                          [feed = lifetime_.handle(this)](LiveClient& gone) {
                              if (feed.get()) feed.get()->leave(gone);
                          }},
        loop_.clock().now());
    clients_[client.get()] = shared;
    for (const LiveTopic& topic : shared->topics) {
        if (topic.hub.empty()) continue;
        const auto* const group = dashboard_.groups().find(topic.hub, topic.group);
        GroupTopic& known = groups_[{folded(topic.hub), folded(topic.group)}];
        if (!known.changes) {
            known.changes = std::make_unique<GroupChanges>(topic_name(group->wish()));
            // What changes from now on is reported, also if it is seen before the first tick.
            (void)known.changes->update(*group, dashboard_.groups().view(*group),
                                        loop_.clock().now());
        }
        known.clients.insert(client.get());
    }
    if (!timer_.is_pending()) timer_.run_after(tick_period, [this] { tick(); });
    return std::shared_ptr<http::BodyStream>(std::move(client));
}

void LiveFeed::leave(LiveClient& client) {
    clients_.erase(&client);
    for (auto& [key, topic] : groups_) topic.clients.erase(&client);
    std::erase_if(groups_, [](const auto& entry) { return entry.second.clients.empty(); });
}

std::string LiveFeed::frame(std::string_view event, std::string_view data) {
    return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", ++last_id_, event, data);
}

std::string LiveFeed::snapshots(const Listener& listener) {
    std::string frames;
    for (const LiveTopic& topic : listener.topics) {
        JsonWriter json;
        const auto* const group = dashboard_.groups().find(topic.hub, topic.group);
        if (!topic.hub.empty() && !group) continue;
        json.object([&] {
            json.member("topic", group ? topic_name(group->wish()) : std::string(overview_name));
            if (group) {
                dashboard_.write_processors(json, *group);
            } else {
                dashboard_.write_overview(json, listener.reach);
            }
        });
        frames += frame("snapshot", json.text());
    }
    return frames;
}

void LiveFeed::looked(const WatchedGroup& group) {
    send_changes(group, With::changes);
}

void LiveFeed::send_changes(const WatchedGroup& group, With with) {
    const auto found = groups_.find({folded(group.wish().hub), folded(group.wish().group)});
    if (found == groups_.end()) return;
    GroupTopic& topic = found->second;
    const Moment moment{loop_.clock().now(), loop_.clock().wall()};
    const GroupView view = dashboard_.groups().view(group);
    auto events = topic.changes->update(group, view, moment.now);
    if (with == With::tick) {
        if (auto tick = topic.changes->tick(view, moment)) events.push_back(std::move(*tick));
    }
    // A client may leave within push().
    const std::set<LiveClient*> clients = topic.clients;
    for (const LiveEvent& event : events) {
        const auto shared = std::make_shared<const std::string>(frame(event.name, event.data));
        for (LiveClient* client : clients) {
            if (clients_.contains(client)) client->push(shared, moment.now);
        }
    }
}

// Once for all who may see the same event hubs.
void LiveFeed::send_overview() {
    std::map<std::string, Frame> frames;
    const auto clients = clients_;
    for (const auto& entry : clients) {
        const Listener& listener = *entry.second;
        const bool wants = std::ranges::any_of(
            listener.topics, [](const LiveTopic& topic) { return topic.hub.empty(); });
        if (!wants || !clients_.contains(entry.first)) continue;
        Frame& shared = frames[listener.reach_name];
        if (!shared) {
            JsonWriter json;
            json.object([&] {
                json.member("topic", overview_name);
                dashboard_.write_overview_now(json, listener.reach);
            });
            shared = std::make_shared<const std::string>(frame("tick", json.text()));
        }
        entry.first->push(shared, loop_.clock().now());
    }
}

void LiveFeed::tick() {
    const Instant now = loop_.clock().now();
    for (const WatchedGroup* group : dashboard_.groups().list()) {
        send_changes(*group, With::tick);
    }
    send_overview();
    const auto ping = std::make_shared<const std::string>(": ping\n\n");
    const auto clients = clients_;
    for (const auto& [client, listener] : clients) {
        if (!clients_.contains(client)) continue;
        if (!listener->may_stay()) {
            client->end();
        } else if (now - client->last_pushed() >= ping_period) {
            client->push(ping, now);
        }
    }
    if (!clients_.empty()) timer_.run_after(tick_period, [this] { tick(); });
}

}  // namespace evenkeel::dashboard
