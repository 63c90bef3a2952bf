#include <algorithm>
#include <cstdio>

#include <sched.h>
#include <sys/resource.h>

#include <fmt/core.h>

#include "base/random.h"
#include "bench/allocations.h"
#include "bench/bench.h"
#include "bench/log_rig.h"
#include "bench/run.h"
#include "cli/temporary_folder.h"

namespace evenkeel::bench {
namespace {

using commitlog::Durability;

// A round ends early when it has written this much: the page cache should hold it.
constexpr std::uint64_t round_bytes_max = std::uint64_t{2} << 30;
constexpr Duration first_event_max = std::chrono::seconds(30);
constexpr double allocations_per_event_max = 0.02;
constexpr std::size_t read_bytes = std::size_t{256} << 10;

// This process, and the threads it starts meanwhile, on one core.
class OneCore {
public:
    OneCore() {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
            if (!CPU_ISSET(core, &before_)) continue;
            CPU_SET(core, &one);
            break;
        }
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
    OneCore(const OneCore&) = delete;
    OneCore& operator=(const OneCore&) = delete;

private:
    cpu_set_t before_{};
};

struct AppendRound {
    double events_per_second = 0;
    double events_per_cpu_second = 0;
    double bytes_per_sync = 0;
    double events_per_sync = 0;
    double allocations_per_event = 0;
    std::size_t stored_bytes_per_event = 0;
};

double seconds_of(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

// Of all threads of this process. What a neighbour on the same core takes is not in it.
double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class LogBench {
public:
    LogBench(const LogOptions& options, std::string folder, cli::Interrupt& interrupt,
             std::vector<Line>& lines)
        : options_(options), folder_(std::move(folder)), interrupt_(interrupt), lines_(lines) {}

    Result<> run() {
        if (wanted("durable_append_1k")) EK_TRY(durable_append());
        if (wanted("single_append_1_partition")) EK_TRY(single_append(1));
        if (wanted("single_append_16_partitions")) EK_TRY(single_append(16));
        if (wanted("cached_append_100b")) EK_TRY(cached_append());
        if (wanted("cached_read_100b")) EK_TRY(cached_read());
        return {};
    }

private:
    bool wanted(std::string_view name) {
        const bool wanted = name.find(options_.only) != std::string_view::npos;
        if (wanted) fmt::print(stderr, "{} ...\n", name);
        return wanted;
    }

    Result<> durable_append();
    Result<> single_append(std::uint32_t partitions);
    Result<> cached_append();
    Result<> cached_read();

    Result<AppendRound> append_round(const LogRig::Options& rig, const AppendLoad::Options& load);
    Result<double> raw_writes_per_second(std::size_t write_bytes, bool sync);
    Result<std::uint64_t> read_all(LogRig& rig);
    Result<double> raw_read_seconds(const std::string& folder);
    Result<> stop_if_asked() {
        if (!interrupt_.wait(Duration(0))) return {};
        return Error{ErrorCode::cancelled, "interrupted"};
    }

    const LogOptions options_;
    const std::string folder_;
    cli::Interrupt& interrupt_;
    std::vector<Line>& lines_;
    const SystemClock clock_;
};

Result<AppendRound> LogBench::append_round(const LogRig::Options& rig_options,
                                           const AppendLoad::Options& load_options) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "round"));
    EK_TRY_ASSIGN(const auto rig, LogRig::make(folder->path(), rig_options));
    AppendLoad load(*rig, load_options);
    load.start();
    // What comes first pays for what is used for the first time.
    interrupt_.wait(std::chrono::milliseconds(200));

    const AllocationCount allocations;
    const std::uint64_t events_before = load.events();
    const std::uint64_t syncs_before = rig->metrics().syncs.value();
    const double cpu_before = cpu_seconds();
    const Instant start = clock_.now();
    const Instant end = start + std::chrono::duration_cast<Duration>(
                                    std::chrono::duration<double>(options_.seconds));
    const std::size_t event_bytes = load.stored_bytes_per_event();
    // On a busy machine a short round may be over before the first sync is.
    const auto has_more_time = [&] {
        return clock_.now() < (load.events() > events_before ? end : end + first_event_max);
    };
    while (has_more_time() && load.events() * event_bytes < round_bytes_max) {
        if (interrupt_.wait(std::chrono::milliseconds(10))) break;
    }
    const auto events = static_cast<double>(load.events() - events_before);
    const auto syncs = static_cast<double>(rig->metrics().syncs.value() - syncs_before);
    const double seconds = seconds_of(clock_.now() - start);
    const double cpu = cpu_seconds() - cpu_before;
    const auto allocated = static_cast<double>(allocations.value());
    EK_TRY(load.stop());
    EK_TRY(stop_if_asked());
    if (events == 0) return Error{ErrorCode::timed_out, "nothing was acknowledged in time"};
    AppendRound round;
    round.events_per_second = events / seconds;
    round.events_per_cpu_second = cpu > 0 ? events / cpu : 0;
    round.events_per_sync = syncs > 0 ? events / syncs : 0;
    round.bytes_per_sync = round.events_per_sync * static_cast<double>(event_bytes);
    round.allocations_per_event = allocated / events;
    round.stored_bytes_per_event = event_bytes;
    return round;
}

