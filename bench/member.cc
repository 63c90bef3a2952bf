#include "bench/member.h"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/promise.h"
#include "bench/load.h"
#include "cli/child.h"
#include "cli/latencies.h"
#include "io/system/files.h"
#include <evenkeel/consumer.h>
#include <evenkeel/processor.h>

namespace evenkeel::bench {
namespace {

// In one piece, so that a kill cuts between lines.
void tell(const std::string& line) {
    const std::string text = line + "\n";
    (void)!write(STDOUT_FILENO, text.data(), text.size());
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// getrusage would count what our parent had when it started us.
double peak_mib() {
    io::system::SystemFiles files;
    const auto opened = files.open("/proc/self/status", io::OpenMode::read);
    if (!opened.ok()) return 0;
    std::array<std::byte, 8192> bytes;
    const auto got = (*opened)->read(0, bytes);
    if (!got.ok()) return 0;
    const std::string_view text = as_text(ByteView(bytes).first(*got));
    const std::size_t at = text.find("VmHWM:");
    if (at == std::string_view::npos) return 0;
    const std::size_t digits = text.find_first_of("0123456789", at);
    double kib = 0;
    std::from_chars(text.data() + digits, text.data() + text.size(), kib);
    return kib / 1024;
}

ProcessorOptions processor_options(const MemberOptions& options, const std::string& connection) {
    ProcessorOptions wanted;
    wanted.hub = connection;
    wanted.store = options.store;
    wanted.profile = options.fast ? Profile::fast : Profile::standard;
    wanted.on_error = [](const Failure& failure) {
        if (failure.scope == ErrorScope::handler) {
            fmt::print(stderr, "{}: {}\n", failure.operation, to_string(failure.error));
        }
    };
    return wanted;
}

// What the partitions' handlers share: how many events came.
class Count {
public:
    Count(std::uint32_t partitions, std::uint64_t events) : events_(events), next_(partitions) {}

    // Each waits until all are there: how long that takes is another line's business.
    void open(Partition& partition) {
        const Lock lock(mutex_);
        if (is_going_) return;
        partition.pause();
        waiting_[partition.id()] = &partition;
        if (waiting_.size() == next_.size()) all_open_.set(true);
    }
    void close(Partition& partition) {
        const Lock lock(mutex_);
        waiting_.erase(partition.id());
    }
    void wait_until_open() { all_open_.wait(); }
    void go() {
        const Lock lock(mutex_);
        is_going_ = true;
        for (const auto& [id, partition] : waiting_) partition->resume();
    }

    // Events of a partition must follow each other: a benchmark that loses some is worth nothing.
    // On a machine that stalls a partition may be lost and won again, and repeat some.
    void handle(std::uint32_t partition, Events events) {
        ++batches_;
        std::int64_t& next = next_[partition];
        const std::int64_t first = events.front().sequence_number;
        const std::int64_t last = events.back().sequence_number;
        const bool is_dense = last - first + 1 == static_cast<std::int64_t>(events.size());
        if (!is_dense || first > next) done_.set(false);
        if (last < next) return;
        const auto more = static_cast<std::uint64_t>(last + 1 - next);
        next = last + 1;
        if (handled_.fetch_add(more) + more == events_) done_.set(true);
    }
    bool wait() { return done_.wait(); }
    std::uint64_t batches() const { return batches_; }

private:
    const std::uint64_t events_;
    std::vector<std::int64_t> next_;  // by partition: each has one handler at a time
    std::atomic<std::uint64_t> handled_{0};
    std::atomic<std::uint64_t> batches_{0};
    Promise<bool> all_open_;
    Promise<bool> done_;
    Mutex mutex_;
    std::map<std::uint32_t, Partition*> waiting_ EK_GUARDED_BY(mutex_);
    bool is_going_ EK_GUARDED_BY(mutex_) = false;
};

class CountingHandler final : public PartitionHandler {
public:
    explicit CountingHandler(Count& count) : count_(count) {}

    Result<> on_opened(Partition& partition) override {
        count_.open(partition);
        return {};
    }
    Result<> on_events(Partition& partition, Events events) override {
        if (!events.empty()) count_.handle(partition.id(), events);
        return {};
    }
    void on_closed(Partition& partition, Closed) override { count_.close(partition); }

private:
    Count& count_;
};

Result<> run_count(const MemberOptions& options, const std::string& connection) {
    Count count(options.partitions, options.events);
    EK_TRY_ASSIGN(const auto processor, Processor::open(processor_options(options, connection)));
    EK_TRY(processor->start(HandlerFactory(
        [&count](std::uint32_t) { return std::make_unique<CountingHandler>(count); })));
    count.wait_until_open();
    tell("ready");
    cli::next_word();
    const SystemClock clock;
    const Instant start = clock.now();
    const double cpu_before = cpu_seconds();
    count.go();
    if (!count.wait()) return Error{ErrorCode::corrupt, "events came out of order"};
    const double seconds = seconds_of(clock.now() - start);
    tell(fmt::format("counted {} {} {} {}", seconds, cpu_seconds() - cpu_before, peak_mib(),
                     count.batches()));
    processor->stop();
    return {};
}

class LatencyMember {
public:
    explicit LatencyMember(const MemberOptions& options) : options_(options) {}

    Result<> run(const std::string& connection) {
        ProcessorOptions wanted = processor_options(options_, connection);
        wanted.start = Position::latest();  // what was stored before is no part of the load
        EK_TRY_ASSIGN(const auto processor, Processor::open(std::move(wanted)));
        EK_TRY(processor->start(BatchHandler(
            [this](Partition& partition, Events events) { return handle(partition, events); })));
        ready_.wait();
        tell("ready");
        cli::next_word();
        cli::Latencies::Buckets before{};
        latencies_.add_to(before);
        const std::uint64_t events_before = handled_;
        max_ns_ = 0;
        is_measuring_ = true;
        cli::next_word();
        measured_.wait();  // on a busy machine nothing may have arrived yet
        cli::Latencies::Buckets after{};
        latencies_.add_to(after);
        tell(fmt::format("latency {} {} {} {}", handled_.load() - events_before,
                         cli::Latencies::quantile(after, before, 0.5),
                         cli::Latencies::quantile(after, before, 0.99),
                         static_cast<double>(max_ns_.load()) / 1e6));
        processor->stop();
        return {};
    }

private:
    Result<> handle(Partition& partition, Events events) {
        const Instant now = clock_.now();
        for (const Event& event : events) {
            const Duration took = now - sent_at(event.body());
            latencies_.observe(took);
            std::int64_t max = max_ns_.load(std::memory_order_relaxed);
            while (took.count() > max && !max_ns_.compare_exchange_weak(max, took.count())) {
            }
        }
        handled_ += events.size();
        if (is_measuring_.load(std::memory_order_relaxed) && is_measuring_.exchange(false)) {
            measured_.set(true);
        }
        if (is_ready_.load(std::memory_order_relaxed)) return {};
        const Lock lock(mutex_);
        seen_.insert(partition.id());
        if (seen_.size() == options_.partitions && !is_ready_.exchange(true)) ready_.set(true);
        return {};
    }

    const MemberOptions options_;
    const SystemClock clock_;
    cli::Latencies latencies_;
    std::atomic<std::uint64_t> handled_{0};
    std::atomic<std::int64_t> max_ns_{0};
    std::atomic<bool> is_ready_{false};
    std::atomic<bool> is_measuring_{false};  // until the first batch after that
    Mutex mutex_;
    std::set<std::uint32_t> seen_ EK_GUARDED_BY(mutex_);
    Promise<bool> ready_;
    Promise<bool> measured_;
};

// Tells what it is given.
class TellingHandler final : public PartitionHandler {
public:
    explicit TellingHandler(std::uint32_t member) : member_(member) {}

    Result<> on_opened(Partition& partition) override {
        tell(fmt::format("open {} {} {} {}", member_, partition.id(), partition.epoch(), now()));
        return {};
    }
    Result<> on_events(Partition& partition, Events events) override {
        if (events.empty()) return {};
        tell(fmt::format("events {} {} {} {} {} {}", member_, partition.id(), partition.epoch(),
                         events.front().sequence_number, events.back().sequence_number, now()));
        return {};
    }
    void on_closed(Partition& partition, Closed) override {
        tell(fmt::format("close {} {} {} {}", member_, partition.id(), partition.epoch(), now()));
    }

private:
    static std::int64_t now() { return SystemClock().now().nanoseconds; }
    const std::uint32_t member_;
};

Result<> run_group(const MemberOptions& options, const std::string& connection) {
    std::map<std::uint32_t, std::unique_ptr<Processor>> members;
    while (const auto word = cli::next_word()) {
        std::uint32_t member = 0;
        if (std::sscanf(word->c_str(), "start %u", &member) == 1) {
            ProcessorOptions wanted = processor_options(options, connection);
            wanted.id = fmt::format("member-{}", member);
            EK_TRY_ASSIGN(auto processor, Processor::open(std::move(wanted)));
            EK_TRY(processor->start(HandlerFactory(
                [member](std::uint32_t) { return std::make_unique<TellingHandler>(member); })));
            members[member] = std::move(processor);
        } else if (std::sscanf(word->c_str(), "stop %u", &member) == 1) {
            members.erase(member);
        }
    }
    return {};
}

// Until the parent ends it.
Result<> run_backlog(const MemberOptions& options, const std::string& connection) {
    EK_TRY_ASSIGN(const auto client, Client::open(connection));
    bool is_ready = false;
    while (true) {
        for (std::uint32_t partition = 0; partition < options.partitions; ++partition) {
            EK_TRY_ASSIGN(const auto reader,
                          RemoteReader::open(*client, "g0", partition, Position::earliest(),
                                             {.prefetch_events = 5000}));
            std::uint64_t left = options.events;
            while (left > 0) {
                EK_TRY_ASSIGN(const auto events, reader->read(5000, std::chrono::seconds(1)));
                if (events.empty()) break;
                left -= std::min<std::uint64_t>(left, events.size());
                if (!std::exchange(is_ready, true)) tell("ready");
            }
        }
    }
}

}  // namespace

cli::ExitCode run_member_child(const MemberOptions& options) {
    cli::live_with_parent();
    const auto connection = cli::next_word();
    if (!connection) return cli::ExitCode::failed;
    set_trace_level(TraceLevel::off);
    Result<> result;
    if (options.mode == "count") result = run_count(options, *connection);
    if (options.mode == "latency") result = LatencyMember(options).run(*connection);
    if (options.mode == "group") result = run_group(options, *connection);
    if (options.mode == "backlog") result = run_backlog(options, *connection);
    if (!result.ok()) return cli::fail("a processor of the benchmark ended", result.error());
    return cli::ExitCode::done;
}

}  // namespace evenkeel::bench
