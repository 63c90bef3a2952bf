// The log on real threads and real files; for the thread sanitizer above all.
#include <atomic>
#include <future>
#include <stop_token>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/metrics.h"
#include "base/random.h"
#include "base/time_point.h"
#include "commitlog/journal_replay.h"
#include "commitlog/log.h"
#include "io/system/files.h"
#include "io/system/loop.h"
#include "support/seed.h"
#include "support/temporary_directory.h"
#include "support/threads.h"

namespace evenkeel::commitlog {
namespace {

using namespace std::chrono_literals;

const LogIdentity identity{Incarnation{std::byte{3}}, PartitionId{0}};

// What event n says, so that any reader can check what it got.
std::string body_of(std::int64_t sequence) {
    return std::to_string(sequence) + std::string(static_cast<std::size_t>(sequence % 97), '.');
}

class ThreadedLog {
public:
    explicit ThreadedLog(const LogOptions& options) : options_(options) {
        EK_CHECK(create_log(files_, path(), identity).ok(), "a fresh folder");
        loop_.start();
        open();
    }
    ~ThreadedLog() {
        close();
        loop_.stop();
    }

    void open() {
        auto opened = Log::open({files_, loop_, disk_, metrics_}, path(), identity, options_);
        EK_CHECK(opened.ok(), opened.ok() ? "" : opened.error().detail.c_str());
        log_ = std::move(*opened);
    }
    void close() {
        std::promise<void> closed;
        on_loop([&](Log& log) { log.close([&] { closed.set_value(); }); });
        closed.get_future().wait();
        on_loop([&](Log&) { log_.reset(); });
    }
    // Runs on the loop and waits for it.
    template <typename F>
    void on_loop(F function) {
        io::system::run_and_wait(loop_, [&] { function(*log_); });
    }
    // Appends events [from, to) as one batch and waits until they are durable.
    Result<Appended> append(std::int64_t from, std::int64_t to) {
        std::vector<std::string> bodies;
        for (auto i = from; i < to; ++i) bodies.push_back(body_of(i));
        std::vector<NewEvent> events;
        for (const auto& body : bodies) events.push_back({{}, as_bytes(body)});
        std::promise<Result<Appended>> done;
        on_loop([&](Log& log) {
            log.append(events, [&](Result<Appended> result) { done.set_value(std::move(result)); });
        });
        return done.get_future().get();
    }
    LogMetrics& metrics() { return metrics_; }

private:
    std::string path() const { return directory_.path() + "/p"; }

