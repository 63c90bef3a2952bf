#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "bench/bench.h"
#include "bench/group.h"
#include "bench/hub.h"
#include "bench/load.h"
#include "bench/peer.h"
#include "bench/run.h"
#include "cli/temporary_folder.h"

namespace evenkeel::bench {
namespace {

constexpr std::uint32_t partitions = 16;
constexpr std::size_t small_event_bytes = 100;
constexpr std::size_t bare_write_bytes = std::size_t{128} << 10;
constexpr double wire_bytes = 236;  // of one event, as `bench amqp` counts them

class ProcessorBench {
public:
    ProcessorBench(const ProcessorBenchOptions& options, std::string folder,
                   cli::Interrupt& interrupt, std::vector<Line>& lines)
        : options_(options), folder_(std::move(folder)), interrupt_(interrupt), lines_(lines) {}

    Result<> run() {
        const GroupPlace place{folder_, interrupt_};
        const int kills = options_.full ? 25 : 3;
        if (wanted("noop_100b")) EK_TRY(noop());
        for (const std::uint32_t count : {1u, 16u, 256u, 1024u}) EK_TRY(end_to_end(count));
        for (const std::uint32_t count : {8u, 64u}) {
            const std::string name = fmt::format("end_to_end_20k_from_{}_producers", count);
            if (wanted(name)) EK_TRY(end_to_end({.name = name, .producers = count}));
        }
        if (const std::string name = "end_to_end_20k_beside_backlog"; wanted(name)) {
            EK_TRY(end_to_end({.name = name, .has_backlog_reader = true, .p99_max_ms = 10}));
        }
        for (const bool fast : {false, true}) {
            for (const Fall fall : {Fall::killed, Fall::stopped}) {
                if (!wanted(failover_name(fast, fall))) continue;
                EK_TRY(add(measure_failover(place, fast, fall, kills)));
            }
        }
        if (wanted("hand_over")) {
            EK_TRY(add(measure_hand_overs(place, options_.full ? 200 : 24)));
        }
        if (wanted("balance_after_start")) EK_TRY(add(measure_start(place, 32, 4)));
        return {};
    }

    Result<> end_to_end(std::uint32_t count) {
        const std::string name = fmt::format("end_to_end_20k_{}", count);
        if (!wanted(name)) return {};
        return end_to_end({.name = name, .partitions = count});
    }

private:
    bool wanted(std::string_view name) {
        const bool wanted = name.find(options_.only) != std::string_view::npos;
        if (wanted) fmt::print(stderr, "{} ...\n", name);
        return wanted;
    }
    Result<> add(const Result<Line>& line) {
        if (!line.ok()) return line.error();
        lines_.push_back(*line);
        return {};
    }
    Duration round() const {
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(options_.seconds));
    }
    Result<> stop_if_asked() {
        if (!interrupt_.wait(Duration(0))) return {};
        return Error{ErrorCode::cancelled, "interrupted"};
    }
    Result<> noop();
    // The child's next line; an error if it ends, we are asked to, or the machine stands still.
    Result<std::string> answer_of(cli::Child& child);
    struct EndToEnd {
        std::string name;
        std::uint32_t partitions = 16;
        std::uint32_t producers = 1;
        bool has_backlog_reader = false;
        double p99_max_ms = 2.5;
    };
    Result<> end_to_end(const EndToEnd& wanted);
    Result<cli::Child> start_backlog_reader(const HubProcess& hub, std::uint32_t partitions_of_hub);

