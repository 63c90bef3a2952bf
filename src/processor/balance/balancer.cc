#include "processor/balance/balancer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"
#include "processor/balance/load_balancer.h"

namespace evenkeel::processor {

namespace {

std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

bool is_up(const ViewMember& member) {
    return !member.is_foreign && !member.is_leaving;
}

bool can_read(const ViewMember& member) {
    return !member.gives_all && (!member.is_unable || EK_CANARY(gives_to_unable));
}

// Fills a plan step by step; `left` is what each member of ours still needs.
class Planner {
public:
    explicit Planner(const View& view) : view_(view) {
        const std::size_t count = view.members.size();
        plan_.counts.assign(count, 0);
        plan_.quotas.assign(count, 0);
        left_.assign(count, 0);
        hashes_.reserve(count);
        for (const ViewMember& member : view.members) hashes_.push_back(member_hash(member.id));
        // Everybody has the members in another order; decisions follow this one (BAL-4).
        order_.resize(count);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return view.members[a].id < view.members[b].id;
        });
    }

    Plan run() {
        count();
        find_receivers();
        set_quotas();
        assign_free();
        move_surplus();
        return std::move(plan_);
    }

private:
    std::size_t members() const { return view_.members.size(); }
    static std::size_t at(MemberIndex member) { return static_cast<std::size_t>(member); }

    bool is_up_at(MemberIndex member) const {
        return member != nobody && is_up(view_.members[at(member)]);
    }

    // Who has it once all offers are carried out.
    MemberIndex effective(const ViewPartition& partition) const {
        return is_up_at(partition.offered_to) && partition.owner != nobody ? partition.offered_to
                                                                           : partition.owner;
    }

    void count() {
        for (const ViewPartition& partition : view_.partitions) {
            const MemberIndex owner = effective(partition);
            if (owner != nobody) ++plan_.counts[at(owner)];
        }
    }

    // Members on probation get nothing, unless there is nobody else; nor do those that cannot read.
    void find_receivers() {
        const auto choose = [&](auto may_receive) {
            receives_.assign(members(), false);
            for (std::size_t m = 0; m < members(); ++m) {
                receives_[m] = is_up(view_.members[m]) && may_receive(view_.members[m]);
            }
            return std::find(receives_.begin(), receives_.end(), true) != receives_.end();
        };
        can_give_ = choose([](const ViewMember& member) {
                        return can_read(member) && !member.is_on_probation;
                    }) ||
                    choose([](const ViewMember& member) { return can_read(member); });
        if (!can_give_) choose([](const ViewMember&) { return true; });
    }

    // BAL-5
    bool gives_all(std::size_t member) const {
        return can_give_ && view_.members[member].gives_all;
    }

    void set_quotas() {
        std::vector<std::size_t> sharing;
        for (std::size_t m = 0; m < members(); ++m) {
            const bool has_some = is_up(view_.members[m]) && plan_.counts[m] > 0 && !gives_all(m);
            if (receives_[m] || has_some || view_.members[m].is_foreign) sharing.push_back(m);
        }
        if (sharing.empty()) return;
        const auto partitions = static_cast<std::uint32_t>(view_.partitions.size());
        const auto sharers = static_cast<std::uint32_t>(sharing.size());
        const std::uint32_t low = partitions / sharers;
        std::sort(sharing.begin(), sharing.end(), [&](std::size_t a, std::size_t b) {
            const bool a_above = plan_.counts[a] > low;
            const bool b_above = plan_.counts[b] > low;
            if (a_above != b_above) return a_above;
            // What another has too much can be given to ours only.
            if (receives_[a] != receives_[b]) return static_cast<bool>(receives_[a]);
            return hashes_[a] != hashes_[b] ? hashes_[a] > hashes_[b]
                                            : view_.members[a].id < view_.members[b].id;
        });
        for (std::uint32_t i = 0; i < sharers; ++i) {
            const std::size_t m = sharing[i];
            plan_.quotas[m] = low + (i < partitions % sharers ? 1 : 0);
            if (receives_[m] && plan_.counts[m] < plan_.quotas[m]) {
                left_[m] = plan_.quotas[m] - plan_.counts[m];
            }
        }
    }

