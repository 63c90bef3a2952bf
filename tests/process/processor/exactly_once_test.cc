// Exactly once into SQLite: what the handler writes, the position and the fence commit as one.
#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/hub_process.h"
#include "process/processor/history.h"
#include "support/seed.h"
#include "support/temporary_directory.h"
#include <evenkeel/processor.h>
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

// Appends to the sink: without a key, so that a repeated event shows.
Result<> write_events(sqlite3* sink, std::uint32_t partition, Events events) {
    for (const auto& event : events) {
        const std::string text = "INSERT INTO sink VALUES(" + std::to_string(partition) + "," +
                                 std::to_string(event.sequence_number) + ")";
        if (sqlite3_exec(sink, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            return Error{ErrorCode::handler_failed, sqlite3_errmsg(sink)};
        }
    }
    return {};
}

class Sink {
public:
    explicit Sink(const std::string& path) {
        EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
        sqlite3_busy_timeout(database_, 10'000);
    }
    ~Sink() { sqlite3_close(database_); }
    void create() { execute("CREATE TABLE sink(partition INTEGER, sequence INTEGER)"); }
    std::int64_t number(const std::string& query) {
        std::int64_t value = -1;
        EXPECT_EQ(sqlite3_exec(
                      database_, query.c_str(),
                      [](void* to, int, char** columns, char**) {
                          *static_cast<std::int64_t*>(to) = columns[0] ? std::atoll(columns[0]) : 0;
                          return 0;
                      },
                      &value, nullptr),
                  SQLITE_OK)
            << sqlite3_errmsg(database_);
        return value;
    }

private:
    void execute(const char* text) {
        EXPECT_EQ(sqlite3_exec(database_, text, nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(database_);
    }
    sqlite3* database_ = nullptr;
};

TEST(ExactlyOnce, gives_a_sink_that_equals_the_log_whatever_fails) {
    constexpr std::uint32_t partitions = 3;
    constexpr int events = 400;
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", partitions).ok());
    const std::string path = folder.path() + "/progress.db";
    Sink sink(path);
    sink.create();
    auto producer = Producer::open(hub.connection_string("homes")).value();
    for (std::uint32_t p = 0; p < partitions; ++p) {
        auto batch = producer->make_batch({.partition = p}).value();
        for (int i = 0; i < events; ++i) ASSERT_TRUE(batch.try_add("event"));
        ASSERT_TRUE(producer->send(batch).ok());
    }
    Mutex mutex;
    Random random(fresh_seed());
    const auto chance = [&](std::uint64_t one_in) {
        const Lock lock(mutex);
        return random.chance(1, one_in);
    };
    std::atomic<int> failures = 0;
    ProcessorOptions options;
    options.hub = hub.connection_string("homes");
    options.store = "sqlite:" + path;
    options.delivery = Delivery::exactly_once;
    options.batch_events_max = 16;
    options.profile = Profile::fast;
    options.retry = {.attempts_max = 1000, .delay = std::chrono::milliseconds(1)};
    options.on_error = [](const Failure&) {};
    const BatchHandler handler = [&](Partition& partition, Events batch) -> Result<> {
        EK_TRY(write_events(partition.sqlite(), partition.id(), batch));
        if (!chance(6)) return {};
        ++failures;                     // after it has written
        partition.done(batch.front());  // undone with the rest
        if (chance(2)) throw std::runtime_error("broken");
        return Error{ErrorCode::handler_failed, "not this time"};
    };

    // Several owners one after another; each is stopped somewhere in the middle.
    const SystemClock clock;
    const Instant end = clock.now() + std::chrono::seconds(180);
    const std::string count = "SELECT count(*) FROM sink";
    for (int round = 0; round < 3; ++round) {
        options.id = "owner-" + std::to_string(round);
        auto processor = Processor::open(options).value();
        ASSERT_TRUE(processor->start(handler).ok());
        const std::int64_t enough = round == 2 ? partitions * events : (round + 1) * 300;
        while (sink.number(count) < enough && clock.now() < end) std::this_thread::yield();
        EXPECT_TRUE(processor->stop().is_clean);
    }

    EXPECT_GT(failures, 3);
    EXPECT_EQ(sink.number(count), partitions * events);
    EXPECT_EQ(sink.number("SELECT count(*) FROM (SELECT DISTINCT * FROM sink)"),
              partitions * events);
    EXPECT_EQ(sink.number("SELECT count(*) FROM sink a JOIN sink b ON a.partition = b.partition "
                          "AND a.rowid < b.rowid AND a.sequence >= b.sequence"),
              0)
        << "the sink's order is the log's";
}

TEST(ExactlyOnce, is_refused_by_a_store_without_transactions) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    ProcessorOptions options;
    options.hub = hub.connection_string("homes");
    options.store = "memory:";
    options.delivery = Delivery::exactly_once;

    const auto refused = Processor::open(options);

    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::test
