// The events of one partition in order, for one reader: reads, cold reads, removed files, damage,
// waiting and the end, in one place.
//
//                    ┌──────────── cancel_wait(), new events ───────────┐
//     start ──▶ ready ── next() finds nothing ──────────────────▶ waiting
//                 ▲ └─── next() needs the disk ──▶ reading ─┐
//                 └──────────── performed ──────────────────┘
//     any state ── displaced, event hub removed, end() ──▶ ended
//
// Invariants
//   STREAM-1  Events come in order, each once. Damage is reported once, behind the events before.
//   STREAM-2  Damaged bytes that hold no event are not reported here: the reader misses nothing.
//             Operators see them in the damages of the log.
//   STREAM-3  A removed file is damage, unless retention removed it; reading goes on behind it.
//   STREAM-4  At most one cold read is under way, and at most one outcome is held that next() did
//             not give out: `read_bytes_max`, or one event if that is larger.
// Ownership: owns the cursor. Owner and ColdReads outlive the stream.
// Threads: pinned to the hub's loop; only the cold read itself runs elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <variant>

#include "base/lifetime.h"
#include "hub/log_cursor.h"
#include "io/loop.h"

namespace evenkeel::hub {

// Where cold reads are performed.
class ColdReads {
public:
    struct Performed {
        Result<commitlog::ReadOutcome> outcome;
        // The performer has given the events to the reader itself; next() skips them.
        bool events_taken = false;
    };
    using Done = Callback<void(Performed)>;

    virtual ~ColdReads() = default;
    // Performs the read on a thread that may block. `done` runs later, on the loop of the stream.
    virtual void perform(commitlog::ColdRead read, Done done) = 0;
};

// Performs them on an executor. `loop` and `executor` outlive all reads.
class ExecutorReads final : public ColdReads {
public:
    ExecutorReads(io::Loop& loop, io::Executor& executor) : loop_(loop), executor_(executor) {}
    void perform(commitlog::ColdRead read, Done done) override;

private:
    io::Loop& loop_;
    io::Executor& executor_;
};

// Events, damage that lies behind the events given before, or nothing yet.
using StreamStep = std::variant<std::monostate, commitlog::Slice, commitlog::Damage>;

class PartitionStream {
public:
    class Owner {
    public:
        // next() gave nothing before and is worth another call. May destroy the stream.
        virtual void on_ready() = 0;
        // At most once; not from within next(). May destroy the stream.
        virtual void on_ended(const Error& why) = 0;
        // After each cold read: true if the next one may be twice as large.
        virtual bool keeps_up() const { return false; }

    protected:
        ~Owner() = default;
    };

    struct Options {
        std::size_t read_bytes_min = std::size_t{256} << 10;
        // Above the minimum: reads grow up to this, and the stream reads ahead of an owner that
        // keeps up while the disk is slow.
        std::size_t read_bytes_max = std::size_t{256} << 10;
        // Takes what is in the page cache at once, on the loop: cheaper than another thread.
        bool from_page_cache = false;
    };

    enum class State { unattached, ready, asking, reading, waiting, ended };

    PartitionStream(Owner& owner, ColdReads& cold_reads, const Options& options);
    PartitionStream(const PartitionStream&) = delete;
    PartitionStream& operator=(const PartitionStream&) = delete;

    // For whoever makes the cursor: ends the stream. Does nothing once the stream is gone.
    Callback<void(const Error&)> ended();
    // Once. The stream may have ended already: a reader can be displaced while it attaches.
    void start(std::unique_ptr<LogCursor> cursor);
    // Lets go of the cursor and of all that was read, and tells the owner why.
    void end(const Error& why);

    // Nothing: on_ready() follows. An error of the disk is given once, and the next call tries
    // again; in the state `ended` the error is why, for ever.
    Result<StreamStep> next();
    State state() const { return state_; }
    bool has_ended() const { return state_ == State::ended; }
    // Out of `waiting`, without on_ready().
    void cancel_wait();
    // Lets go of what was read ahead and of `left`, the events that the owner has not used yet;
    // next() reads them again. False if nothing was let go.
    bool release(const commitlog::Slice& left);
    // Behind everything that next() gave.
    Offset given() const { return given_; }
    void count_sent(std::int64_t events) {
        if (cursor_) cursor_->count_sent(events);
    }

private:
    // Into ahead_ at once, or begins a cold read; neither at the end.
    Result<> fetch();
    void read_ahead();
    void perform(commitlog::ColdRead read);
    void performed(Offset from, ColdReads::Performed performed);
    void took(commitlog::ReadOutcome outcome, bool events_taken);
    // False if there is something to read already.
    bool wait();
    void check_state() const;

    Owner& owner_;
    ColdReads& cold_reads_;
    const Options options_;
    State state_ = State::unattached;
    std::unique_ptr<LogCursor> cursor_;
    std::optional<commitlog::Damage> damage_ = {};      // behind what next() gave
    std::optional<commitlog::ReadOutcome> ahead_ = {};  // behind that
    std::optional<Error> failure_ = {};                 // of the last cold read
    std::optional<Error> reason_ = {};                  // why it has ended
    Offset given_{0};
    std::size_t read_bytes_;
    bool disk_was_slow_ = false;  // the last cold read was not in the page cache
    Lifetime lifetime_;
};

}  // namespace evenkeel::hub
