// SQLite checkpoint stores under processes that are killed, stopped, or hold the lock.
#include "checkpoint/sqlite/store.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <signal.h>

#include "base/clock.h"
#include "base/random.h"
#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/sqlite/database.h"
#include "checkpoint/sqlite/table.h"
#include "process/store/store_protocol.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/seed.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

using namespace std::chrono_literals;
using checkpoint::Database;
using checkpoint::Query;
using checkpoint::SqliteTable;

constexpr int kills = 30;
constexpr std::uint32_t processes = 2;
// Checkpoints that the others may store while one call waits for its turn in vain.
constexpr std::int64_t written_meanwhile_max = 100;

struct StoreUnderFire : testing::Test {
    StoreUnderFire() {
        EXPECT_TRUE(database->execute("CREATE TABLE sink (part INTEGER, seq INTEGER)"));
    }
    std::unique_ptr<Process> start(int epoch, std::uint32_t index) {
        return std::make_unique<Process>(std::vector<std::string>{
            test::built_path("tests/process/store/store_target"), "sqlite:" + file,
            std::to_string(epoch), std::to_string(index * process_partitions)});
    }
    void acknowledge(const Stored& stored) {
        ++answers;
        auto& last = acknowledged.at(stored.partition);
        EXPECT_GT(stored.sequence, last) << "partition " << stored.partition << " went back";
        last = stored.sequence;
    }
    std::int64_t single(const char* sql, std::int64_t partition) {
        Query query = database->query(sql);
        query.bind(partition);
        EXPECT_TRUE(*query.next());
        return query.integer(0);
    }
    void verify() {
        database->set_deadline(clock.now() + 60s);
        Query integrity = database->query("PRAGMA integrity_check");
        ASSERT_TRUE(*integrity.next());
        ASSERT_EQ(integrity.text(0), "ok");
        const auto stored = table.checkpoints();
        ASSERT_TRUE(stored) << to_string(stored.error());
        for (const auto& checkpoint : *stored) {
            const std::uint32_t p = checkpoint.partition.value;
            EXPECT_GE(checkpoint.sequence.value, acknowledged.at(p)) << "partition " << p;
            EXPECT_GE(checkpoint.sequence.value, seen.at(p)) << "partition " << p;
            seen.at(p) = checkpoint.sequence.value;
            if (p % process_partitions < process_partitions - transacted_partitions) continue;
            // Every position has its row, once: result and position were one.
            EXPECT_EQ(single("SELECT count(*) FROM sink WHERE part = ?", p), seen[p] + 1);
            EXPECT_EQ(single("SELECT count(DISTINCT seq) FROM sink WHERE part = ?", p),
                      seen[p] + 1);
        }
    }

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() + "/progress.db";
    std::unique_ptr<Database> database = *Database::open(file, clock, clock.now() + 60s);
    SqliteTable table = *SqliteTable::open(*database, store_group);
    std::vector<std::int64_t> acknowledged =
        std::vector<std::int64_t>(processes * process_partitions, -1);
    std::vector<std::int64_t> seen = acknowledged;
    std::uint64_t answers = 0;
};

TEST_F(StoreUnderFire, keeps_every_answered_checkpoint_through_30_kills) {
    Random random(test::fresh_seed());
    std::vector<std::unique_ptr<Process>> running(processes);
    int epoch = 0;
    const auto drain = [&](Process& process) {
        Stored stored;
        while (process.read_output(&stored, sizeof stored)) acknowledge(stored);
    };

    for (int kill = 0; kill < kills && !HasFailure(); ++kill) {
        for (std::uint32_t i = 0; i < processes; ++i) {
            if (!running[i]) running[i] = start(++epoch, i);
        }
        // The other one goes on, and may hold the lock that the dead one had.
        const auto victim = static_cast<std::uint32_t>(random.below(processes));
        const std::uint64_t after = random.chance(1, 4) ? 1 + random.below(5) : random.below(60);
        for (std::uint64_t i = 0; i < after; ++i) {
            for (auto& process : running) {
                Stored stored;
                ASSERT_TRUE(process->read_output(&stored, sizeof stored))
                    << process->rest_of_errors();
                acknowledge(stored);
            }
        }
        running[victim]->signal(SIGKILL);
        drain(*running[victim]);
        EXPECT_FALSE(running[victim]->wait().exited);
        running[victim].reset();
        verify();
    }
    for (auto& process : running) {
        if (!process) continue;
        process->signal(SIGKILL);
        drain(*process);
        process->wait();
    }
    verify();
    std::printf("%d kills, %llu answers\n", kills, static_cast<unsigned long long>(answers));
    EXPECT_GT(answers, 300u);
}

