#include "processor/balance/load_balancer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evenkeel::processor {

namespace {

constexpr double low_band = 0.8;
constexpr double high_band = 1.1;
constexpr double gain_min = 0.04;

class LoadPlanner {
public:
    LoadPlanner(const View& view, const std::vector<double>& loads)
        : view_(view), loads_(loads), owners_(view.partitions.size(), nobody) {
        sums_.assign(view.members.size(), 0);
        const auto choose = [&](auto may_receive) {
            for (std::size_t m = 0; m < view.members.size(); ++m) {
                const ViewMember& member = view.members[m];
                if (!member.is_leaving && may_receive(member)) receivers_.push_back(m);
            }
            return !receivers_.empty();
        };
        can_give_ = choose([](const ViewMember& member) {
                        return !member.is_unable && !member.is_on_probation;
                    }) ||
                    choose([](const ViewMember& member) { return !member.is_unable; });
        if (!can_give_) choose([](const ViewMember&) { return true; });
        std::sort(receivers_.begin(), receivers_.end(), [&](std::size_t a, std::size_t b) {
            return view.members[a].id < view.members[b].id;
        });
        for (std::size_t p = 0; p < view.partitions.size(); ++p) {
            const ViewPartition& partition = view.partitions[p];
            if (partition.owner == nobody) continue;
            const MemberIndex to =
                is_up(partition.offered_to) ? partition.offered_to : partition.owner;
            owners_[p] = to;
            sums_[static_cast<std::size_t>(to)] += loads[p];
        }
    }

    std::vector<Move> run() {
        if (receivers_.empty()) return {};
        assign_free();
        const double mean = mean_of_splittable();
        if (mean > 0 && !is_even(mean)) even_out(mean);
        return std::move(moves_);
    }

    const std::vector<MemberIndex>& owners() const { return owners_; }

private:
    bool is_up(MemberIndex member) const {
        return member != nobody && !view_.members[static_cast<std::size_t>(member)].is_leaving;
    }

    bool gives_all(MemberIndex member) const {
        return can_give_ && view_.members[static_cast<std::size_t>(member)].gives_all;
    }

    std::size_t lightest() const {
        return *std::min_element(receivers_.begin(), receivers_.end(),
                                 [&](std::size_t a, std::size_t b) { return before(a, b); });
    }
    bool before(std::size_t a, std::size_t b) const {
        return sums_[a] != sums_[b] ? sums_[a] < sums_[b]
                                    : view_.members[a].id < view_.members[b].id;
    }

    void assign_free() {
        std::vector<std::size_t> free;
        for (std::size_t p = 0; p < owners_.size(); ++p) {
            if (owners_[p] == nobody || !is_up(owners_[p]) || gives_all(owners_[p])) {
                free.push_back(p);
            }
        }
        std::stable_sort(free.begin(), free.end(),
                         [&](std::size_t a, std::size_t b) { return loads_[a] > loads_[b]; });
        for (const std::size_t p : free) {
            const std::size_t to = lightest();
            moves_.push_back({{static_cast<std::uint32_t>(p)},
                              view_.partitions[p].owner,
                              static_cast<MemberIndex>(to)});
            owners_[p] = static_cast<MemberIndex>(to);
            sums_[to] += loads_[p];
        }
    }

    // Takes out members whose only load is one partition above the mean of the others.
    double mean_of_splittable() {
        while (receivers_.size() > 1) {
            const double sum =
                std::accumulate(receivers_.begin(), receivers_.end(), 0.0,
                                [&](double total, std::size_t m) { return total + sums_[m]; });
            const auto single =
                std::find_if(receivers_.begin(), receivers_.end(), [&](std::size_t m) {
                    const double rest =
                        (sum - sums_[m]) / static_cast<double>(receivers_.size() - 1);
                    return heaviest_of(m) > rest && sums_[m] <= heaviest_of(m) * 1.0001;
                });
            if (single == receivers_.end()) break;
            receivers_.erase(single);
        }
        double sum = 0;
        for (const std::size_t m : receivers_) sum += sums_[m];
        return sum / static_cast<double>(receivers_.size());
    }

    double heaviest_of(std::size_t member) const {
        double heaviest = 0;
        for (std::size_t p = 0; p < owners_.size(); ++p) {
            if (owners_[p] == static_cast<MemberIndex>(member)) {
                heaviest = std::max(heaviest, loads_[p]);
            }
        }
        return heaviest;
    }

    bool is_even(double mean) const {
        return std::all_of(receivers_.begin(), receivers_.end(), [&](std::size_t m) {
            return sums_[m] >= low_band * mean && sums_[m] <= high_band * mean;
        });
    }

    void even_out(double mean) {
        // Each move lowers the sum of squares by a fixed part of the mean, so this ends; the bound
        // is for what rounding may do.
        for (std::size_t i = 0; i < owners_.size() && move_one(mean); ++i) continue;
    }

    // From the heaviest that can give to the lightest, the partition that best halves the gap.
    bool move_one(double mean) {
        std::vector<std::size_t> by_sum = receivers_;
        std::sort(by_sum.begin(), by_sum.end(),
                  [&](std::size_t a, std::size_t b) { return before(b, a); });
        const std::size_t to = by_sum.back();
        for (const std::size_t from : by_sum) {
            const double gap = sums_[from] - sums_[to];
            std::size_t best = owners_.size();
            double best_left = gap - gain_min * mean;
            for (std::size_t p = 0; p < owners_.size(); ++p) {
                if (owners_[p] != static_cast<MemberIndex>(from) || !is_movable(p)) continue;
                const double left = std::abs(gap - 2 * loads_[p]);
                if (left < best_left) {
                    best = p;
                    best_left = left;
                }
            }
            if (best == owners_.size()) continue;
            moves_.push_back({{static_cast<std::uint32_t>(best)},
                              view_.partitions[best].owner,
                              static_cast<MemberIndex>(to)});
            owners_[best] = static_cast<MemberIndex>(to);
            sums_[from] -= loads_[best];
            sums_[to] += loads_[best];
            return true;
        }
        return false;
    }

    // Each partition once: not what is free, on its way, or moved by this plan.
    bool is_movable(std::size_t partition) const {
        return owners_[partition] == view_.partitions[partition].owner &&
               !is_up(view_.partitions[partition].offered_to);
    }

    const View& view_;
    const std::vector<double>& loads_;
    std::vector<std::size_t> receivers_;
    bool can_give_ = false;            // somebody who can read receives
    std::vector<MemberIndex> owners_;  // as planned so far
    std::vector<double> sums_;
    std::vector<Move> moves_;
};

}  // namespace

void replace_by_load(const View& view, Plan& plan) {
    std::vector<double> loads;
    double sum = 0;
    std::size_t known = 0;
    for (const ViewPartition& partition : view.partitions) {
        loads.push_back(partition.load);
        sum += partition.load;
        known += partition.load > 0 ? 1 : 0;
    }
    const bool is_mixed = std::any_of(view.members.begin(), view.members.end(),
                                      [](const ViewMember& member) { return member.is_foreign; });
    // Half of the loads unknown: counts say more.
    if (is_mixed || known == 0 || known * 2 < loads.size()) return;
    for (double& load : loads) {
        if (load <= 0) load = sum / static_cast<double>(known);
    }
    LoadPlanner planner(view, loads);
    plan.moves = planner.run();
    plan.by_load = true;
    std::fill(plan.quotas.begin(), plan.quotas.end(), 0U);
    for (const MemberIndex owner : planner.owners()) {
        if (owner != nobody) ++plan.quotas[static_cast<std::size_t>(owner)];
    }
}

}  // namespace evenkeel::processor
