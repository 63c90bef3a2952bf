// The part of a remote reader that runs on the loop: a receiver link that resumes where it was, and
// the events that wait to be read.
//
//     hub ──deliveries──▶ [at most prefetch_events, about prefetch_bytes] ──read()──▶ caller
//      ▲────── credit for what is expected to fit ──────┘
//
// Invariants
//   CLIENT-1  The sequence numbers of returned events only rise: after a loss the link is attached
//             behind the last event that arrived, and events that arrive twice are dropped.
//   CLIENT-2  A displaced reader returns no more events.
//   CLIENT-3  Events that the hub cannot read are reported once, as `corrupt` with their range, and
//             then skipped.
//   CLIENT-4  After a loss the hub sends the last event again, if it still has it. It must be the
//             same event: else the hub was replaced or restored from a backup, and the reader ends.
// Threads: pinned to the loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "client/connection.h"
#include "eventhubs/arrival.h"
#include "io/timer.h"

namespace evenkeel::client {

class ReaderCore final : public WantedLink {
public:
    using Answer = Callback<void(Result<EventBatch>)>;

    // The connection outlives this.
    ReaderCore(Connection& connection, std::string_view group, std::uint32_t partition,
               const Position& position, RemoteReaderOptions options);
    ~ReaderCore() override;

    // `done` is called when the hub has accepted or finally refused the reader.
    void open(Callback<void(Result<>)> done);
    // One call at a time. Answers when there are events, or with none at the deadline.
    void read(std::size_t events_max, Duration wait, Answer answer);
    // Answers a read that waits with `cancelled`; the next one goes on where it was.
    void cancel_read();
    void close();
    const std::optional<LastEnqueued>& last_enqueued() const { return last_enqueued_; }
    std::size_t waiting_bytes() const { return waiting_bytes_; }
    bool is_attached() const { return link_ != nullptr; }

    amqp::Attach attach() override;
    void on_attached(amqp::Link& link) override;
    void on_delivery(const amqp::Delivery& delivery) override;
    bool on_lost(const Failure& failure, std::uint32_t failures) override;

private:
    // Memory for many events, filled from the front and never moved.
    struct Chunk {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size = 0;
        std::size_t used = 0;
    };
    struct Held {
        std::shared_ptr<Chunk> chunk;
        std::size_t events = 0;  // of those that wait
    };

    std::size_t waiting() const { return waiting_.size() - taken_; }
    ByteView keep(ByteView message);
    bool is_known(const Event& event) const;
    void want();
    void answer_soon();
    void give_credit();
    EventBatch take(std::size_t events_max);
    void reply(Result<EventBatch> batch);
    void opened(Result<> result);
    void end(const Error& why);
    void park(const Error& why);
    void pass_damage(const Failure& failure);

    Connection& connection_;
    io::Loop& loop_;
    const std::string address_;
    const std::uint32_t partition_;
    const RemoteReaderOptions options_;
    Position position_;  // where to attach next
    std::int64_t last_sequence_ = -1;
    std::int64_t last_offset_ = -1;  // of that event; -1: not known
    std::int64_t last_time_ms_ = 0;  // 0: it did not come, or has no time
    bool is_first_ = true;           // since the link was attached
    amqp::Link* link_ = nullptr;
    std::vector<Event> waiting_;  // from `taken_` on
    std::size_t taken_ = 0;
    std::deque<Held> chunks_;  // what holds them, in their order
    bool is_progress_told_ = false;
    std::size_t waiting_bytes_ = 0;
    std::size_t event_bytes_ = 1024;  // what we expect of the next one
    std::shared_ptr<Chunk> chunk_;
    std::optional<LastEnqueued> last_enqueued_;
    std::optional<Error> ended_;   // for good
    std::optional<Error> paused_;  // told to the next read, which tries again
    bool is_parked_ = false;
    Callback<void(Result<>)> opened_;
    std::size_t events_max_ = 0;
    Answer answer_;
    bool is_answering_ = false;
    io::Timer timer_{loop_};
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::client
