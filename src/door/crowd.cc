#include "door/crowd.h"

#include <algorithm>

#include "io/socket.h"

namespace evenkeel::door {

Crowd::Crowd(const CrowdOptions& options) : options_(options) {
    if (options_.unauthenticated_max == 0) {
        options_.unauthenticated_max = std::max<std::uint32_t>(1, options.connections_max / 2);
    }
    if (options_.per_address_max == 0) options_.per_address_max = options.connections_max;
}

Crowd::Admission Crowd::admit(Id id, std::string_view host, Instant now) {
    const std::string address = io::network_of(host);
    const auto known = addresses_.find(address);
    const std::uint32_t of_address = known == addresses_.end() ? 0 : known->second.count;
    const bool is_bounded = options_.per_address_max < options_.connections_max;
    if (is_bounded && of_address >= options_.per_address_max && !io::is_loopback(host)) {
        return {Verdict::too_many_of_address};
    }
    Admission admission;
    const bool is_full = members_.size() >= options_.connections_max;
    if (is_full || strangers_ >= options_.unauthenticated_max) {
        if (strangers_ == 0) return {Verdict::full};
        admission.displaced = displace(address, now);
        if (!admission.displaced) {
            return {is_full ? Verdict::full : Verdict::too_many_strangers};
        }
    }
    Member& member = members_[id];
    member.address = address;
    ++addresses_[address].count;
    add_stranger(id, member, now);
    return admission;
}

std::optional<Crowd::Id> Crowd::displace(std::string_view address, Instant now) {
    const auto largest = std::ranges::max_element(
        addresses_, {}, [](const auto& each) { return each.second.strangers.size(); });
    const auto own = addresses_.find(address);
    const std::size_t own_count = own == addresses_.end() ? 0 : own->second.strangers.size();
    const Id oldest = largest->second.strangers.begin()->second;
    const bool is_more_crowded = largest->second.strangers.size() > own_count + 1;
    if (!is_more_crowded && now - members_.at(oldest).since < options_.patience) {
        return std::nullopt;
    }
    leave(oldest);
    return oldest;
}

void Crowd::add_stranger(Id id, Member& member, Instant now) {
    member.since = now;
    member.is_stranger = true;
    member.order = ++last_order_;
    addresses_[member.address].strangers.emplace(member.order, id);
    ++strangers_;
}

void Crowd::log_in(Id id) {
    const auto found = members_.find(id);
    if (found == members_.end() || !found->second.is_stranger) return;
    found->second.is_stranger = false;
    addresses_[found->second.address].strangers.erase(found->second.order);
    --strangers_;
}

void Crowd::log_out(Id id, Instant now) {
    const auto found = members_.find(id);
    if (found == members_.end() || found->second.is_stranger) return;
    add_stranger(id, found->second, now);
}

void Crowd::leave(Id id) {
    const auto found = members_.find(id);
    if (found == members_.end()) return;
    log_in(id);  // no stranger any more
    const auto address = addresses_.find(found->second.address);
    if (--address->second.count == 0) addresses_.erase(address);
    members_.erase(found);
}

}  // namespace evenkeel::door
