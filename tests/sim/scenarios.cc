#include "sim/scenarios.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"

namespace evenkeel::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

double in_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

std::string name_of(int number) {
    return fmt::format("i{:02}", number);
}

// Starts instances first to last - 1 at random times within `within`.
void start_all(BalanceWorld& world, int first, int last, Duration within) {
    for (int i = first; i < last; ++i) {
        world.scheduler().run_after(Duration(world.random().between(0, within.count())),
                                    [&world, i] { world.start(name_of(i)); });
    }
}

// They run for a while, heartbeats in random phase.
void warm_up(BalanceWorld& world, int instances) {
    start_all(world, 0, instances, seconds(2));
    world.run_for(seconds(3));
    if (!world.run_until_balanced(seconds(60))) world.violate("does not warm up");
    world.run_for(seconds(10));
    world.run_for(milliseconds(world.random().between(0, 2000)));
}

std::function<void(BalanceWorld&, Measured&)> cold(int instances) {
    return [instances](BalanceWorld& world, Measured&) {
        world.mark();
        start_all(world, 0, instances, seconds(1));
        world.run_for(seconds(15));
    };
}

std::function<void(BalanceWorld&, Measured&)> join(int before) {
    return [before](BalanceWorld& world, Measured&) {
        warm_up(world, before);
        world.start(name_of(before));
        world.mark();
        world.run_for(seconds(15));
    };
}

std::function<void(BalanceWorld&, Measured&)> die(int instances, int first, int last,
                                                  bool with_skew = false) {
    return [=](BalanceWorld& world, Measured&) {
        warm_up(world, instances);
        if (with_skew) {
            world.set_wall_skew(name_of(0), seconds(10));
            world.set_wall_skew(name_of(1), -seconds(10));
            world.run_for(seconds(5));
        }
        for (int i = first; i < last; ++i) world.crash(name_of(i));
        world.mark();
        world.run_for(seconds(20));
    };
}

// Each request takes 300 ms, one half of it in a hundred 1.5 s.
void die_with_a_slow_store(BalanceWorld& world, Measured&) {
    warm_up(world, 4);
    const checkpoint::Faults usual = world.faults();
    world.faults().write_half = world.faults().list_half = milliseconds(150);
    world.run_for(seconds(30));
    world.crash(name_of(3));
    world.mark();
    world.run_for(seconds(40));
    world.faults() = usual;
    world.run_for(seconds(10));
}

// Half of the members are replaced: the new ones start while the old ones stop.
void swap_half(BalanceWorld& world, Measured&) {
    warm_up(world, 16);
    world.mark();
    start_all(world, 16, 24, milliseconds(250));
    world.run_for(milliseconds(150));
    for (int i = 8; i < 16; ++i) world.leave(name_of(i));
    world.run_for(seconds(20));
}

void rolling(BalanceWorld& world, Measured& measured) {
    world.start(name_of(0));
    world.run_for(seconds(5));
    world.mark();
    Instant last = world.now();
    for (int i = 1; i < 8; ++i) {
        last = world.now();
        world.start(name_of(i));
        world.run_for(seconds(5));
    }
    world.run_for(seconds(10));
    const auto balanced = world.figures().balanced_at;
    measured.balanced_s = balanced ? in_seconds(*balanced - last) : -1;
}

void leave_one(BalanceWorld& world, Measured&) {
    warm_up(world, 4);
    world.leave(name_of(3));
    world.mark();
    world.run_for(seconds(15));
}

void standby(BalanceWorld& world, Measured&) {
    warm_up(world, 12);
    for (int i = 0; i < 12; ++i) {
        if (world.owned_by(name_of(i)).empty()) continue;
        world.crash(name_of(i));
        break;
    }
    world.mark();
    world.run_for(seconds(20));
}

void flapping(BalanceWorld& world, Measured&) {
    warm_up(world, 3);
    world.mark();
    for (int i = 0; i < 6; ++i) {
        world.start(name_of(3));
        world.run_for(seconds(10));
        world.crash(name_of(3));
        world.run_for(seconds(5));
    }
    world.start(name_of(3));
    world.run_for(seconds(90));
}

void pause(BalanceWorld& world, Measured& measured) {
    warm_up(world, 4);
    world.mark();
    world.pause(name_of(1), seconds(45));
    world.run_for(seconds(45));
    const Instant woke = world.now();
    world.run_for(seconds(15));
    const auto balanced = world.figures().balanced_at;
    measured.balanced_s = balanced ? in_seconds(*balanced - woke) : -1;
}

std::function<void(BalanceWorld&, Measured&)> outage(Duration duration) {
    return [duration](BalanceWorld& world, Measured&) {
        warm_up(world, 4);
        world.mark();
        world.set_outage(true);
        world.run_for(duration);
        world.set_outage(false);
        world.run_for(seconds(20));
    };
}

void steady(BalanceWorld& world, Measured&) {
    warm_up(world, 4);
    world.mark();
    world.run_for(seconds(60));
}

