#include "sim/random_schedule.h"

#include <vector>

#include <fmt/core.h>

#include "sim/balance_world.h"

namespace evenkeel::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int events = 12;
constexpr std::uint64_t processes_max = 6;

WorldOptions any_options(Random& random, std::uint64_t seed) {
    WorldOptions options;
    options.seed = seed;
    options.exact_ages = seed % 2 == 0;
    const std::uint64_t sizes[] = {4, 8, 16, 64};
    options.partitions = static_cast<std::uint32_t>(1 + random.below(sizes[random.below(4)]));
    if (random.chance(1, 2)) options.timing = processor::fast_timing();
    if (random.chance(1, 4)) options.strategy = processor::Strategy::greedy;
    options.exclusive = random.chance(1, 5);
    options.faults.push = random.chance(1, 4);
    options.faults.write_half = std::chrono::microseconds(random.between(2'500, 20'000));
    options.faults.list_half = options.faults.write_half * 3 / 2;
    if (random.chance(1, 2)) {
        options.faults.lost_per_thousand = 20;
        options.faults.lost_delay = milliseconds(random.between(0, 1500));
    }
    return options;
}

class Schedule {
public:
    explicit Schedule(std::uint64_t seed)
        : random_(seed), options_(any_options(random_, random_.next())), world_(options_) {}

    ScheduleResult run() {
        begin();
        for (int i = 0; i < events && world_.violations().empty(); ++i) {
            world_.run_for(milliseconds(random_.between(0, 12'000)));
            event();
        }
        // Pauses and outages end; everybody who is there stays.
        world_.run_for(seconds(35));
        end_quietly();
        ScheduleResult result;
        result.violations = world_.violations();
        result.story = std::move(story_);
        result.trace_hash = world_.trace_hash();
        result.steps = world_.scheduler().steps();
        result.moves = world_.figures().moves;
        return result;
    }

private:
    void tell(const std::string& what) {
        story_ += fmt::format("{:.3f} s: {}\n",
                              static_cast<double>(world_.now().nanoseconds) / 1e9 - 1000, what);
    }

    void begin() {
        tell(fmt::format("{} partitions, {}, {}{}, latency {} us, lost {}", options_.partitions,
                         options_.timing.heartbeat < seconds(2) ? "fast" : "default",
                         options_.exclusive ? "exclusive broker" : "store only",
                         options_.faults.push ? ", push" : "",
                         options_.faults.write_half.count() / 1000,
                         options_.faults.lost_per_thousand));
        const std::uint64_t count = 1 + random_.below(processes_max);
        std::vector<std::string> ids;
        for (std::uint64_t i = 0; i < count; ++i) ids.push_back(next_id());
        if (random_.chance(1, 2)) world_.write_warm(ids);
        for (const std::string& id : ids) start(id);
    }

    std::string next_id() { return std::string(1, static_cast<char>('a' + last_id_++ % 26)); }

    void start(const std::string& id) {
        tell("start " + id);
        world_.start(id);
        if (random_.chance(1, 2)) {
            world_.set_wall_skew(id, milliseconds(random_.between(-20'000, 20'000)));
        }
    }

    std::string anybody() {
        const auto running = world_.running();
        return running.empty() ? "" : running[random_.below(running.size())];
    }

    void event() {
        switch (random_.below(7)) {
            case 0:
            case 1:
                if (world_.running().size() < processes_max) return start(next_id());
                return;
            case 2: return crash();
            case 3:
                if (const std::string id = anybody(); world_.running().size() > 1) {
                    tell("leave " + id);
                    world_.leave(id);
                }
                return;
            case 4:
            case 5: return pause();
            default: return outage();
        }
    }

    void crash() {
        const std::string id = anybody();
        if (id.empty()) return;
        tell("crash " + id);
        world_.crash(id);
        // Half come back, some at once.
        if (!world_.running().empty() && random_.chance(1, 2)) return;
        const auto after = milliseconds(random_.chance(1, 3) ? 0 : random_.between(0, 15'000));
        world_.scheduler().run_after(after, [this, id] { start(id); });
    }

    void pause() {
        const std::string id = anybody();
        if (id.empty()) return;
        const auto duration = milliseconds(random_.between(500, 30'000));
        tell(fmt::format("pause {} for {} ms", id, duration.count()));
        world_.pause(id, duration);
    }

    void outage() {
        if (!random_.chance(1, 2)) return;
        const auto duration = milliseconds(random_.between(100, 20'000));
        tell(fmt::format("the store is away for {} ms", duration.count()));
        world_.set_outage(true);
        world_.scheduler().run_after(duration, [this] { world_.set_outage(false); });
    }

    void end_quietly() {
        if (world_.running().empty()) start(next_id());
        world_.set_outage(false);
        world_.faults().lost_per_thousand = 0;
        // Answers that were lost just before may still make a member look dead.
        world_.run_for(seconds(10));
        // Probation after crashes lasts a minute at most.
        if (!world_.settles(seconds(90), seconds(5))) {
            world_.violate("not balanced in the end\n" + world_.describe());
        }
    }

    Random random_;
    const WorldOptions options_;
    BalanceWorld world_;
    std::string story_;
    int last_id_ = 0;
};

}  // namespace

ScheduleResult run_random_schedule(std::uint64_t seed) {
    return Schedule(seed).run();
}

}  // namespace evenkeel::sim