// A plain loop of write, and fdatasync if asked for, on one file that grows.
Result<double> LogBench::raw_writes_per_second(std::size_t write_bytes, bool sync) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "raw"));
    io::system::SystemFiles files;
    EK_TRY_ASSIGN(const auto file, files.open(folder->path() + "/raw", io::OpenMode::create));
    std::vector<std::byte> bytes(write_bytes);
    Random(7).fill(bytes);
    std::uint64_t writes = 0;
    const Instant start = clock_.now();
    double seconds = 0;
    while (seconds < options_.seconds && writes * write_bytes < round_bytes_max) {
        EK_TRY(file->write(writes * write_bytes, bytes));
        if (sync) EK_TRY(file->sync());
        ++writes;
        seconds = seconds_of(clock_.now() - start);
    }
    EK_TRY(stop_if_asked());
    return static_cast<double>(writes) / seconds;
}

Result<> LogBench::durable_append() {
    constexpr std::size_t batch_events = 256;
    std::vector<double> ours;
    std::vector<double> raw;
    std::vector<double> bytes_per_sync;
    for (int round = 0; round < options_.rounds; ++round) {
        EK_TRY_ASSIGN(
            const auto result,
            append_round({.partitions = 16, .disk_threads = 2, .log = {}},
                         {.writers = 64, .batch_events = batch_events, .event_bytes = 1024}));
        EK_TRY_ASSIGN(const double writes,
                      raw_writes_per_second(static_cast<std::size_t>(result.bytes_per_sync), true));
        ours.push_back(result.events_per_second);
        raw.push_back(writes * result.events_per_sync);
        bytes_per_sync.push_back(result.bytes_per_sync);
    }
    Line line{"durable_append_1k", median(ours), median(raw), "ratio >= 0.70", true, {}};
    line.met = line.ratio() >= 0.70;
    line.more = {{"bytes_per_sync", median(bytes_per_sync)},
                 {"events_per_second_min", *std::min_element(ours.begin(), ours.end())},
                 {"events_per_second_max", *std::max_element(ours.begin(), ours.end())},
                 {"partitions", 16},
                 {"event_bytes", 1024},
                 {"batch_events", batch_events}};
    lines_.push_back(line);
    return {};
}

Result<> LogBench::single_append(std::uint32_t partitions) {
    std::vector<double> ours;
    std::vector<double> raw;
    std::vector<double> per_sync;
    for (int round = 0; round < options_.rounds; ++round) {
        EK_TRY_ASSIGN(
            const auto result,
            append_round(
                {.partitions = partitions, .disk_threads = 2, .log = {}},
                {.writers = 64, .batch_events = 1, .event_bytes = 256, .client_threads = 4}));
        // The limit is what one sync an event gives: what there would be without group commit.
        EK_TRY_ASSIGN(const double writes,
                      raw_writes_per_second(result.stored_bytes_per_event, true));
        ours.push_back(result.events_per_second);
        raw.push_back(writes);
        per_sync.push_back(result.events_per_sync);
    }
    Line line{partitions == 1 ? "single_append_1_partition" : "single_append_16_partitions",
              median(ours),
              median(raw),
              "",
              true,
              {}};
    if (partitions == 1) {
        line.goal = "events_per_sync >= 10";
        line.met = median(per_sync) >= 10;
    }
    line.more = {{"events_per_sync", median(per_sync)},
                 {"writers", 64},
                 {"partitions", partitions},
                 {"event_bytes", 256}};
    lines_.push_back(line);
    return {};
}

Result<> LogBench::cached_append() {
    const OneCore one_core;
    constexpr std::size_t batch_events = 256;
    std::vector<double> ours;
    std::vector<double> raw;
    std::vector<double> per_cpu_second;
    std::vector<double> allocations;
    commitlog::LogOptions log;
    log.durability = Durability::os;
    for (int round = 0; round < options_.rounds; ++round) {
        EK_TRY_ASSIGN(
            const auto result,
            append_round({.partitions = 1, .disk_threads = 1, .log = log},
                         {.writers = 16, .batch_events = batch_events, .event_bytes = 100}));
        EK_TRY_ASSIGN(const double writes,
                      raw_writes_per_second(batch_events * result.stored_bytes_per_event, false));
        ours.push_back(result.events_per_second);
        raw.push_back(writes * static_cast<double>(batch_events));
        per_cpu_second.push_back(result.events_per_cpu_second);
        allocations.push_back(result.allocations_per_event);
    }
    Line line{"cached_append_100b", median(ours), median(raw), ">= 3,000,000/s", true, {}};
    line.met = line.events_per_second >= 3e6;
    line.more = {{"events_per_cpu_second", median(per_cpu_second)},
                 {"allocations_per_event", median(allocations)},
                 {"cores", 1},
                 {"event_bytes", 100},
                 {"batch_events", batch_events}};
    lines_.push_back(line);
    if (allocations_are_counted && median(allocations) > allocations_per_event_max) {
        return Error{
            ErrorCode::corrupt,
            fmt::format("{:.3f} allocations an event while appending; at most {} are right",
                        median(allocations), allocations_per_event_max)};
    }
    return {};
}

