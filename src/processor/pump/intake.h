// What a pump reads: one read under way at a time, into the batch that the handler gets next.
//
//     detached ──attach()──▶ idle ──fill()──▶ reading ──events──▶ idle, on_events()
//        ▲                    ▲                  │ failed
//        └──── detach() ◀──   └──── its time ──  waiting
//
// Invariants
//   PUMP-16  Events come in order and none comes twice; missing ones are reported (PUMP-2).
//   PUMP-17  The first event of a reader is the one that was handled last, if the hub still has
//            it, and the same as then (PUMP-7). It is not handled again.
//   PUMP-18  Nothing is read while the batch is full or the pump may not read.
// Ownership: all of Place and the pump outlive it. Threads: part of Pump. Failure: an error
// that may pass is retried with the same reader; any other is the pump's to decide.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/lifetime.h"
#include "base/result.h"
#include "io/timer.h"
#include "processor/pump/resume.h"
#include "source/source.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

class Intake {
public:
    // What it asks and tells its pump.
    class Pump {
    public:
        virtual ~Pump() = default;
        virtual bool may_read() const = 0;
        virtual void on_events() = 0;
        // The source answered; `is_reading`: the reader works.
        virtual void on_heard(bool is_reading) = 0;
        // A read was answered, with or without events: earlier failures are over.
        virtual void on_read() = 0;
        // A read failed that is tried again after the returned time.
        virtual Duration on_read_failed(const Error& error) = 0;
        // A new reader is needed.
        virtual void on_reader_failed(const Error& error) = 0;
        // The hub and the checkpoint contradict each other.
        virtual void on_mismatch(const Error& error) = 0;
        // For the operator; reading goes on.
        virtual void on_notice(std::string_view operation, const Error& error,
                               std::optional<Duration> retried_in) = 0;
    };
    struct Place {
        io::Loop& loop;
        source::Source& source;
        const ProcessorOptions& options;
        PartitionId partition;
    };

    Intake(const Place& place, Pump& pump) : place_(place), pump_(pump) {}
    ~Intake() { detach(); }

    // What was read last, before a reader is attached; -1: any event may come.
    void set_last_read(std::int64_t sequence);
    // The next event need not be the one behind the last.
    void set_may_skip(bool may_skip) { may_skip_ = may_skip; }
    // The event that a new reader must bring first, if the hub still has it.
    void await(const std::optional<Landmark>& landmark) { awaited_ = landmark; }
    void attach(std::unique_ptr<source::Reader> reader);
    // What was read but not taken is dropped, and read again by the next reader.
    void detach();
    // Reads, unless that is under way or must wait.
    void fill();

    bool has_reader() const { return state_ != State::detached; }
    // The broker has our reader.
    bool is_attached() const { return reader_ && reader_->is_attached(); }
    std::size_t size() const { return next_.size(); }
    bool empty() const { return next_.empty(); }
    // All that was read since the last call.
    EventBatch take();
    // When the first event came, or wait_from() was called.
    Instant since() const { return since_; }
    void wait_from(Instant now) { since_ = now; }
    std::int64_t last_enqueued() const { return last_enqueued_; }
    void set_last_enqueued(std::int64_t sequence) { last_enqueued_ = sequence; }

private:
    static constexpr Duration read_wait = std::chrono::seconds(60);

    enum class State : std::uint8_t { detached, idle, reading, waiting };

    void arrived(Result<EventBatch> batch);
    void keep(EventBatch batch);
    bool pass_landmark(EventBatch& batch);
    void failed(const Error& error);
    void look_for_progress();
    void on_progress(const Result<source::PartitionProperties>& known, std::int64_t before);
    void check_state() const;
    // Wraps an answer: it does not reach an intake whose reader is another one by now.
    template <typename Function>
    auto while_attached(Function function) {
        return lifetime_.guard(
            [this, reader = readers_, function = std::move(function)](auto&&... arguments) mutable {
                if (reader == readers_) function(std::forward<decltype(arguments)>(arguments)...);
            });
    }

    const Place place_;
    Pump& pump_;
    State state_ = State::detached;
    std::unique_ptr<source::Reader> reader_;
    std::uint64_t readers_ = 0;     // so many are gone
    io::Timer timer_{place_.loop};  // if waiting
    bool may_skip_ = false;
    std::int64_t last_read_ = -1;
    std::int64_t last_enqueued_ = -1;
    std::optional<Landmark> awaited_;
    EventBatch next_;
    Instant since_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