TEST_F(StoreUnderFire, heartbeats_get_through_while_others_write_all_the_time) {
    checkpoint::BlockingClient client([&](io::Loop& loop) {
        auto store = checkpoint::SqliteStore::open(file, {"localhost", "other", "g"}, loop, {});
        EXPECT_TRUE(store) << to_string(store.error());
        return std::unique_ptr<checkpoint::Store>(std::move(*store));
    });
    std::vector<std::unique_ptr<Process>> running;
    std::vector<std::unique_ptr<io::system::WorkerThread>> readers;  // or their pipes fill up
    for (std::uint32_t i = 0; i < processes; ++i) {
        running.push_back(start(1, i));
        readers.push_back(std::make_unique<io::system::WorkerThread>("reader"));
        Stored stored;
        ASSERT_TRUE(running[i]->read_output(&stored, sizeof stored));
        readers[i]->post([process = running[i].get()] {
            Stored ignored;
            while (process->read_output(&ignored, sizeof ignored)) {
            }
        });
    }
    // What the others have written: without turns, thousands while one heartbeat waits.
    const auto progress = [&] {
        database->set_deadline(clock.now() + 60s);
        std::int64_t sum = 0;
        const auto stored = table.checkpoints();
        EXPECT_TRUE(stored) << to_string(stored.error());
        if (stored) {
            for (const auto& checkpoint : *stored) sum += checkpoint.sequence.value;
        }
        return sum;
    };
    std::vector<Duration> waits;
    int overtaken = 0;
    checkpoint::Member member{.id = "a", .incarnation = "1"};

    for (int i = 0; i < 100; ++i) {
        const std::int64_t before = progress();
        const Instant asked = clock.now();
        const auto written = client.write(member);
        waits.push_back(clock.now() - asked);
        if (written.ok()) {
            member.version = *written;
        } else {
            // A machine that is busy with other things may stop all writers for seconds: then the
            // others have written next to nothing meanwhile.
            EXPECT_EQ(written.error().code, ErrorCode::unavailable) << to_string(written.error());
            if (progress() - before > written_meanwhile_max) ++overtaken;
        }
    }
    EXPECT_EQ(overtaken, 0) << "it waited while others wrote again and again";

    for (auto& process : running) process->signal(SIGKILL);
    for (auto& reader : readers) reader->finish();
    for (auto& process : running) process->wait();
    std::ranges::sort(waits);
    const auto ms = [](Duration wait) {
        return static_cast<long long>(
            std::chrono::duration_cast<std::chrono::milliseconds>(wait).count());
    };
    std::printf("waited: half of them %lld ms, the longest %lld ms\n", ms(waits[50]),
                ms(waits[99]));
}

TEST_F(StoreUnderFire, a_stopped_lock_holder_makes_others_answer_unavailable) {
    // Which of its states it is stopped in is chance; sooner or later it holds the lock.
    checkpoint::BlockingClient client([&](io::Loop& loop) {
        auto store = checkpoint::SqliteStore::open(file, {"localhost", "other", "g"}, loop,
                                                   {.wait_max = 300ms});
        EXPECT_TRUE(store) << to_string(store.error());
        return std::unique_ptr<checkpoint::Store>(std::move(*store));
    });
    int refused = 0;
    for (int epoch = 1; epoch <= 200 && refused == 0; ++epoch) {
        const auto process = start(epoch, 0);
        Stored stored;
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(process->read_output(&stored, sizeof stored));
        process->signal(SIGSTOP);
        const Instant asked = clock.now();

        const auto written = client.write(
            checkpoint::Checkpoint{.partition = {0}, .sequence = {epoch}, .epoch = {1}});

        const Duration took = clock.now() - asked;
        EXPECT_LT(took, Duration(20s)) << "what was written may have waited for the disk";
        if (!written.ok()) {
            EXPECT_LT(took, Duration(5s)) << "this one waited for the lock only";
            EXPECT_EQ(written.error().code, ErrorCode::unavailable);
            ++refused;
        }
        process->signal(SIGKILL);
        process->wait();
        while (
            !client
                 .write(checkpoint::Checkpoint{.partition = {1}, .sequence = {epoch}, .epoch = {1}})
                 .ok()) {  // the dead leave no lock behind
        }
    }
    EXPECT_EQ(refused, 1) << "200 times it was stopped without the lock";
}

}  // namespace
}  // namespace evenkeel::fault