    // The member that needs one and fits best; nobody if no need is left.
    MemberIndex neediest(PartitionId partition) const {
        MemberIndex best = nobody;
        std::uint64_t best_hash = 0;
        for (std::size_t m = 0; m < members(); ++m) {
            if (left_[m] == 0) continue;
            const std::uint64_t hash = pair_hash(hashes_[m], partition);
            if (best == nobody || hash > best_hash) {
                best = static_cast<MemberIndex>(m);
                best_hash = hash;
            }
        }
        return best;
    }

    MemberIndex least(PartitionId partition) const {
        MemberIndex best = nobody;
        for (std::size_t m = 0; m < members(); ++m) {
            if (!receives_[m]) continue;
            const auto candidate = static_cast<MemberIndex>(m);
            if (best == nobody || total(m) < total(at(best)) ||
                (total(m) == total(at(best)) &&
                 pair_hash(hashes_[m], partition) > pair_hash(hashes_[at(best)], partition))) {
                best = candidate;
            }
        }
        return best;
    }

    std::uint32_t total(std::size_t member) const {
        return plan_.counts[member] + (given_.empty() ? 0 : given_[member]);
    }

    void assign_free() {
        given_.assign(members(), 0);
        for (std::size_t p = 0; p < view_.partitions.size(); ++p) {
            const ViewPartition& partition = view_.partitions[p];
            const bool is_left =
                partition.owner != nobody &&
                (view_.members[at(partition.owner)].is_leaving || gives_all(at(partition.owner)));
            if (partition.owner != nobody && !(is_left && !is_up_at(partition.offered_to))) {
                continue;
            }
            const PartitionId id{static_cast<std::uint32_t>(p)};
            MemberIndex to = neediest(id);
            if (to != nobody) {
                --left_[at(to)];
            } else {
                to = least(id);
            }
            if (to == nobody) continue;
            ++given_[at(to)];
            plan_.moves.push_back({id, partition.owner, to});
        }
    }

    // What a member has too much goes to those that need more, its own choice by hash.
    void move_surplus() {
        for (const std::size_t m : order_) {
            const ViewMember& member = view_.members[m];
            if (member.is_leaving || gives_all(m) || plan_.counts[m] <= plan_.quotas[m]) continue;
            std::vector<PartitionId> movable;
            for (std::size_t p = 0; p < view_.partitions.size(); ++p) {
                const ViewPartition& partition = view_.partitions[p];
                if (partition.owner == static_cast<MemberIndex>(m) &&
                    !is_up_at(partition.offered_to)) {
                    movable.push_back({static_cast<std::uint32_t>(p)});
                }
            }
            std::sort(movable.begin(), movable.end(), [&](PartitionId a, PartitionId b) {
                return pair_hash(hashes_[m], a) < pair_hash(hashes_[m], b);
            });
            const std::size_t surplus = plan_.counts[m] - plan_.quotas[m];
            movable.resize(std::min(movable.size(), surplus));
            for (const PartitionId partition : movable) {
                const MemberIndex to = neediest(partition);
                if (to == nobody) return;
                --left_[at(to)];
                plan_.moves.push_back({partition, static_cast<MemberIndex>(m), to});
            }
        }
    }

    const View& view_;
    Plan plan_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::size_t> order_;
    std::vector<bool> receives_;
    bool can_give_ = false;  // somebody who can read receives
    std::vector<std::uint32_t> left_;
    std::vector<std::uint32_t> given_;
};