    const LogOptions options_;
    test::TemporaryDirectory directory_;
    io::system::SystemFiles files_;
    io::system::LoopThread loop_{"loop/0"};
    io::system::WorkerThread disk_{"disk/0"};
    Metrics registry_;
    LogMetrics metrics_{registry_};
    std::unique_ptr<Log> log_;
};

// Reads on until the end or `events_max`, checking each event; returns how many there were.
std::int64_t read_and_check(ThreadedLog& log, Cursor& cursor, std::int64_t events_max) {
    std::int64_t count = 0;
    std::int64_t last = -1;
    const auto check = [&](const Slice& events) {
        for (const Record& record : events) {
            EXPECT_GT(record.sequence.value, last);
            last = record.sequence.value;
            EXPECT_EQ(as_text(record.body), body_of(last));
            ++count;
        }
    };
    while (count < events_max) {
        ReadStep step;
        log.on_loop([&](Log& on) { step = on.read(cursor, 2000); });
        if (std::holds_alternative<std::monostate>(step)) break;
        if (const auto* slice = std::get_if<Slice>(&step)) {
            check(*slice);
            continue;
        }
        const auto outcome = std::get<ColdRead>(step).perform();
        if (!outcome.ok()) {
            EXPECT_EQ(outcome.error().code, ErrorCode::not_found) << outcome.error().detail;
            continue;  // retention was faster; the next read begins at the first event there is
        }
        EXPECT_FALSE(outcome->damage.has_value()) << to_string(*outcome->damage);
        check(outcome->events);
        log.on_loop([&](Log& on) { on.advance(cursor, *outcome); });
    }
    return count;
}

TEST(ThreadedLog, gives_back_what_was_appended_after_a_restart) {
    ThreadedLog log({.segment_bytes_max = 4096});
    for (int i = 0; i < 200; i += 10) ASSERT_TRUE(log.append(i, i + 10).ok());

    log.close();
    log.open();

    Cursor cursor;
    log.on_loop([&](Log& on) { cursor = *on.seek(Position::earliest()); });
    EXPECT_EQ(read_and_check(log, cursor, 1'000'000), 200);
}

TEST(ThreadedLog, shares_syncs_among_concurrent_writers) {
    ThreadedLog log({});
    constexpr int writers = 16;
    constexpr int events = 20;
    test::Threads threads;
    for (int i = 0; i < writers; ++i) {
        threads.start([&] {
            // All say the same, since nobody knows which number it will get.
            for (int j = 0; j < events; ++j) {
                std::promise<bool> done;
                const NewEvent event{{}, as_bytes("x")};
                log.on_loop([&](Log& on) {
                    on.append({&event, 1},
                              [&](const Result<Appended>& result) { done.set_value(result.ok()); });
                });
                EXPECT_TRUE(done.get_future().get());
            }
        });
    }
    threads.join();

    EXPECT_EQ(log.metrics().events.value(), writers * events);
    EXPECT_LT(log.metrics().syncs.value(), writers * events);
}

TEST(ThreadedLog, retention_rolling_and_readers_run_at_the_same_time) {
    ThreadedLog log({.segment_bytes_max = 2048, .index_distance = 256, .tail_bytes_max = 4096});
    constexpr std::int64_t events = 4000;
    constexpr int readers = 4;
    ASSERT_TRUE(log.append(0, 10).ok());
    std::atomic<std::int64_t> total = 0;
    test::Threads threads;
    for (int i = 0; i < readers; ++i) {
        threads.start([&, seed = test::fresh_seed()](const std::stop_token& stop) {
            Random random(seed);
            while (!stop.stop_requested()) {
                Cursor cursor;
                log.on_loop([&](Log& on) {
                    const auto properties = on.properties();
                    const auto sequence = random.between(properties.begin_sequence.value,
                                                         properties.last_sequence.value);
                    switch (random.below(3)) {
                        case 0: cursor = *on.seek(Position::at_sequence(sequence)); break;
                        case 1: cursor = *on.seek(Position::earliest()); break;
                        default:
                            cursor = *on.seek(Position::at_time(time_point(
                                {properties.last_enqueued.milliseconds - random.between(0, 20)})));
                            break;
                    }
                });
                total += read_and_check(log, cursor, 100);
            }
        });
    }

    for (std::int64_t i = 10; i < events; i += 10) {
        ASSERT_TRUE(log.append(i, i + 10).ok());
        if (i % 30 == 0) {
            log.on_loop(
                [](Log& on) { on.retain({.age_max = {}, .bytes_max = 12'000}, WallTime{0}); });
        }
        if (i % 700 == 0) {
            log.on_loop([&](Log& on) { on.purge({i - 3}, [](const Result<>&) {}); });
        }
    }
    threads.join();

    EXPECT_GT(total.load(), 0);
    log.on_loop([&](Log& on) {
        EXPECT_EQ(on.properties().last_sequence.value, events - 1);
        EXPECT_GT(on.properties().begin_sequence.value, 0);
        for (const auto& damage : on.damages()) ADD_FAILURE() << to_string(damage);
    });
}

// Partitions that share a journal whose files are small, so that they grow and are used again while
// events come.
class ThreadedJournal {
public:
    static constexpr std::uint32_t partitions = 4;

    ThreadedJournal() {
        EK_CHECK(files_.make_directory(path("journal")).ok(), "a fresh folder");
        for (std::uint32_t i = 0; i < partitions; ++i) {
            EK_CHECK(create_log(files_, path(folder(i)), identity_of(i)).ok(), "a fresh folder");
        }
        loop_.start();
    }
    ~ThreadedJournal() { loop_.stop(); }

    Result<Replayed> open() {
        EK_TRY_ASSIGN(auto replayed,
                      replay_journals(files_, path("journal"), [this](const LogIdentity& who) {
                          return std::optional(path(folder(who.partition.value)));
                      }));
        JournalOptions options;
        options.directory = path("journal");
        options.name = "0";
        options.nonce.fill(std::byte{7});
        options.file_bytes_max = 16384;
        options.growth_bytes = 4096;
        journal_ = std::make_shared<Journal>(
            JournalContext{files_, disk_, background_, clock_, metrics_}, options);
        for (std::uint32_t i = 0; i < partitions; ++i) {
            auto opened = Log::open({files_, loop_, disk_, metrics_, journal_.get()},
                                    path(folder(i)), identity_of(i), {.tail_bytes_max = 0});
            if (!opened.ok()) return opened.error();
            logs_.push_back(std::move(*opened));
        }
        return replayed;
    }
    // The journal is left as it is where it is not closed.
    void close(bool with_journal) {
        for (auto& log : logs_) {
            std::promise<void> closed;
            loop_.post([&] { log->close([&] { closed.set_value(); }); });
            closed.get_future().wait();
            io::system::run_and_wait(loop_, [&] { log.reset(); });
        }
        logs_.clear();
        if (with_journal) {
            std::promise<bool> closed;
            disk_.post([&] {
                journal_->close([&](const Result<>& result) { closed.set_value(result.ok()); });
            });
            EXPECT_TRUE(closed.get_future().get());
        } else {
            settle();
        }
        journal_.reset();
    }
    Result<Appended> append(std::uint32_t partition, const std::string& body) {
        std::promise<Result<Appended>> done;
        const NewEvent event{{}, as_bytes(body)};
        loop_.post([&] {
            logs_[partition]->append(
                {&event, 1}, [&](Result<Appended> result) { done.set_value(std::move(result)); });
        });
        return done.get_future().get();
    }
    // The highest generation of its files: how often one was begun.
    std::uint64_t generation() {
        std::uint64_t highest = 0;
        for (const char* name : {"0a", "0b"}) {
            const auto content =
                read_journal(files_, path("journal/") + name + journal_suffix, 16384);
            if (content.ok() && content->header) {
                highest = std::max(highest, content->header->generation);
            }
        }
        return highest;
    }
    std::vector<std::string> bodies(std::uint32_t partition) {
        std::vector<std::string> all;
        io::system::run_and_wait(loop_, [&] {
            auto cursor = *logs_[partition]->seek(Position::earliest());
            while (true) {
                auto step = logs_[partition]->read(cursor, 4096);
                if (std::holds_alternative<std::monostate>(step)) return;
                if (const auto* slice = std::get_if<Slice>(&step)) {
                    for (const auto& record : *slice) all.emplace_back(as_text(record.body));
                    continue;
                }
                const auto outcome = std::get<ColdRead>(step).perform();
                ASSERT_TRUE(outcome.ok() && !outcome->damage);
                for (const auto& record : outcome->events) all.emplace_back(as_text(record.body));
                logs_[partition]->advance(cursor, *outcome);
            }
        });
        return all;
    }

private:
    static std::string folder(std::uint32_t partition) { return fmt::format("p{}", partition); }
    static LogIdentity identity_of(std::uint32_t partition) {
        return {Incarnation{std::byte{3}}, PartitionId{partition}};
    }
    std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
    // Until nothing is under way in the background, which ends with a task on the disk thread.
    void settle() {
        for (int i = 0; i < 10; ++i) {
            for (auto* executor : {&background_, &disk_}) {
                std::promise<void> idle;
                executor->post([&] { idle.set_value(); });
                idle.get_future().wait();
            }
        }
    }

    test::TemporaryDirectory directory_;
    io::system::SystemFiles files_;
    const SystemClock clock_;
    io::system::LoopThread loop_{"loop/0"};
    Metrics registry_;
    LogMetrics metrics_{registry_};
    io::system::WorkerThread background_{"background"};
    io::system::WorkerThread disk_{"disk/0"};
    std::shared_ptr<Journal> journal_;
    std::vector<std::unique_ptr<Log>> logs_;
};

TEST(ThreadedJournal, grows_and_is_used_again_while_events_come) {
    constexpr int events = 250;  // of each producer: several times what both files hold
    constexpr std::uint32_t producers = 8;
    ThreadedJournal world;
    ASSERT_TRUE(world.open().ok());
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < producers; ++i) {
        threads.emplace_back([&world, i] {
            for (int n = 0; n < events; ++n) {
                const auto partition = i % ThreadedJournal::partitions;
                const auto result = world.append(partition, fmt::format("{} {}", i, n));
                EXPECT_TRUE(result.ok()) << result.error().detail;
            }
        });
    }
    threads.clear();
    EXPECT_GT(world.generation(), 2u);

    for (const bool with_journal : {false, true}) {
        world.close(with_journal);
        const auto replayed = world.open();
        ASSERT_TRUE(replayed.ok()) << replayed.error().detail;
        EXPECT_EQ(replayed->entries > 0, !with_journal);
        for (std::uint32_t p = 0; p < ThreadedJournal::partitions; ++p) {
            std::vector<int> next(producers);
            for (const auto& body : world.bodies(p)) {
                const auto space = body.find(' ');
                int& expected = next[std::stoul(body.substr(0, space))];
                EXPECT_EQ(std::stoi(body.substr(space)), expected++);
            }
            EXPECT_EQ(next[p], events);
            EXPECT_EQ(next[p + ThreadedJournal::partitions], events);
        }
    }
    world.close(true);
}

}  // namespace
}  // namespace evenkeel::commitlog
