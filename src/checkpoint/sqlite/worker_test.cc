#include "checkpoint/sqlite/worker.h"

#include <chrono>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct SqliteWorkerFile : testing::Test {
    std::unique_ptr<SqliteWorker> a_worker() {
        auto worker = SqliteWorker::open(directory.path() + "/a.db", {"localhost", "homes", "g"},
                                         clock, clock.now() + 60s);
        EXPECT_TRUE(worker) << to_string(worker.error());
        return std::move(*worker);
    }
    // Notes how it ended in `outcome`.
    template <typename Operation>
    std::unique_ptr<Job> a_job(JobKind kind, Duration wait, std::string& outcome,
                               Operation operation) {
        return std::make_unique<JobOf<void, Operation>>(
            kind, clock.now() + wait, operation, [&outcome](Result<> result) {
                outcome = result.ok() ? "ok" : to_string(result.error().code);
            });
    }
    std::unique_ptr<Job> a_checkpoint(std::int64_t sequence, Duration wait, std::string& outcome) {
        return a_job(JobKind::write, wait, outcome, [sequence](SqliteTable& table, Moment at) {
            return table.write_checkpoint({.partition = {0}, .sequence = {sequence}}, at);
        });
    }
    static void answer(const Jobs& jobs) {
        for (const auto& job : jobs) job->answer();
    }

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
};

TEST_F(SqliteWorkerFile, a_job_at_fault_does_not_spoil_those_that_came_with_it) {
    const auto worker = a_worker();
    std::string before, faulty, after;
    Jobs jobs;
    jobs.push_back(a_checkpoint(1, 60s, before));
    jobs.push_back(a_job(JobKind::write, 60s, faulty, [](SqliteTable&, Moment) -> Result<> {
        return Error{ErrorCode::invalid_argument, "too big"};
    }));
    jobs.push_back(a_checkpoint(2, 60s, after));

    worker->run(jobs);
    answer(jobs);

    EXPECT_EQ(before, "ok");
    EXPECT_EQ(faulty, "invalid_argument");
    EXPECT_EQ(after, "ok");
}

TEST_F(SqliteWorkerFile, each_job_waits_for_a_lock_for_its_own_time) {
    const auto worker = a_worker();
    auto holder = Database::open(directory.path() + "/a.db", clock, clock.now() + 60s);
    ASSERT_TRUE(holder && (*holder)->begin());
    std::string late, short_wait, longer_wait, listing;
    Jobs jobs;
    jobs.push_back(a_checkpoint(1, -1ms, late));
    jobs.push_back(a_checkpoint(2, 20ms, short_wait));
    jobs.push_back(a_checkpoint(3, 80ms, longer_wait));
    jobs.push_back(
        a_job(JobKind::listing, 60s, listing, [](SqliteTable& table, Moment) -> Result<> {
            EK_TRY(table.checkpoints());
            return {};
        }));
    const Instant asked = clock.now();

    worker->run(jobs);
    answer(jobs);

    EXPECT_EQ(late, "unavailable");
    EXPECT_EQ(short_wait, "unavailable");
    EXPECT_EQ(longer_wait, "unavailable");
    EXPECT_EQ(listing, "ok") << "readers need no lock";
    EXPECT_GE(clock.now() - asked, Duration(75ms));
}

TEST_F(SqliteWorkerFile, changes_of_others_are_told_once_and_own_ones_never) {
    const auto a = a_worker();
    const auto b = a_worker();
    std::string outcome;
    const auto claim = [&](std::uint32_t partition) {
        Jobs jobs;
        jobs.push_back(a_job(JobKind::membership_write, 60s, outcome,
                             [partition](SqliteTable& table, Moment at) -> Result<> {
                                 EK_TRY(table.write_ownership(
                                     {.partition = {partition}, .owner = "x", .epoch = {1}}, at));
                                 return {};
                             }));
        return jobs;
    };
    const auto progress = [&] {
        Jobs jobs;
        jobs.push_back(a_checkpoint(1, 60s, outcome));
        return jobs;
    };

    (void)b->has_changed();
    EXPECT_FALSE(a->run(claim(0)));
    EXPECT_FALSE(a->has_changed());
    EXPECT_TRUE(b->has_changed());
    EXPECT_FALSE(b->has_changed());
    EXPECT_FALSE(a->run(progress()));
    EXPECT_FALSE(b->has_changed()) << "checkpoints are nobody's news";
    EXPECT_FALSE(a->run(claim(1)));
    EXPECT_TRUE(b->run(claim(2))) << "seen on the way";
    EXPECT_FALSE(b->has_changed());
    EXPECT_TRUE(a->has_changed());
}

TEST_F(SqliteWorkerFile, a_stopped_worker_does_not_wait) {
    const auto worker = a_worker();
    auto holder = Database::open(directory.path() + "/a.db", clock, clock.now() + 60s);
    ASSERT_TRUE(holder && (*holder)->begin());
    std::string outcome;
    Jobs jobs;
    jobs.push_back(a_checkpoint(1, 1h, outcome));

    worker->stop();
    worker->run(jobs);
    answer(jobs);

    EXPECT_EQ(outcome, "unavailable");
}

}  // namespace
}  // namespace evenkeel::checkpoint