// Takes our part out of the moves.
void choose_ours(const View& view, Plan& plan) {
    if (view.self == nobody) return;
    const auto self = static_cast<std::size_t>(view.self);
    for (const Move& move : plan.moves) {
        const bool is_foreign =
            move.from != nobody && view.members[static_cast<std::size_t>(move.from)].is_foreign;
        if (move.from == view.self && move.to != view.self) plan.offers.push_back(move);
        if (move.to != view.self) continue;
        plan.expects = true;
        if (move.from == nobody) plan.claims.push_back(move.partition);
        if (is_foreign) plan.steals.push_back(move.partition);
    }
    for (const ViewPartition& partition : view.partitions) {
        if (partition.offered_to == view.self && partition.owner != view.self) plan.expects = true;
    }
    // Those first that others would give to us as well, if they saw somebody whom we do not see.
    const std::uint64_t hash = member_hash(view.members[self].id);
    std::sort(plan.claims.begin(), plan.claims.end(), [&](PartitionId a, PartitionId b) {
        return pair_hash(hash, a) > pair_hash(hash, b);
    });
}

}  // namespace

Plan plan(const View& view) {
    for (const ViewPartition& partition : view.partitions) {
        const auto members = static_cast<MemberIndex>(view.members.size());
        EK_CHECK(partition.owner < members && partition.offered_to < members,
                 "a view names a member that it does not have");
    }
    Plan plan = Planner(view).run();
    if (view.by_load) replace_by_load(view, plan);
    choose_ours(view, plan);
    return plan;
}

std::uint32_t ramp_limit(std::uint32_t quota, double age_seconds, double ramp_seconds) {
    if (ramp_seconds <= 0 || age_seconds >= ramp_seconds) return quota;
    const double part = std::ceil(quota * std::max(age_seconds, 0.0) / ramp_seconds);
    return std::clamp<std::uint32_t>(static_cast<std::uint32_t>(part), quota > 0 ? 1 : 0, quota);
}

std::uint64_t member_hash(const std::string& id) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : id) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    }
    return mixed(hash);
}

std::uint64_t pair_hash(std::uint64_t member, PartitionId partition) {
    return mixed(member ^ (partition.value * 0xd6e8feb86659fd93));
}

std::string explain(const View& view, const Plan& plan) {
    std::string text =
        fmt::format("{} partitions, {} members, shared by {}\n", view.partitions.size(),
                    view.members.size(), plan.by_load ? "load" : "count");
    for (std::size_t m = 0; m < view.members.size(); ++m) {
        const ViewMember& member = view.members[m];
        text += fmt::format("  {}{}: has {}, due {}{}{}{}{}\n", member.id,
                            static_cast<MemberIndex>(m) == view.self ? " (this one)" : "",
                            plan.counts[m], plan.quotas[m], member.is_leaving ? ", leaving" : "",
                            member.is_on_probation ? ", on probation after crashes" : "",
                            member.is_foreign ? ", not one of ours" : "",
                            member.is_unable ? ", cannot read the hub" : "");
    }
    const auto name = [&](MemberIndex member) -> const std::string& {
        return view.members[static_cast<std::size_t>(member)].id;
    };
    for (std::size_t p = 0; p < view.partitions.size(); ++p) {
        const ViewPartition& partition = view.partitions[p];
        if (partition.owner == nobody || partition.offered_to == nobody) continue;
        text += fmt::format("  {} is on its way: {} -> {}\n", p, name(partition.owner),
                            name(partition.offered_to));
    }
    for (const Move& move : plan.moves) {
        std::string reason = "free";
        if (move.from != nobody) {
            const ViewMember& from = view.members[static_cast<std::size_t>(move.from)];
            reason = fmt::format("{}: {}", from.id,
                                 from.is_leaving  ? "its owner leaves"
                                 : from.gives_all ? "its owner cannot read the hub"
                                 : plan.by_load   ? "its owner has too much load"
                                                  : "its owner has too many");
        }
        text += fmt::format("  {} to {} ({})\n", move.partition.value, name(move.to), reason);
    }
    if (plan.moves.empty()) text += "  nothing to move\n";
    return text;
}

}  // namespace evenkeel::processor