Result<> LogBench::cached_read() {
    const OneCore one_core;
    commitlog::LogOptions log;
    log.durability = Durability::os;
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "read"));
    EK_TRY_ASSIGN(const auto rig,
                  LogRig::make(folder->path(), {.partitions = 1, .disk_threads = 1, .log = log}));
    AppendLoad load(*rig, {.writers = 16, .batch_events = 256, .event_bytes = 100});
    load.start();
    while (load.events() * load.stored_bytes_per_event() < (std::uint64_t{1} << 30)) {
        if (interrupt_.wait(std::chrono::milliseconds(10))) break;
    }
    EK_TRY(load.stop());
    EK_TRY(stop_if_asked());

    std::vector<double> ours;
    std::vector<double> raw;
    std::vector<double> per_cpu_second;
    std::vector<double> allocations;
    const auto events = static_cast<double>(load.events());
    for (int round = 0; round < options_.rounds; ++round) {
        const AllocationCount counted;
        const double cpu_before = cpu_seconds();
        const Instant start = clock_.now();
        EK_TRY_ASSIGN(const std::uint64_t seen, read_all(*rig));
        ours.push_back(events / seconds_of(clock_.now() - start));
        per_cpu_second.push_back(events / (cpu_seconds() - cpu_before));
        allocations.push_back(static_cast<double>(counted.value()) / events);
        if (seen != load.events()) {
            return Error{ErrorCode::corrupt,
                         fmt::format("{} events were appended and {} read", load.events(), seen)};
        }
        EK_TRY_ASSIGN(const double raw_seconds, raw_read_seconds(folder->path() + "/0"));
        raw.push_back(events / raw_seconds);
        EK_TRY(stop_if_asked());
    }
    Line line{"cached_read_100b", median(ours), median(raw), ">= 5,000,000/s", true, {}};
    line.met = line.events_per_second >= 5e6;
    line.more = {{"events_per_cpu_second", median(per_cpu_second)},
                 {"allocations_per_event", median(allocations)},
                 {"cores", 1},
                 {"event_bytes", 100},
                 {"events", events}};
    lines_.push_back(line);
    if (allocations_are_counted && median(allocations) > allocations_per_event_max) {
        return Error{ErrorCode::corrupt,
                     fmt::format("{:.3f} allocations an event while reading; at most {} are right",
                                 median(allocations), allocations_per_event_max)};
    }
    return {};
}

// All events from the first to the last, each looked at, as a reader of the hub does it.
Result<std::uint64_t> LogBench::read_all(LogRig& rig) {
    Result<std::uint64_t> result = std::uint64_t{0};
    const auto pass = [&]() -> Result<std::uint64_t> {
        commitlog::Log& log = *rig.logs().front();
        EK_TRY_ASSIGN(auto cursor, log.seek(Position::earliest()));
        SequenceNumber next{0};
        const auto look_at = [&](const commitlog::Slice& slice) {
            for (const auto& record : slice) {
                if (record.sequence != next || record.body.size() != 100) return false;
                next = next + 1;
            }
            return true;
        };
        while (true) {
            bool good = true;
            auto step = log.read(cursor, read_bytes);
            if (const auto* slice = std::get_if<commitlog::Slice>(&step)) {
                good = look_at(*slice);
            } else if (const auto* cold = std::get_if<commitlog::ColdRead>(&step)) {
                EK_TRY_ASSIGN(const auto outcome, cold->perform());
                log.advance(cursor, outcome);
                good = !outcome.damage && look_at(outcome.events);
            } else {
                return static_cast<std::uint64_t>(next.value);
            }
            if (!good) {
                return Error{ErrorCode::corrupt,
                             fmt::format("event {} was not read as it was appended", next.value)};
            }
        }
    };
    io::system::run_and_wait(rig.loop(), [&] { result = pass(); });
    return result;
}

Result<double> LogBench::raw_read_seconds(const std::string& folder) {
    io::system::SystemFiles files;
    std::vector<std::byte> bytes(read_bytes);
    const Instant start = clock_.now();
    EK_TRY_ASSIGN(const auto entries, files.list(folder));
    for (const auto& entry : entries) {
        if (!entry.name.ends_with(".log")) continue;
        EK_TRY_ASSIGN(const auto file, files.open(folder + "/" + entry.name, io::OpenMode::read));
        std::uint64_t at = 0;
        std::size_t got = bytes.size();
        while (got == bytes.size()) {
            EK_TRY_ASSIGN(got, file->read(at, bytes));
            at += got;
        }
    }
    return seconds_of(clock_.now() - start);
}

}  // namespace

cli::ExitCode measure_log(const LogOptions& options) {
    return run_benchmark(
        options.data, options.json,
        [&](const std::string& folder, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return LogBench(options, folder, interrupt, lines).run();
        },
        "look at free space and the kernel's messages about the device");
}

}  // namespace evenkeel::bench
