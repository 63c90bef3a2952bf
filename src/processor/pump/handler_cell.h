// The worker's half of a pump: the user's handler of one partition, and the Partition it is given.
//
//     loop                                work/N
//     run() ──────────post──────────▶     handler, in the one try block
//     Pump::on_ended  ◀───post───────     result, what it asked to checkpoint
//
// It outlives its pump while a handler runs that does not end.
// Invariants
//   PUMP-13  One call of the handler at a time; open() before all, close() after all.
//   PUMP-14  After abandon() the pump hears nothing; the handler still gets its on_closed().
// Threads: those of Partition any; the others pinned to the loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/transaction.h"
#include "io/loop.h"
#include "processor/ownership/lease.h"
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>

namespace evenkeel::processor {

// Calls a function of the user's; what it throws becomes `handler_failed`.
Result<> call_user(Callback<Result<>()>& function);

class HandlerCell final : public Partition, public std::enable_shared_from_this<HandlerCell> {
public:
    struct Asked {
        std::int64_t sequence = -1;
        std::int64_t offset = -1;
        std::int64_t enqueued_ms = 0;
    };
    // What the pump is asked for from other threads; called on the loop.
    class Pump {
    public:
        virtual ~Pump() = default;
        virtual void on_ended(Result<> result) = 0;
        virtual void on_asked() = 0;
        // checkpoint() was called although checkpoints are automatic; once at most.
        virtual void on_needless_checkpoint() = 0;
        // checkpoint() or done() was called for an event that the handler was not given; once at
        // most.
        virtual void on_foreign_event(std::int64_t sequence) = 0;
        virtual void on_pause(bool is_paused) = 0;
        virtual void on_seek(const Position& position) = 0;
        virtual void on_flush(Callback<void(Result<>)> done) = 0;
    };

    // `is_manual`: checkpoint() says what is stored.
    HandlerCell(io::Loop& loop, io::Executor& workers, PartitionId partition, Epoch epoch,
                bool is_manual);

    // Makes the handler and opens it.
    void open(Pump& pump, const HandlerFactory& factory);
    // The events are views of `batch`. The handler is not called if the term is over before its
    // turn has come; was_late() says so then.
    void run(EventBatch batch, Events events, std::uint32_t attempt, LeaseTerm term);
    // The same in a transaction, which commits `done` with what the handler wrote (exactly once).
    void run_in(checkpoint::Transactions& transactions, const checkpoint::Checkpoint& done,
                EventBatch batch, Events events, std::uint32_t attempt, LeaseTerm term);
    // Of the last run, once it has ended.
    bool was_late() const { return was_late_; }
    // Why the transaction of the last run did not begin or end; the handler is not to blame.
    std::optional<Error> take_store_error() { return std::exchange(store_error_, std::nullopt); }
    void close(Closed reason);
    // The pump goes. on_closed() is called as soon as the handler has ended; then `gone` runs on
    // the loop.
    void abandon(Closed reason, Task gone);

    bool is_busy() const { return is_busy_; }
    bool is_open() const { return is_open_; }
    // The batch that run() was given, once it has ended.
    EventBatch take_batch() { return std::move(batch_); }
    // The latest event that checkpoint() was called for, if checkpoints are manual.
    Asked asked() const;
    // The latest event that the handler has said is done in its last call, in whichever way.
    Asked done_up_to() const;
    // Sequence numbers mean other events from now on.
    void forget_asked();
    void set_ending(bool is_ending) { is_ending_ = is_ending; }
    void set_closing(Closed reason) {
        closing_as_ = reason;  // before the flag that makes it count
        is_closing_ = true;
        is_ending_ = true;
    }

    std::uint32_t id() const override { return partition_.value; }
    std::int64_t epoch() const override { return epoch_.value; }
    void done(const Event& event) override;
    void checkpoint(const Event& event) override;
    Result<> flush(const CallOptions& call) override;
    bool is_ending() const override { return is_ending_; }
    std::optional<Closed> closing() const override {
        return is_closing_ ? std::optional<Closed>(closing_as_) : std::nullopt;
    }
    std::uint32_t attempt() const override { return attempt_; }
    void pause() override;
    void resume() override;
    void seek(const Position& position) override;
    sqlite3* sqlite() override { return sqlite_; }
    pg_conn* postgres() override { return postgres_; }

private:
    struct Latest {
        Asked asked;
        Asked done;
        std::int64_t given = -1;   // the last event that the handler got
        bool is_foreign = false;   // the loop knows of an event behind it
        bool is_told = false;      // the loop will look at it
        bool is_needless = false;  // the loop knows that checkpoint() was called in vain
    };

    void begin(EventBatch batch, Events events, std::uint32_t attempt, LeaseTerm term);
    bool was_given(const Event& event);
    void post(Callback<Result<>()> call);
    void ended(Result<> result);
    void tell(Callback<void(Pump&)> what);
    bool is_late();
    void close_abandoned();

    io::Loop& loop_;
    io::Executor& workers_;
    const PartitionId partition_;
    const Epoch epoch_;
    const bool is_manual_;
    Pump* pump_ = nullptr;
    // The worker's while busy.
    Callback<Result<>()> call_;
    std::unique_ptr<PartitionHandler> handler_;
    EventBatch batch_;
    std::optional<Error> store_error_;
    LeaseTerm term_;
    bool was_late_ = false;

    bool is_busy_ = false;
    bool is_open_ = false;
    std::optional<Closed> abandoned_;
    Task gone_;
    std::atomic<bool> is_ending_ = false;
    std::atomic<bool> is_closing_ = false;
    std::atomic<Closed> closing_as_ = Closed::shutdown;
    std::atomic<std::uint32_t> attempt_ = 0;
    std::atomic<sqlite3*> sqlite_ = nullptr;
    std::atomic<pg_conn*> postgres_ = nullptr;
    Guarded<Latest> latest_;
};

}  // namespace evenkeel::processor
