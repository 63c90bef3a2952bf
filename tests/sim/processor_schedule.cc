#include "sim/processor_schedule.h"

#include <vector>

#include <fmt/core.h>

#include "sim/processor_world.h"

namespace evenkeel::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

double to_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

constexpr int faults_count = 9;
constexpr std::uint64_t processes_max = 5;

ProcessorOptions any_processor(Random& random) {
    ProcessorOptions options;
    if (random.chance(1, 8)) options.delivery = Delivery::at_most_once;
    options.checkpoints.every_events = static_cast<std::uint64_t>(random.between(1, 40));
    options.checkpoints.every = milliseconds(random.between(100, 3000));
    options.checkpoints.manual = options.delivery != Delivery::at_most_once && random.chance(1, 6);
    options.batch_events_max = static_cast<std::size_t>(random.between(1, 12));
    if (random.chance(1, 6)) {
        options.batch_events_min = static_cast<std::size_t>(
            random.between(1, static_cast<std::int64_t>(options.batch_events_max)));
        options.max_wait = milliseconds(random.between(20, 1000));
    }
    options.retry.attempts_max = static_cast<std::uint32_t>(random.between(1, 4));
    options.retry.delay = milliseconds(random.between(0, 300));
    options.retry.delay_max = seconds(2);
    options.drain_max = milliseconds(random.chance(1, 3) ? 1500 : 10'000);
    options.progress_slow = seconds(5);
    options.handler_slow = seconds(4);
    return options;
}

ProcessorWorldOptions any_options(Random& random, std::uint64_t seed, Trouble trouble) {
    ProcessorWorldOptions options;
    options.steady_store = trouble != Trouble::store_clock;
    options.seed = seed;
    options.exact_ages = seed % 2 == 0;
    options.partitions = static_cast<std::uint32_t>(1 + random.below(8));
    if (random.chance(1, 4)) options.timing = processor::standard_timing();
    options.exclusive = random.chance(1, 2);
    options.faults.push = random.chance(1, 4);
    options.faults.write_half = std::chrono::microseconds(random.between(500, 20'000));
    options.faults.list_half = options.faults.write_half * 3 / 2;
    if (random.chance(1, 2)) {
        options.faults.lost_per_thousand = static_cast<std::uint32_t>(random.between(1, 40));
        options.faults.lost_delay = milliseconds(random.between(0, 1500));
        options.faults.refused_per_thousand = static_cast<std::uint32_t>(random.between(0, 20));
    }
    if (random.chance(1, 3)) options.faults.conflict_per_thousand = 10;
    if (random.chance(1, 4)) options.faults.silent_per_thousand = 5;
    HandlerHabits& habits = options.habits;
    if (random.chance(1, 2)) habits.slow_per_thousand = 30;
    if (random.chance(1, 3)) habits.stuck_per_thousand = 4;
    if (random.chance(1, 2)) habits.failing_per_thousand = random.chance(1, 4) ? 200 : 20;
    if (random.chance(1, 3)) habits.poison_one_in = 25;
    options.processor = any_processor(random);
    // At most once: a handler that says so gets its events again, which is no repeat by us.
    if (seed % 5 == 0 && options.processor.delivery != Delivery::at_most_once) {
        habits.outage_per_thousand = 150;
    }
    // Whoever reaches neither the store nor the hub cannot hear that its reader was replaced.
    if (trouble == Trouble::hub_path && options.exclusive) {
        options.faults.lost_per_thousand = options.faults.silent_per_thousand = 0;
        options.faults.refused_per_thousand = options.faults.conflict_per_thousand = 0;
    }
    return options;
}

class Schedule {
public:
    Schedule(std::uint64_t seed, Trouble trouble)
        : random_(seed),
          trouble_(trouble),
          options_(any_options(random_, random_.next(), trouble)),
          world_(options_) {}

    ProcessorScheduleResult run() {
        begin();
        for (int i = 0; i < faults_count && world_.violations().empty(); ++i) {
            world_.run_for(milliseconds(random_.between(0, 5'000)));
            fault();
        }
        end_quietly();
        ProcessorScheduleResult result;
        result.violations = world_.violations();
        result.story = std::move(story_);
        result.trace_hash = world_.trace_hash();
        result.steps = world_.scheduler().steps();
        result.moves = world_.moves();
        result.calls = world_.checker().calls();
        result.events = world_.checker().events();
        result.repeats = world_.checker().repeats();
        result.failures = world_.checker().failures();
        result.letters = world_.checker().letters();
        return result;
    }

private:
    void tell(const std::string& what) {
        story_ += fmt::format("{:.3f} s: {}\n",
                              static_cast<double>(world_.now().nanoseconds) / 1e9 - 1000, what);
    }

    void begin() {
        const ProcessorOptions& processor = options_.processor;
        tell(fmt::format(
            "{} partitions, {}, {}{}{}{}, batches of {}, a checkpoint every {} or {} ms, drain {} "
            "ms, latency {} us, lost {}",
            options_.partitions, options_.timing.heartbeat < seconds(2) ? "fast" : "default",
            options_.exclusive ? "exclusive broker" : "store only",
            fmt::format("{}{}", options_.faults.push ? ", push" : "",
                        options_.exact_ages ? ", exact ages" : ""),
            processor.delivery == Delivery::at_most_once ? ", at most once" : "",
            processor.checkpoints.manual ? ", by hand" : "", processor.batch_events_max,
            processor.checkpoints.every_events, processor.checkpoints.every.count(),
            processor.drain_max.count(), options_.faults.write_half.count() / 1000,
            options_.faults.lost_per_thousand));
        const std::uint64_t count = 1 + random_.below(4);
        for (std::uint64_t i = 0; i < count; ++i) start(next_id());
        produce();
    }

    // Events come in until the quiet.
    void produce() {
        if (is_quiet_) return;
        const auto partition = static_cast<std::uint32_t>(random_.below(options_.partitions));
        world_.append(partition, 1 + random_.below(8));
        world_.scheduler().run_after(milliseconds(random_.between(20, 400)), [this] { produce(); });
    }

    std::string next_id() { return std::string(1, static_cast<char>('a' + last_id_++ % 26)); }

    void start(const std::string& id) {
        tell("start " + id);
        world_.start(id);
        if (random_.chance(1, 2)) skew(id);
    }

    void skew(const std::string& id) {
        world_.set_wall_skew(id, milliseconds(random_.between(-20'000, 20'000)));
    }

    std::string anybody() {
        const auto running = world_.running();
        return running.empty() ? "" : running[random_.below(running.size())];
    }

    void fault() {
        const std::string id = anybody();
        if (id.empty()) return start(next_id());
        if (trouble_ != Trouble::usual && random_.chance(1, 2)) return trouble(id);
        switch (random_.below(13)) {
            case 0:
            case 1:
                if (world_.running().size() < processes_max) start(next_id());
                return;
            case 2:
            case 3: return crash(id);
            case 4:
            case 5:
                tell("leave " + id);
                world_.leave(id);
                if (world_.running().empty()) start(next_id());
                return;
            case 6:
            case 7: return pause(id);
            case 8: return outage("");
            case 9: return outage(id);
            case 10: return restart_hub();
            case 11: return cut();
            default: tell("the clock of " + id + " steps"); return skew(id);
        }
    }

    void trouble(const std::string& id) {
        switch (trouble_) {
            case Trouble::usual: return;
            case Trouble::hub_path: return lose_hub(id);
            case Trouble::store_clock:
                return step_clock(static_cast<int>(random_.chance(1, 2) ? 1 : random_.below(20)));
        }
    }

    void lose_hub(const std::string& id) {
        const bool is_all = random_.chance(1, 4);
        const auto duration = milliseconds(random_.between(500, 40'000));
        tell(fmt::format("{} hears nothing from the hub for {} ms", is_all ? "nobody" : id,
                         duration.count()));
        for (const std::string& each : is_all ? world_.running() : std::vector{id}) {
            world_.set_hub_path(each, false);
            later(duration + milliseconds(random_.between(0, 2'000)), [this, each] {
                if (!is_cut_on_purpose_) world_.set_hub_path(each, true);
            });
        }
    }

    // Once, or again and again.
    void step_clock(int times) {
        if (times == 0 || is_quiet_) return;
        const Duration by = milliseconds(random_.chance(1, 4)   ? 600'000
                                         : random_.chance(1, 4) ? -random_.between(0, 60'000)
                                                                : random_.between(500, 10'000));
        tell(fmt::format("the store's clock steps by {:.1f} s", to_seconds(by)));
        world_.step_store_clock(by);
        later(milliseconds(random_.between(100, 2'000)), [this, times] { step_clock(times - 1); });
    }

    void crash(const std::string& id) {
        tell("crash " + id);
        world_.crash(id);
        // Half come back, some at once.
        if (!world_.running().empty() && random_.chance(1, 2)) return;
        later(milliseconds(random_.chance(1, 3) ? 0 : random_.between(0, 8'000)),
              [this, id] { start(id); });
    }

    void pause(const std::string& id) {
        const auto duration = milliseconds(random_.between(200, 12'000));
        tell(fmt::format("pause {} for {} ms", id, duration.count()));
        world_.pause(id, duration);
    }

    void outage(const std::string& id) {
        if (trouble_ == Trouble::hub_path && options_.exclusive) return;
        const auto duration = milliseconds(random_.between(100, 12'000));
        tell(fmt::format("the store is away for {} ms{}{}", duration.count(),
                         id.empty() ? "" : ", for ", id));
        set_outage(id, true);
        later(duration, [this, id] { set_outage(id, false); });
    }
    void set_outage(const std::string& id, bool is_away) {
        if (id.empty()) return world_.set_outage(is_away);
        world_.set_outage(id, is_away);
    }

    void restart_hub() {
        const auto duration = milliseconds(random_.between(50, 5'000));
        tell(fmt::format("the hub is down for {} ms", duration.count()));
        world_.hub().stop();
        later(duration, [this] { world_.hub().start(); });
    }

    void cut() {
        const auto partition = static_cast<std::uint32_t>(random_.below(options_.partitions));
        if (random_.chance(1, 2)) {
            tell(fmt::format("the link of partition {} is lost", partition));
            return world_.hub().cut({partition});
        }
        tell(fmt::format("the reader of partition {} hears nothing any more", partition));
        world_.hub().stall({partition});
    }

    void later(Duration delay, std::function<void()> what) {
        world_.scheduler().run_after(delay, [what = std::move(what)] { what(); });
    }

    // Faults end; everybody who is there stays; what is under way ends.
    void end_quietly() {
        if (!world_.violations().empty()) return;
        world_.run_for(seconds(13));
        is_quiet_ = true;
        world_.hub().start();
        world_.habits() = {};
        world_.quieten();
        if (world_.running().empty()) start(next_id());
        tell("quiet");
        // A stuck handler takes 40 s, probation after crashes a minute at most.
        if (!world_.run_until_settled(seconds(120))) {
            return world_.violate("not settled in the end\n" + world_.describe());
        }
        // Whoever waits for an answer that was lost just before may still look dead: until the
        // request has timed out and its next heartbeat has come.
        world_.run_for(options_.timing.request_max + 2 * options_.timing.heartbeat);
        if (!world_.run_until_settled(seconds(60))) {
            return world_.violate("settled, and not any more\n" + world_.describe());
        }
        world_.judge_quiet();
        if (trouble_ == Trouble::hub_path) judge_hub_path();
    }

    // All lose the hub: nobody fights. One loses it: the others read its partitions.
    void judge_hub_path() {
        is_cut_on_purpose_ = true;
        const Duration unread_max = options_.timing.unread_max;
        world_.run_for(processor::Timing{}.probation_max);  // nobody rests from before
        if (!world_.run_until_settled(seconds(60))) return world_.violate("not settled to be cut");
        const auto running = world_.running();
        const std::uint64_t moves = world_.moves();
        tell("nobody hears from the hub");
        for (const std::string& id : running) {
            world_.set_hub_path(id, false);
            world_.run_for(milliseconds(random_.between(0, 500)));
        }
        world_.run_for(2 * unread_max);
        for (const std::string& id : running) world_.set_hub_path(id, true);
        world_.run_for(unread_max);
        if (world_.moves() != moves) world_.violate("moves while nobody could read");
        if (running.size() < 2) return;

        const std::string one = running[random_.below(running.size())];
        tell(one + " hears nothing from the hub");
        world_.set_hub_path(one, false);
        for (std::uint32_t p = 0; p < options_.partitions; ++p) world_.append(p, 3);
        world_.run_for(2 * unread_max);
        if (!world_.owned_by(one).empty()) world_.violate("kept, though others could read it");
        if (!world_.is_all_handled()) world_.violate("owned but unread\n" + world_.describe());
        world_.set_hub_path(one, true);
        if (!world_.run_until_settled(seconds(120))) {
            world_.violate("not settled after the hub was found again\n" + world_.describe());
        }
    }

    Random random_;
    const Trouble trouble_;
    const ProcessorWorldOptions options_;
    ProcessorWorld world_;
    std::string story_;
    int last_id_ = 0;
    bool is_quiet_ = false;
    bool is_cut_on_purpose_ = false;
};

}  // namespace

ProcessorScheduleResult run_processor_schedule(std::uint64_t seed, Trouble trouble) {
    return Schedule(seed, trouble).run();
}

}  // namespace evenkeel::sim
