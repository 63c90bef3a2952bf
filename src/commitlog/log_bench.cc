// How fast one core encodes, appends and reads again. Each benchmark checks what it did, and counts
// allocations per event: none of these paths may allocate for each one.
#include <atomic>
#include <cstdlib>
#include <deque>
#include <new>

#include <benchmark/benchmark.h>

#include "base/metrics.h"
#include "commitlog/log.h"
#include "io/system/files.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

// Not inlined: GCC would take malloc() and free() apart and warn that they do not match.
[[gnu::noinline]] void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size)) return memory;
    std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace evenkeel::commitlog {
namespace {

constexpr std::size_t event_bytes = 100;
constexpr std::size_t batch_events = 256;
constexpr std::size_t read_bytes = std::size_t{256} << 10;
const LogIdentity identity{Incarnation{std::byte{5}}, PartitionId{0}};

// Loop and disk on the calling thread, so that one core's work is measured and nothing else.
class InlineLoop final : public io::Loop {
public:
    void post(Task task) override { tasks_.push_back(std::move(task)); }
    const Clock& clock() const override { return clock_; }
    io::TimerId run_at(Instant, Task) override { return {}; }
    void cancel(io::TimerId) override {}
    bool is_here() const override { return true; }
    void run() {
        while (!tasks_.empty()) {
            Task task = std::move(tasks_.front());
            tasks_.pop_front();
            task();
        }
    }

private:
    SystemClock clock_;
    std::deque<Task> tasks_;
};

// A log in a temporary folder (TMPDIR), in the page cache only.
class BenchLog {
public:
    BenchLog() {
        const char* base = std::getenv("TMPDIR");
        directory_ = std::string(base ? base : "/tmp") + "/evenkeel-bench-XXXXXX";
        EK_CHECK(mkdtemp(directory_.data()) != nullptr, "TMPDIR is writable");
        EK_CHECK(create_log(files_, path(), identity).ok(), "the folder is fresh");
        open();
    }
    ~BenchLog() {
        close();
        EK_CHECK(io::remove_tree(files_, directory_).ok(), "the folder is ours");
    }

    void open() {
        LogOptions options;
        options.durability = Durability::os;
        auto opened = Log::open({files_, loop, loop, metrics_}, path(), identity, options);
        EK_CHECK(opened.ok(), "what was just created can be opened");
        log = std::move(*opened);
    }
    void close() {
        log->close([] {});
        loop.run();
        log.reset();
    }
    std::uint64_t append_batches(std::uint64_t batches) {
        const std::vector<std::byte> body(event_bytes, std::byte{'x'});
        const std::vector<NewEvent> events(batch_events, NewEvent{{}, body});
        std::uint64_t stored = 0;
        for (std::uint64_t i = 0; i < batches; ++i) {
            log->append(events, [&](const Result<Appended>& result) {
                EK_CHECK(result.ok(), "the disk has room");
                stored += batch_events;
            });
            loop.run();
        }
        return stored;
    }

    InlineLoop loop;
    std::unique_ptr<Log> log;

private:
    std::string path() const { return directory_ + "/p"; }

    std::string directory_;
    io::system::SystemFiles files_;
    Metrics registry_;
    LogMetrics metrics_{registry_};
};

void report(benchmark::State& state, std::uint64_t events, std::uint64_t allocated) {
    state.SetItemsProcessed(static_cast<std::int64_t>(events));
    const double each = static_cast<double>(allocated) / static_cast<double>(events);
    state.counters["allocations_per_event"] = each;
    if (each >= 0.02)
        state.SkipWithError(("allocates for each event: " + std::to_string(each)).c_str());
}

void encode_records(benchmark::State& state) {
    const std::vector<std::byte> body(event_bytes, std::byte{'x'});
    std::vector<std::byte> to(batch_events * stored_bytes(0, event_bytes));
    std::uint64_t events = 0;
    const auto before = allocations.load();
    for (auto _ : state) {
        Record record{{0}, {0}, {1}, 0, 0, {0}, {}, body};
        for (std::size_t at = 0; at < to.size(); at += stored_bytes(record)) {
            record.offset = {static_cast<std::int64_t>(at)};
            encode(record, identity.seed(), to.data() + at);
        }
        events += batch_events;
        benchmark::DoNotOptimize(to.data());
    }
    report(state, events, allocations.load() - before);
    EK_CHECK(decode(to, {0}, identity.seed()).has_value(), "what was encoded can be decoded");
}
BENCHMARK(encode_records);

void append_to_page_cache(benchmark::State& state) {
    BenchLog bench;
    std::uint64_t events = 0;
    std::uint64_t allocated = 0;
    for (auto _ : state) {
        const auto before = allocations.load();
        events += bench.append_batches(64);
        allocated += allocations.load() - before;
        // Removing old segments is part of the job, as it is in a running hub.
        bench.log->retain({.age_max = {}, .bytes_max = std::uint64_t{512} << 20}, WallTime{0});
        bench.loop.run();
    }
    report(state, events, allocated);
    const auto last = bench.log->properties().last_sequence.value;
    EK_CHECK(last + 1 == static_cast<std::int64_t>(events), "every event has its number");
}
BENCHMARK(append_to_page_cache);

void read_again(benchmark::State& state) {
    BenchLog bench;
    const std::uint64_t stored = bench.append_batches(5000);  // 200 MiB
    bench.close();
    bench.open();  // so that nothing is in memory
    std::uint64_t events = 0;
    const auto before = allocations.load();
    for (auto _ : state) {
        auto cursor = *bench.log->seek(Position::earliest());
        std::uint64_t count = 0;
        std::int64_t bytes = 0;
        const auto take = [&](const Slice& slice) {
            for (const Record& record : slice) {
                ++count;
                bytes += static_cast<std::int64_t>(record.body.size());
            }
        };
        while (true) {
            ReadStep step = bench.log->read(cursor, read_bytes);
            if (std::holds_alternative<std::monostate>(step)) break;
            if (const auto* slice = std::get_if<Slice>(&step)) {
                take(*slice);
                continue;
            }
            const auto outcome = std::get<ColdRead>(step).perform();
            EK_CHECK(outcome.ok() && !outcome->damage, "all of it is good");
            take(outcome->events);
            bench.log->advance(cursor, *outcome);
        }
        EK_CHECK(count == stored, "every event is read once");
        benchmark::DoNotOptimize(bytes);
        events += count;
    }
    report(state, events, allocations.load() - before);
}
BENCHMARK(read_again)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace evenkeel::commitlog
