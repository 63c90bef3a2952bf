#include "processor/ownership/write_plan.h"

#include <optional>
#include <utility>

namespace evenkeel::processor {

namespace {

using Kind = OwnershipWrite::Kind;

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

bool is_due(const WriteFacts& facts, const Holding& holding) {
    // After a lapse that the reader has survived.
    const Instant now = facts.now;
    if (facts.lease.is_valid(now) && !facts.lease.covers(holding.renewed, now)) return true;
    return facts.loads.is_due(holding, now) || facts.renewals.is_due(holding, facts.holdings, now);
}

std::optional<OwnershipWrite> renewal(const WriteFacts& facts, const Holding& holding) {
    const PartitionId partition = holding.entry.partition;
    if (holding.is_handing_over || facts.ownerships.is_writing(partition) ||
        facts.now < holding.not_before || facts.hand_overs.contains(partition)) {
        return {};
    }
    OwnershipWrite write{holding.entry, Kind::renew};
    if (!holding.is_verified) {
        if (facts.is_leaving) return {};
        write.kind = Kind::verify;
        // Whoever is cut again and again may face an epoch that is far ahead.
        write.entry.epoch.value += holding.fences > 1 ? std::int64_t{1} << holding.fences : 1;
        write.entry.since_ms = facts.wall.milliseconds;
        return write;
    }
    if (!is_due(facts, holding)) return {};
    if (const auto load = facts.loads.of(partition)) write.entry.load = *load;
    return write;
}

OwnershipWrite claim(const WriteFacts& facts, PartitionId partition) {
    const std::string& owner = facts.ownerships[partition].owner;
    OwnershipWrite write{facts.ownerships[partition], Kind::claim, owner, !owner.empty()};
    write.entry.owner = facts.options.id;
    write.entry.epoch.value += 1;
    write.entry.since_ms = facts.wall.milliseconds;
    return write;
}

// A newcomer takes its share in steps.
std::size_t claims_max(const WriteFacts& facts) {
    const double ramp = seconds(facts.options.timing.ramp);
    const double age = seconds(facts.now - facts.started_at);
    if (facts.options.strategy != Strategy::balanced || age >= ramp) {
        return facts.plan.claims.size();
    }
    const std::size_t held = facts.holdings.all().size();
    const std::uint32_t quota = facts.plan.quotas[static_cast<std::size_t>(facts.view.self)];
    const std::size_t limit = ramp_limit(quota, age, ramp);
    return limit > held ? limit - held : 0;
}

}  // namespace

std::vector<OwnershipWrite> choose_writes(const WriteFacts& facts) {
    std::vector<OwnershipWrite> writes;
    for (const auto& [partition, holding] : facts.holdings.all()) {
        if (auto each = renewal(facts, holding)) writes.push_back(std::move(*each));
    }
    if (facts.is_leaving) return writes;
    std::size_t room = claims_max(facts);
    for (const PartitionId partition : facts.plan.claims) {
        if (room == 0) break;
        if (facts.ownerships.is_writing(partition) || facts.holdings.find(partition)) continue;
        writes.push_back(claim(facts, partition));
        --room;
    }
    if (!facts.is_calm) return writes;
    for (const PartitionId partition : facts.plan.steals) {
        if (facts.ownerships.is_writing(partition)) continue;
        OwnershipWrite steal = claim(facts, partition);
        steal.is_take_over = false;  // no member of ours had it: there is nothing to look at again
        writes.push_back(std::move(steal));
    }
    return writes;
}

}  // namespace evenkeel::processor
