// The scenarios by which balancing is measured; docs/benchmarks.md has their figures and goals.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/balance_world.h"

namespace evenkeel::sim {

struct Measured {
    double balanced_s = 0;  // from the event on, until it stayed so; -1 = never
    double moves = 0, hard = 0;
    double unread_s = 0;  // partition-seconds
    double gap_mean_s = 0, gap_worst_s = 0;
    double load_ratio = 0;           // the heaviest member's load by the mean
    double requests_per_second = 0;  // of each instance, after the end
    std::string violations;
};

struct Scenario {
    std::string name;
    std::uint32_t partitions;
    // Runs it and fills in what is special about it; the rest is measured from the last mark() on.
    std::function<void(BalanceWorld&, Measured&)> run;
    bool by_load = false;
    bool exclusive = false;
};

const std::vector<Scenario>& scenarios();
const Scenario& scenario(const std::string& name);

struct Setting {
    bool fast = false;
    bool push = false;
    bool exact_ages = false;
};

Measured measure(const Scenario& scenario, const Setting& setting, std::uint64_t seed);
// Medians of each figure over so many seeds, the worst for gaps and violations.
Measured measure_many(const Scenario& scenario, const Setting& setting, int seeds);

}  // namespace evenkeel::sim
