// A log on a simulated disk in virtual time, for the tests beside it: each call runs the world
// until nothing is left to do, so that tests read as a list of steps.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "commitlog/log.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::commitlog {

// Room for four events of 64 bytes.
inline constexpr LogOptions short_segments{.segment_bytes_max = 256};

inline const LogIdentity test_identity{Incarnation{std::byte{7}, std::byte{9}}, PartitionId{3}};
inline const std::string test_directory = "p3";

// Events of text, and the views that append() takes.
class Batch {
public:
    Batch() = default;
    explicit Batch(std::vector<std::string> bodies) : bodies_(std::move(bodies)) {
        for (const auto& body : bodies_) events_.push_back({{}, as_bytes(body)});
    }
    const std::vector<NewEvent>& events() const { return events_; }

private:
    std::vector<std::string> bodies_;
    std::vector<NewEvent> events_;
};

// One event as a test wants to see it.
struct Seen {
    std::int64_t sequence = -1;
    std::int64_t offset = -1;
    std::int64_t enqueued = 0;
    std::string key;
    std::string body;
};

inline Seen seen(const Record& record) {
    return {record.sequence.value, record.offset.value, record.enqueued.milliseconds,
            std::string(as_text(record.key)), std::string(as_text(record.body))};
}

// What reading from a position to the end gave.
struct Read {
    std::vector<Seen> events;
    std::vector<Damage> damages;
    std::size_t cold_reads = 0;
    std::optional<Error> error;

    std::vector<std::string> bodies() const {
        std::vector<std::string> all;
        for (const auto& event : events) all.push_back(event.body);
        return all;
    }
    std::vector<std::int64_t> sequences() const {
        std::vector<std::int64_t> all;
        for (const auto& event : events) all.push_back(event.sequence);
        return all;
    }
};

class LogFixture {
public:
    explicit LogFixture(LogOptions log_options = {}) : options(log_options) {
        EK_CHECK(create_log(*disk, test_directory, test_identity).ok(), "a fresh folder");
        EK_CHECK(disk->sync_directory("").ok(), "the folder's name is the hub's to sync");
        open();
    }
    ~LogFixture() { log.reset(); }

    void open() {
        auto opened = try_open();
        EK_CHECK(opened.ok(), opened.ok() ? "" : opened.error().detail.c_str());
        log = std::move(*opened);
    }
    Result<std::unique_ptr<Log>> try_open() {
        return Log::open({*disk, loop, disk_thread, metrics}, test_directory, test_identity,
                         options);
    }
    void close() {
        bool closed = false;
        log->close([&] { closed = true; });
        run();
        EK_CHECK(closed, "close() ends");
        log.reset();
    }
    void reopen() {
        close();
        open();
    }
    // The process is killed: nothing of it runs any more, the page cache stays.
    void kill_and_reopen() {
        log.reset();
        run();
        disk = disk->kill();
        open();
    }
    void run() { EK_CHECK(scheduler.run_until_idle(), "the world comes to rest"); }

    // Starts an append; the outcome is at the returned place once run() has ended.
    std::shared_ptr<std::optional<Result<Appended>>> start_append(const Batch& batch) {
        auto outcome = std::make_shared<std::optional<Result<Appended>>>();
        log->append(batch.events(), [outcome](Result<Appended> result) {
            EK_CHECK(!outcome->has_value(), "append() answers once");
            outcome->emplace(std::move(result));
        });
        return outcome;
    }
    Result<Appended> append(std::vector<std::string> bodies) {
        const auto outcome = start_append(Batch(std::move(bodies)));
        run();
        EK_CHECK(outcome->has_value(), "append() answers");
        return **outcome;
    }
    // One event a batch: "0", "1" and so on.
    void append_numbers(int from, int to) {
        for (int i = from; i < to; ++i) {
            EK_CHECK(append({std::to_string(i)}).ok(), "the disk takes it");
        }
    }

    // All there is from the position on, without waiting.
    Read read(const Position& position, std::size_t bytes_max = 256) {
        Read result;
        auto cursor = log->seek(position);
        if (!cursor.ok()) {
            result.error = cursor.error();
            return result;
        }
        read_on(*cursor, result, bytes_max);
        return result;
    }
    void read_on(Cursor& cursor, Read& result, std::size_t bytes_max = 256) {
        while (true) {
            ReadStep step = log->read(cursor, bytes_max);
            if (std::holds_alternative<std::monostate>(step)) return;
            if (auto* slice = std::get_if<Slice>(&step)) {
                for (const Record& record : *slice) result.events.push_back(seen(record));
                continue;
            }
            const auto outcome = std::get<ColdRead>(step).perform();
            ++result.cold_reads;
            if (!outcome.ok()) {
                result.error = outcome.error();
                return;
            }
            for (const Record& record : outcome->events) result.events.push_back(seen(record));
            if (outcome->damage) result.damages.push_back(*outcome->damage);
            log->advance(cursor, *outcome);
        }
    }
    Read read_all() { return read(Position::earliest()); }

    Result<> purge(std::int64_t first_kept) {
        std::optional<Result<>> outcome;
        log->purge(SequenceNumber{first_kept}, [&](Result<> result) { outcome = result; });
        run();
        EK_CHECK(outcome.has_value(), "purge() answers");
        return *outcome;
    }
    void retain(const RetentionPolicy& policy, WallTime now) {
        log->retain(policy, now);
        run();
    }
    std::size_t segment_files() const {
        std::size_t count = 0;
        for (const auto& file : disk->files()) count += file.ends_with(".log");
        return count;
    }

    LogOptions options;
    std::unique_ptr<io::sim::Disk> disk = std::make_unique<io::sim::Disk>();
    io::sim::Scheduler scheduler{test::test_seed()};
    io::sim::SimLoop loop{scheduler, "loop/0"};
    io::sim::SimExecutor disk_thread{scheduler, "disk/0"};
    Metrics registry;
    LogMetrics metrics{registry};
    std::unique_ptr<Log> log;
};

inline std::vector<std::string> numbers(int from, int to) {
    std::vector<std::string> all;
    for (int i = from; i < to; ++i) all.push_back(std::to_string(i));
    return all;
}

}  // namespace evenkeel::commitlog
