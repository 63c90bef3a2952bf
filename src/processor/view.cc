#include "processor/view.h"

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

}  // namespace

View make_view(const ViewOfSelf& self, const Members& members, const Ownerships& ownerships,
               Duration foreign_expiry, Instant now) {
    Maker maker;
    maker.view.self = maker.add({self.id, self.is_leaving, self.is_on_probation, false});
    for (const auto& [id, seen] : members.others()) {
        if (seen.is_dead) continue;
        maker.add({id, seen.member.state == checkpoint::MemberState::leaving,
                   members.is_on_probation(seen, now), false});
    }
    maker.view.partitions.resize(ownerships.size());
    for (std::uint32_t p = 0; p < ownerships.size(); ++p) {
        const checkpoint::Ownership& entry = ownerships[PartitionId{p}];
        ViewPartition& partition = maker.view.partitions[p];
        partition.load = entry.load;
        if (entry.owner.empty()) continue;
        partition.owner = maker.find(entry.owner);
        const bool is_ours = members.others().contains(entry.owner) || entry.epoch.value > 0;
        if (partition.owner == nobody && !is_ours &&
            ownerships.age(PartitionId{p}, now) < foreign_expiry) {
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
