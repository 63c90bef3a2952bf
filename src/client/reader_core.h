// The loop's half of a remote reader: a receiver link that comes back where it was, and what waits
// to be read.
//
//     hub ──deliveries──▶ [at most prefetch_events, about prefetch_bytes] ──read()──▶ caller
//      ▲────── credit for what is expected to fit ──────┘
//
// Invariants
//   CLIENT-1  Sequence numbers that are handed out rise by one reader's view of the partition:
//             after a loss the link is attached behind the last event that came, and what comes
//             twice is dropped.
//   CLIENT-2  Once displaced, nothing more is handed out.
//   CLIENT-3  Events that the hub cannot read are told once, as `corrupt` with their range, and
//             then passed over.
//   CLIENT-4  After a loss the last event comes first again, if the hub still has it, and must be
//             the same one: else the hub is another, or was restored and written on, and the reader
//             ends.
// Threads: pinned to the loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/connection.h"
#include "eventhubs/arrival.h"

namespace evenkeel::client {

class ReaderCore final : public WantedLink {
public:
    using Answer = Callback<void(Result<EventBatch>)>;

    // The connection outlives this.
    ReaderCore(Connection& connection, std::string_view group, std::uint32_t partition,
               const Position& position, RemoteReaderOptions options);
    ~ReaderCore() override;

    // `done` runs once the hub has accepted the reader, or when it is clear that it will not.
    void open(Callback<void(Result<>)> done);
    // One at a time. Answers at once, when there is something, or with nothing at the deadline.
    void read(std::size_t events_max, Duration wait, Answer answer);
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
    std::optional<io::TimerId> timer_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::client
