// What the SQLite store does on its own thread: takes a batch of jobs, runs the listings, then all
// writes in one transaction, so that many of them share one sync.
// Threads: one at a time; stop() any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/sqlite/table.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

enum class JobKind : std::uint8_t { listing, write, membership_write };

// One call of the store: made and answered on the loop, run on the worker.
class Job {
public:
    Job(JobKind kind, Instant deadline) : kind_(kind), deadline_(deadline) {}
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    JobKind kind() const { return kind_; }
    Instant deadline() const { return deadline_; }

    // An error: the database failed, and the transaction must not go on.
    virtual Result<> run(SqliteTable& table, Moment at) = 0;
    virtual void fail(const Error& error) = 0;
    virtual void answer() = 0;

private:
    const JobKind kind_;
    const Instant deadline_;
};

using Jobs = std::vector<std::unique_ptr<Job>>;

// `Operation` is Result<T>(SqliteTable&, Moment); it may run more than once.
template <typename T, typename Operation>
class JobOf final : public Job {
public:
    JobOf(JobKind kind, Instant deadline, Operation operation, Store::Answer<T> done)
        : Job(kind, deadline), operation_(std::move(operation)), done_(std::move(done)) {}

    Result<> run(SqliteTable& table, Moment at) override {
        result_.emplace(operation_(table, at));
        if (result_->ok()) return {};
        const Error& error = result_->error();
        if (error.code == ErrorCode::conflict || error.code == ErrorCode::fenced) return {};
        return error;
    }
    void fail(const Error& error) override { result_.emplace(error); }
    void answer() override { done_(std::move(*result_)); }

private:
    Operation operation_;
    Store::Answer<T> done_;
    std::optional<Result<T>> result_;
};

class SqliteWorker {
public:
    using Call = Job;

    // Blocks until `deadline`. `clock` outlives it.
    static Result<std::unique_ptr<SqliteWorker>> open(const std::string& file,
                                                      const GroupName& group, const Clock& clock,
                                                      Instant deadline);

    // Every job has its answer after this, and success is durable. True if another process has
    // changed members or ownerships since this was last said.
    bool run(const Jobs& jobs);
    // The same question, without jobs.
    bool has_changed();
    // Ends waiting for locks; jobs fail from now on.
    void stop() { database_->stop(); }

private:
    SqliteWorker(std::unique_ptr<Database> database, const SqliteTable& table, const Clock& clock)
        : database_(std::move(database)), table_(table), clock_(clock) {}
    void run_listing(Job& job);
    void write(std::vector<Job*> jobs);
    bool begin(std::vector<Job*>& jobs);
    Result<> write_all(const std::vector<Job*>& jobs);
    // Whether others have changed something; the present count is what we have seen, from now on.
    Result<bool> look();

    std::unique_ptr<Database> database_;
    SqliteTable table_;
    const Clock& clock_;
    std::int64_t changes_seen_ = 0;
    std::int64_t data_version_seen_ = 0;
    bool others_changed_ = false;
};

}  // namespace evenkeel::checkpoint
