#include "processor/balance/view.h"

#include <algorithm>
#include <unordered_map>

namespace evenkeel::processor {

namespace {

class Maker {
public:
    View view;

    MemberIndex add(ViewMember member) {
        const auto index = static_cast<MemberIndex>(view.members.size());
        indices_.emplace(member.id, index);
        view.members.push_back(std::move(member));
        return index;
    }
    MemberIndex find(const std::string& id) const {
        const auto found = indices_.find(id);
        return found == indices_.end() ? nobody : found->second;
    }

private:
    std::unordered_map<std::string, MemberIndex> indices_;
};

bool is_foreign(const std::string& self, const Members& members,
                const checkpoint::Ownership& entry) {
    return !entry.owner.empty() && entry.owner != self && entry.epoch.value == 0 &&
           !members.others().contains(entry.owner);
}

}  // namespace

std::map<std::string, Duration> foreign_owners(const std::string& self, const Members& members,
                                               const Ownerships& ownerships, Instant now) {
    std::map<std::string, Duration> youngest;
    for (std::uint32_t p = 0; p < ownerships.size(); ++p) {
        const checkpoint::Ownership& entry = ownerships[PartitionId{p}];
        if (!is_foreign(self, members, entry)) continue;
        const Duration age = ownerships.age(PartitionId{p}, now);
        const auto [known, is_new] = youngest.emplace(entry.owner, age);
        if (!is_new) known->second = std::min(known->second, age);
    }
    return youngest;
}

View make_view(const ViewOfSelf& self, const Members& members, const Ownerships& ownerships,
               const std::function<Duration(const std::string&)>& foreign_expiry, Instant now) {
    Maker maker;
    maker.view.self = maker.add(
        {self.id, self.is_leaving, self.is_on_probation, false, self.is_unable, self.gives_all});
    for (const auto& [id, seen] : members.others()) {
        if (seen.is_dead) continue;
        maker.add({id, seen.member.state == checkpoint::MemberState::leaving,
                   seen.is_silent || members.is_on_probation(seen, now), false,
                   seen.member.state == checkpoint::MemberState::unable});
    }
    maker.view.partitions.resize(ownerships.size());
    for (std::uint32_t p = 0; p < ownerships.size(); ++p) {
        const checkpoint::Ownership& entry = ownerships[PartitionId{p}];
        ViewPartition& partition = maker.view.partitions[p];
        partition.load = entry.load;
        if (entry.owner.empty()) continue;
        partition.owner = maker.find(entry.owner);
        if (partition.owner == nobody && is_foreign(self.id, members, entry) &&
            ownerships.age(PartitionId{p}, now) < foreign_expiry(entry.owner)) {
            partition.owner = maker.add({entry.owner, false, false, true});
        }
    }
    // An offer counts if its giver is the owner still.
    const auto offer = [&](MemberIndex from, PartitionId partition, const std::string& to) {
        if (partition.value >= maker.view.partitions.size()) return;
        ViewPartition& seen = maker.view.partitions[partition.value];
        if (seen.owner == from) seen.offered_to = maker.find(to);
    };
    for (const auto& [partition, to] : self.offers) offer(maker.view.self, partition, to);
    for (const auto& [id, seen] : members.others()) {
        if (seen.is_dead) continue;
        for (const checkpoint::Offer& offered : seen.member.offers) {
            offer(maker.find(id), offered.partition, offered.to);
        }
    }
    return std::move(maker.view);
}

}  // namespace evenkeel::processor
