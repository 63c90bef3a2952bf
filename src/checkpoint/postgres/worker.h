// What the PostgreSQL store does on its own thread: sends a batch of calls in one exchange, each
// its own transaction; checkpoints that follow each other travel as one. Connects again, with
// pauses that grow, when the connection was lost.
// Threads: one at a time; stop() any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/postgres/connection.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

// One call of the store: made and answered on the loop, run on the worker.
class PostgresCall {
public:
    explicit PostgresCall(Instant deadline) : deadline_(deadline) {}
    virtual ~PostgresCall() = default;
    PostgresCall(const PostgresCall&) = delete;
    PostgresCall& operator=(const PostgresCall&) = delete;

    // It is not sent after that.
    Instant deadline() const { return deadline_; }
    virtual PostgresCommand command(std::int64_t group) = 0;
    virtual void finish(const PostgresRows& rows) = 0;
    virtual void fail(const Error& error) = 0;
    virtual void answer() = 0;
    // For a write of a checkpoint, which travels with others: what to write, and its result.
    virtual const Checkpoint* checkpoint() const { return nullptr; }
    virtual void finish_checkpoint(const Result<>&) {}

private:
    const Instant deadline_;
};

// `Make` is PostgresCommand(std::int64_t group), `Read` is Result<T>(const PostgresRows&).
template <typename T, typename Make, typename Read>
class PostgresCallOf final : public PostgresCall {
public:
    PostgresCallOf(Instant deadline, Make make, Read read, Store::Answer<T> done)
        : PostgresCall(deadline),
          make_(std::move(make)),
          read_(std::move(read)),
          done_(std::move(done)) {}
    PostgresCommand command(std::int64_t group) override { return make_(group); }
    void finish(const PostgresRows& rows) override { result_.emplace(read_(rows)); }
    void fail(const Error& error) override { result_.emplace(error); }
    void answer() override { done_(std::move(*result_)); }

private:
    Make make_;
    Read read_;
    Store::Answer<T> done_;
    std::optional<Result<T>> result_;
};

class PostgresWorker {
public:
    using Call = PostgresCall;
    struct Options {
        PostgresAddress address;
        GroupName group;
        Duration wait_max;
    };

    // Blocks. `clock` outlives it.
    static Result<std::unique_ptr<PostgresWorker>> open(Options options, const Clock& clock);

    // Whether open() would have nothing to create. Blocks, and writes nothing.
    static Result<bool> is_there(const Options& options, const Clock& clock);

    // Every call has its answer after this, and success is durable. False: what others changed
    // comes by LISTEN, and has_changed() tells.
    bool run(std::vector<std::unique_ptr<PostgresCall>>& calls);
    // Whether others have changed members or ownerships, or may have while we were not connected.
    bool has_changed();
    void stop() { stopped_ = true; }

private:
    PostgresWorker(Options options, const Clock& clock);
    Result<> connect(Instant deadline);
    Result<> connect_with_patience(Instant deadline);
    void lose(const Error& why);
    void exchange(const std::vector<PostgresCall*>& calls, bool are_together);

    const Options options_;
    const Clock& clock_;
    Random random_;
    std::atomic<bool> stopped_ = false;
    std::unique_ptr<PostgresConnection> connection_;
    std::int64_t group_ = 0;
    bool may_have_missed_ = false;  // changes, while there was no connection
    Duration pause_{0};
    Instant next_try_{};
};

}  // namespace evenkeel::checkpoint