    const ProcessorBenchOptions options_;
    const std::string folder_;
    cli::Interrupt& interrupt_;
    std::vector<Line>& lines_;
};

Result<cli::Child> start_member(const HubProcess& hub, std::uint32_t count,
                                const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"member-child", "--partitions", std::to_string(count)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EK_TRY_ASSIGN(auto child, cli::Child::start(arguments));
    child.say(hub.connection_string());
    return child;
}

Result<std::string> ProcessorBench::answer_of(cli::Child& child) {
    if (!interrupt_.wait_for_input(child.output(), std::chrono::minutes(3))) {
        EK_TRY(stop_if_asked());
        return Error{ErrorCode::timed_out, "the processor's process did not answer for 3 minutes"};
    }
    auto line = child.next_line();
    if (!line) return Error{ErrorCode::unavailable, "the processor's process ended early"};
    return std::move(*line);
}

// A processor in a process of its own reads what is there, from the first event to the last.
Result<> ProcessorBench::noop() {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "noop"));
    EK_TRY_ASSIGN(const auto hub,
                  HubProcess::start({.data = folder->path() + "/hub", .partitions = partitions}));
    constexpr std::size_t sent_together = 1000;
    const std::uint64_t events =
        std::max<std::uint64_t>(1, options_.events / sent_together) * sent_together;
    {
        EK_TRY_ASSIGN(const auto producer, Producer::open(hub->connection_string()));
        BatchLoad load(*producer, partitions, {small_event_bytes, events, sent_together});
        EK_TRY(load.run(events, std::chrono::minutes(5)));
    }
    EK_TRY_ASSIGN(auto bare, BareSource::start(bare_write_bytes));
    std::vector<double> ours;
    std::vector<double> limit;
    std::vector<double> cpu_ns;
    std::vector<double> hub_ns;
    std::vector<double> batch_events;
    double peak_mib = 0;
    for (int i = 0; i < options_.rounds; ++i) {
        EK_TRY_ASSIGN(auto child,
                      start_member(*hub, partitions,
                                   {"--mode", "count", "--events", std::to_string(events),
                                    "--store", fmt::format("sqlite:{}/{}.db", folder->path(), i)}));
        EK_TRY(answer_of(child));
        const double hub_before = hub->cpu_seconds();
        child.say("go");
        EK_TRY_ASSIGN(const std::string answer, answer_of(child));
        hub_ns.push_back((hub->cpu_seconds() - hub_before) / static_cast<double>(events) * 1e9);
        double seconds = 0;
        double cpu = 0;
        double peak = 0;
        double batches = 0;
        if (std::sscanf(answer.c_str(), "counted %lf %lf %lf %lf", &seconds, &cpu, &peak,
                        &batches) != 4) {
            return Error{ErrorCode::corrupt, "the processor answered wrongly: " + answer};
        }
        ours.push_back(static_cast<double>(events) / seconds);
        cpu_ns.push_back(cpu / static_cast<double>(events) * 1e9);
        batch_events.push_back(static_cast<double>(events) / batches);
        peak_mib = std::max(peak_mib, peak);
        EK_TRY_ASSIGN(const double bytes, bare.bytes_per_second(round()));
        limit.push_back(bytes / wire_bytes);
        EK_TRY(stop_if_asked());
    }
    Line line{"noop_100b",   median(ours),
              median(limit), ">= 2.5 M/s, <= 400 ns of CPU an event",
              true,          {}};
    line.met = line.events_per_second >= 2.5e6 && median(cpu_ns) <= 400;
    line.more = {{"processor_cpu_ns_per_event", median(cpu_ns)},
                 {"hub_cpu_ns_per_event", median(hub_ns)},
                 {"peak_rss_mib", peak_mib},
                 {"events_per_batch", median(batch_events)},
                 {"backlog_events", static_cast<double>(events)},
                 {"event_bytes", small_event_bytes},
                 {"partitions", partitions},
                 {"events_per_second_min", *std::min_element(ours.begin(), ours.end())},
                 {"events_per_second_max", *std::max_element(ours.begin(), ours.end())}};
    lines_.push_back(line);
    return {};
}

// In a process of its own, beside what is measured.
Result<cli::Child> ProcessorBench::start_backlog_reader(const HubProcess& hub,
                                                        std::uint32_t partitions_of_hub) {
    constexpr std::size_t sent_together = 1000;
    const std::uint64_t each =
        std::max<std::uint64_t>(1, options_.events / partitions_of_hub / sent_together) *
        sent_together;
    EK_TRY_ASSIGN(const auto producer, Producer::open(hub.connection_string()));
    BatchLoad load(*producer, partitions_of_hub,
                   {small_event_bytes, each * partitions_of_hub, sent_together});
    EK_TRY(load.run(each * partitions_of_hub, std::chrono::minutes(5)));
    EK_TRY_ASSIGN(auto child, start_member(hub, partitions_of_hub,
                                           {"--mode", "backlog", "--store", "memory:", "--events",
                                            std::to_string(each)}));
    EK_TRY(answer_of(child));
    return child;
}

