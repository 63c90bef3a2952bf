#include "checkpoint/sqlite/worker.h"

#include <algorithm>

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

Error too_late(const Database& database) {
    return {ErrorCode::unavailable,
            fmt::format("checkpoint store '{}': busy for too long; its disk is slow, or another "
                        "process holds its lock",
                        database.file())};
}

void fail_all(const std::vector<Job*>& jobs, const Error& error) {
    for (Job* job : jobs) job->fail(error);
}

}  // namespace

Result<std::unique_ptr<SqliteWorker>> SqliteWorker::open(const std::string& file,
                                                         const GroupName& group, const Clock& clock,
                                                         Instant deadline) {
    EK_TRY_ASSIGN(auto database, Database::open(file, clock, deadline));
    EK_TRY_ASSIGN(const SqliteTable table, SqliteTable::open(*database, group));
    std::unique_ptr<SqliteWorker> worker(new SqliteWorker(std::move(database), table, clock));
    EK_TRY(worker->look());
    return worker;
}

bool SqliteWorker::run(const Jobs& jobs) {
    if (const Result<> here = database_->check_file(); !here.ok()) {
        for (const auto& job : jobs) job->fail(here.error());
        return false;
    }
    std::vector<Job*> writes;
    for (const auto& job : jobs) {
        if (job->kind() == JobKind::listing) {
            run_listing(*job);
        } else {
            writes.push_back(job.get());
        }
    }
    write(std::move(writes));
    return std::exchange(others_changed_, false);
}

bool SqliteWorker::has_changed() {
    // It costs a look at shared memory, and rises with the commits of other connections only.
    database_->set_deadline(clock_.now());
    {
        Query query = database_->query("PRAGMA data_version");
        const Result<bool> row = query.next();
        if (!row.ok() || !*row) return false;
        if (query.integer(0) == data_version_seen_) return false;
        data_version_seen_ = query.integer(0);
    }
    const Result<bool> changed = look();
    return changed.ok() ? *changed : true;
}

void SqliteWorker::run_listing(Job& job) {
    const Moment at{clock_.now(), clock_.wall()};
    if (at.now >= job.deadline()) return job.fail(too_late(*database_));
    database_->set_deadline(job.deadline());
    const Result<> done = job.run(table_, at);
    if (!done.ok()) job.fail(done.error());
}

void SqliteWorker::write(std::vector<Job*> jobs) {
    if (!begin(jobs)) return;
    const Result<> written = write_all(jobs);
    database_->rollback();
    if (written.ok()) return;
    // One of them may be at fault, by its size for example: then the others must not suffer.
    const bool is_alone = jobs.size() == 1 || is_retriable(written.error());
    if (is_alone) return fail_all(jobs, written.error());
    for (Job* job : jobs) write({job});
}

// Takes the write lock for all jobs whose time is not over; false if none is left.
bool SqliteWorker::begin(std::vector<Job*>& jobs) {
    for (;;) {
        const Instant now = clock_.now();
        std::erase_if(jobs, [&](Job* job) {
            const bool is_late = now >= job->deadline();
            if (is_late) job->fail(too_late(*database_));
            return is_late;
        });
        if (jobs.empty()) return false;
        const auto first = std::ranges::min_element(jobs, {}, &Job::deadline);
        const Instant deadline = (*first)->deadline();
        database_->set_deadline(deadline);
        const Result<> begun = database_->begin();
        if (begun.ok()) return true;
        if (begun.error().code != ErrorCode::unavailable || clock_.now() < deadline) {
            fail_all(jobs, begun.error());
            return false;
        }
    }
}

Result<> SqliteWorker::write_all(const std::vector<Job*>& jobs) {
    const Moment at{clock_.now(), clock_.wall()};
    const bool is_membership = std::ranges::any_of(
        jobs, [](const Job* job) { return job->kind() == JobKind::membership_write; });
    if (is_membership) {
        EK_TRY_ASSIGN(const bool changed, look());
        others_changed_ = others_changed_ || changed;
    }
    for (Job* job : jobs) EK_TRY(job->run(table_, at));
    std::int64_t changes = changes_seen_;
    if (is_membership) {
        EK_TRY_ASSIGN(changes, table_.changes());
    }
    EK_TRY(database_->commit());
    changes_seen_ = changes;  // our own are no news
    return {};
}

Result<bool> SqliteWorker::look() {
    EK_TRY_ASSIGN(const std::int64_t changes, table_.changes());
    return std::exchange(changes_seen_, changes) != changes;
}

}  // namespace evenkeel::checkpoint