std::vector<double> zipf(BalanceWorld& world, std::size_t partitions) {
    std::vector<double> loads;
    for (std::size_t p = 0; p < partitions; ++p) {
        loads.push_back(10'000.0 / static_cast<double>(p + 1));
    }
    for (std::size_t i = partitions; i > 1; --i) {
        std::swap(loads[i - 1], loads[world.random().below(i)]);
    }
    return loads;
}

double load_ratio(const BalanceWorld& world) {
    double most = 0;
    double sum = 0;
    const auto running = world.running();
    for (const std::string& id : running) {
        most = std::max(most, world.load_of(id));
        sum += world.load_of(id);
    }
    return most / (sum / static_cast<double>(running.size()));
}

// Time until the last move, since loads change nothing about counts.
void zipf_once(BalanceWorld& world, Measured& measured) {
    warm_up(world, 4);
    world.set_loads(zipf(world, 32));
    world.mark();
    const Instant begin = world.now();
    Instant last = begin;
    std::uint64_t moves = 0;
    for (int i = 0; i < 600; ++i) {
        world.run_for(milliseconds(50));
        if (world.figures().moves == moves) continue;
        moves = world.figures().moves;
        last = world.now();
    }
    measured.balanced_s = in_seconds(last - begin);
    measured.load_ratio = load_ratio(world);
}

void zipf_noise(BalanceWorld& world, Measured& measured) {
    warm_up(world, 8);
    const std::vector<double> loads = zipf(world, 128);
    world.mark();
    for (int i = 0; i < 60; ++i) {
        std::vector<double> noisy = loads;
        for (double& load : noisy) {
            load *= 1 + 0.15 * (static_cast<double>(world.random().between(-1000, 1000)) / 1000);
        }
        world.set_loads(std::move(noisy));
        world.run_for(seconds(10));
    }
    measured.balanced_s = 0;
    world.set_loads(loads);
    // The best there can be: nobody less than the heaviest partition.
    const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
    const double least = std::max(1.0, *std::max_element(loads.begin(), loads.end()) / (total / 8));
    measured.load_ratio = load_ratio(world) / least;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all = {
        {"cold-4x32", 32, cold(4)},
        {"cold-16x256", 256, cold(16)},
        {"cold-64x1024", 1024, cold(64)},
        {"cold-5x37", 37, cold(5)},
        {"cold-12x8", 8, cold(12)},
        {"rolling-8x64", 64, rolling},
        {"out-2-3", 32, join(2)},
        {"out-3-4", 32, join(3)},
        {"out-16-17", 256, join(16)},
        {"out-16-17-tight", 32, join(16)},
        {"in-4-3", 32, leave_one},
        {"crash-1-of-4", 32, die(4, 3, 4)},
        {"crash-leader", 32, die(4, 0, 1)},
        {"standby-12x8", 8, standby},
        {"crash-8-of-16", 128, die(16, 8, 16)},
        {"crash-slow-store", 32, die_with_a_slow_store},
        {"swap-8-of-16", 128, swap_half},
        {"flapping", 32, flapping},
        {"pause-45s", 32, pause},
        {"outage-2s-exclusive", 32, outage(seconds(2)), false, true},
        {"outage-20s-exclusive", 32, outage(seconds(20)), false, true},
        {"outage-20s-store", 32, outage(seconds(20))},
        {"skew-10s", 32, die(4, 3, 4, true)},
        {"zipf-4x32", 32, zipf_once, true},
        {"zipf-noise", 128, zipf_noise, true},
        {"steady-4x32", 32, steady},
    };
    return all;
}

const Scenario& scenario(const std::string& name) {
    const auto found = std::find_if(scenarios().begin(), scenarios().end(),
                                    [&](const Scenario& each) { return each.name == name; });
    EK_CHECK(found != scenarios().end(), "no such scenario");
    return *found;
}

Measured measure(const Scenario& scenario, const Setting& setting, std::uint64_t seed) {
    WorldOptions options;
    options.seed = seed;
    options.partitions = scenario.partitions;
    options.exclusive = scenario.exclusive;
    if (setting.fast) options.timing = processor::fast_timing();
    options.faults.push = setting.push;
    options.exact_ages = setting.exact_ages;
    if (scenario.by_load) options.loads.assign(scenario.partitions, 100.0);
    BalanceWorld world(options);
    Measured measured;
    measured.balanced_s = -2;  // not filled in
    scenario.run(world, measured);

    const Figures figures = world.figures();
    if (measured.balanced_s == -2) {
        measured.balanced_s =
            figures.balanced_at ? in_seconds(*figures.balanced_at - world.marked()) : -1;
    }
    measured.moves = static_cast<double>(figures.moves);
    measured.hard = static_cast<double>(figures.hard);
    measured.unread_s = in_seconds(figures.unread);
    if (figures.gap_count > 0) {
        measured.gap_mean_s = in_seconds(figures.gaps) / static_cast<double>(figures.gap_count);
    }
    measured.gap_worst_s = in_seconds(figures.worst_gap);
    if (!world.is_all_read()) world.violate("not all is read in the end");

    world.run_for(seconds(30));
    const std::uint64_t before = world.requests();
    world.run_for(seconds(60));
    measured.requests_per_second = static_cast<double>(world.requests() - before) / 60 /
                                   static_cast<double>(world.running().size());
    measured.violations = world.violations();
    return measured;
}

Measured measure_many(const Scenario& scenario, const Setting& setting, int seeds) {
    std::vector<Measured> runs;
    for (int seed = 1; seed <= seeds; ++seed) {
        runs.push_back(measure(scenario, setting, static_cast<std::uint64_t>(seed)));
    }
    const auto middle = [&](double Measured::*figure) {
        std::vector<double> values;
        for (const Measured& run : runs) values.push_back(run.*figure);
        return median(std::move(values));
    };
    Measured result;
    for (double Measured::*figure :
         {&Measured::balanced_s, &Measured::moves, &Measured::hard, &Measured::unread_s,
          &Measured::gap_mean_s, &Measured::load_ratio, &Measured::requests_per_second}) {
        result.*figure = middle(figure);
    }
    for (const Measured& run : runs) {
        result.gap_worst_s = std::max(result.gap_worst_s, run.gap_worst_s);
        if (result.violations.empty()) result.violations = run.violations;
    }
    return result;
}

}  // namespace evenkeel::sim