// Twenty events are due each millisecond, one for each of the next twenty partitions (fewer
// partitions: as many for each): from the time at which the event was due to the call of the
// handler in another process, with the sync between them.
Result<> ProcessorBench::end_to_end(const EndToEnd& wanted) {
    constexpr double rate = 20'000;
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "latency"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub",
                                                     .partitions = wanted.partitions,
                                                     .groups = 1}));
    std::vector<std::unique_ptr<Producer>> producers;
    std::vector<Producer*> turns;
    for (std::uint32_t i = 0; i < wanted.producers; ++i) {
        EK_TRY_ASSIGN(auto producer, Producer::open(hub->connection_string()));
        turns.push_back(producer.get());
        producers.push_back(std::move(producer));
    }
    std::optional<cli::Child> backlog;
    if (wanted.has_backlog_reader) {
        EK_TRY_ASSIGN(auto reader, start_backlog_reader(*hub, wanted.partitions));
        backlog.emplace(std::move(reader));
    }
    EK_TRY_ASSIGN(auto child, start_member(*hub, wanted.partitions,
                                           {"--mode", "latency", "--store",
                                            "sqlite:" + folder->path() + "/progress.db"}));
    PacedLoad load(std::move(turns), {.partitions = wanted.partitions,
                                      .events_per_second = rate,
                                      .due_together = 20,
                                      .event_bytes = small_event_bytes});
    load.start();
    EK_TRY(answer_of(child));
    interrupt_.wait(std::chrono::milliseconds(500));
    const SystemClock clock;
    const Instant start = clock.now();
    const double hub_before = hub->cpu_seconds();
    child.say("begin");
    interrupt_.wait(round() * options_.rounds);
    child.say("end");
    EK_TRY_ASSIGN(const std::string answer, answer_of(child));
    const double seconds = seconds_of(clock.now() - start);
    const double hub_seconds = hub->cpu_seconds() - hub_before;
    const double hub_mib = hub->resident_mib();
    EK_TRY(load.stop());
    EK_TRY(stop_if_asked());
    std::uint64_t events = 0;
    double p50 = 0;
    double p99 = 0;
    double max = 0;
    if (std::sscanf(answer.c_str(), "latency %" SCNu64 " %lf %lf %lf", &events, &p50, &p99, &max) !=
        4) {
        return Error{ErrorCode::corrupt, "the processor answered wrongly: " + answer};
    }
    if (events == 0) {
        return Error{ErrorCode::unavailable, "no event arrived while the latency was measured"};
    }
    const bool many = wanted.partitions > 16;
    const double p50_max = many ? 1.2 : 0.8;
    const double p99_max = many ? 5 : wanted.p99_max_ms;
    Line result{wanted.name, static_cast<double>(events) / seconds, rate, "", true, {}};
    if (wanted.has_backlog_reader) {
        result.goal = fmt::format("p99 <= {} ms", p99_max);
        result.met = p99 <= p99_max;
    } else if (wanted.producers == 1) {
        result.goal = fmt::format("p50 <= {} ms, p99 <= {} ms", p50_max, p99_max);
        result.met = p50 <= p50_max && p99 <= p99_max;
    }
    result.more = {{"p50_ms", p50},
                   {"p99_ms", p99},
                   {"max_ms", max},
                   {"hub_cpu_us_per_event", hub_seconds / static_cast<double>(events) * 1e6},
                   {"hub_rss_mib", hub_mib},
                   {"event_bytes", small_event_bytes},
                   {"producers", wanted.producers},
                   {"partitions", wanted.partitions}};
    result.acknowledged_by = "disk: synced journal or segment";
    lines_.push_back(result);
    return {};
}

}  // namespace

Result<> add_end_to_end(const ProcessorBenchOptions& options, const std::string& folder,
                        cli::Interrupt& interrupt, std::vector<Line>& lines,
                        std::uint32_t partitions_of_hub) {
    return ProcessorBench(options, folder, interrupt, lines).end_to_end(partitions_of_hub);
}

cli::ExitCode measure_processor(const ProcessorBenchOptions& options) {
    return run_benchmark(
        options.data, options.json,
        [&](const std::string& folder, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return ProcessorBench(options, folder, interrupt, lines).run();
        });
}

}  // namespace evenkeel::bench
