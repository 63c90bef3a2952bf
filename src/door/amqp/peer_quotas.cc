// What a client counts for: connections of keys and event hubs.
#include <algorithm>

#include "door/amqp/conditions.h"
#include "door/amqp/links.h"
#include "door/amqp/peer.h"

namespace evenkeel::door {
namespace {

void keep(std::vector<std::shared_ptr<Place>>& places, std::shared_ptr<Place> place) {
    if (std::find(places.begin(), places.end(), place) == places.end()) {
        places.push_back(std::move(place));
    }
}

}  // namespace

void Peer::claims_changed() {
    ++claims_version_;
    std::erase_if(by_key_, [&](const std::shared_ptr<Place>& place) {
        return std::none_of(claims_.begin(), claims_.end(), [&](const Claim& claim) {
            return claim.rule == place->quota()->options().key;
        });
    });
}

std::string_view Peer::key_of(const Need& need) const {
    const WallTime now = context_.loop.clock().wall();
    for (const Claim& claim : claims_) {
        if (allows(claim, need.right, need.entity, now)) return claim.rule;
    }
    return {};
}

std::shared_ptr<Place> Peer::place_in(const QuotaRef& quota, bool is_there) {
    std::erase_if(places_, [](const auto& place) { return place.expired(); });
    for (const auto& each : places_) {
        if (auto place = each.lock(); place->quota() == quota) return place;
    }
    if (!is_there && quota->is_full()) return nullptr;
    auto place = std::make_shared<Place>(quota);
    places_.push_back(place);
    return place;
}

bool Peer::find_place(const Claim& claim) {
    const QuotaRef quota = context_.quotas.of_key(claim.rule);
    if (!quota) return true;
    if (auto place = place_in(quota, false)) {
        keep(by_key_, std::move(place));
        return true;
    }
    const amqp::Condition why = no_place(quota->name(), quota->options().connections_max);
    context_.activity.refused(Refusal::key_connections, visitor_, "connection", why.description);
    // Before open there is no way to say why.
    opened_ ? close(why) : refuse(why);
    return false;
}

bool Peer::find_place(amqp::Link& link, const Entity& entity, PeerLink& user) {
    const QuotaRef quota = context_.quotas.of_hub(entity.hub);
    if (!quota) return true;
    user.place = place_in(quota, false);
    if (user.place) return true;
    const amqp::Condition why = no_place(quota->name(), quota->options().connections_max);
    context_.activity.refused(Refusal::hub_connections, visitor_, entity.hub, why.description);
    link.refuse(tracked(why, entity.hub));
    return false;
}

void Peer::count_again() {
    if (finished_ || connection_.is_closed()) return;
    by_key_.clear();
    for (const Claim& claim : claims_) {
        if (const QuotaRef quota = context_.quotas.of_key(claim.rule)) {
            keep(by_key_, place_in(quota, true));
        }
    }
    for (amqp::Link* const link : links_) {
        auto& user = static_cast<PeerLink&>(*link->user);
        if (!user.need) continue;
        const QuotaRef quota = context_.quotas.of_hub(user.need->entity.hub);
        user.place = quota ? place_in(quota, true) : nullptr;
    }
}

}  // namespace evenkeel::door
