// Sending events to an event hub, of ours or of Azure Event Hubs.
//
//   auto producer = evenkeel::Producer::open("amqp://app:key@localhost/homes").value();
//   auto batch = producer->make_batch({.partition_key = "home-17"}).value();
//   batch.try_add({.body = "door opened"});
//   producer->send(batch).value();
//
// send() is acknowledged when the hub has stored the events. What a hub refuses for a while (busy,
// restarting, out of reach) is sent again. A connection that is lost between a batch and its
// acknowledgement leaves open whether the batch was stored; it is sent again, so its events may be
// stored twice. With `idempotent` they are numbered, and the hub stores each once as long as the
// producer lives. A hub of ours that is started again finds the numbers in the last 16 MiB of the
// partition; of a producer whose events all lie further back it has forgotten them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/client.h>
#include <evenkeel/error.h>
#include <evenkeel/event.h>
#include <evenkeel/hub.h>

namespace evenkeel {

namespace producer {
struct BatchAccess;
}

// Events that are sent together: to one partition, in order, with neighbouring sequence numbers,
// all or nothing. Producer::make_batch() makes it. Threads: one at a time.
class SendBatch {
public:
    // For test doubles of Producer. Checks nothing. Of each event `reserved_bytes` are not used.
    explicit SendBatch(const Route& route = {}, std::size_t bytes_max = std::size_t{1} << 20,
                       std::size_t reserved_bytes = 0);

    // False if it does not fit any more: send what there is. An event that does not even fit into
    // an empty batch is too large for the event hub.
    bool try_add(const EventData& event);
    bool try_add(std::string_view body) { return try_add(EventData{.body = body}); }

    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    std::size_t size_bytes() const { return message_.size(); }
    std::size_t bytes_max() const { return bytes_max_; }
    // Removes the events; route and limit stay.
    void clear();

    Route route() const { return {partition_, key_}; }
    // Copies of the events, without position and time.
    EventBatch events() const;

private:
    friend struct producer::BatchAccess;
    std::optional<std::uint32_t> partition_;
    std::string key_;
    std::size_t bytes_max_;
    std::size_t reserved_bytes_;
    std::size_t count_ = 0;
    std::vector<std::byte> message_;  // encoded, as it is sent
};

struct ProducerOptions {
    // Of batches that were given to send_later() and are not answered yet; one more is refused with
    // `overloaded`. send() waits instead.
    std::size_t waiting_bytes_max = std::size_t{64} << 20;
    // Batches that are sent to one address before the first of them is acknowledged.
    std::uint32_t in_flight_max = 64;
    // Events are numbered, so that what is sent again is not stored again. One batch at a time is
    // under way to each partition then, and a batch without a partition goes to the one of its key,
    // or to each in turn, as this side counts them when it is opened. `unsupported` from a hub that
    // does not count.
    bool idempotent = false;
    // Asks the hub to say where it stored each batch, see send_with_receipt().
    bool receipts = false;
    // Events that are sent to a partition are put back as they were stored: with the partition key
    // and the enqueued time of their own annotations. For back-ups, with hubs of ours and a key
    // with the right to manage; otherwise `unsupported` or `not_allowed`.
    bool restore = false;
};

// Where a batch was stored. A hub of ours says all of it to a producer that is opened with
// `receipts`, unless the batch was a repeat that it had stored before. Others say nothing: then
// only a partition that the batch named is known.
struct SendReceipt {
    std::optional<std::uint32_t> partition = {};
    std::optional<std::int64_t> first_sequence_number = {};
    std::optional<std::int64_t> last_sequence_number = {};
    std::optional<std::int64_t> last_offset = {};  // of the last event
};

// Once its Client is gone it answers `cancelled`. Threads: any.
class Producer {
public:
    // Connects, and returns once the hub takes events.
    static Result<std::unique_ptr<Producer>> open(Client& client, ProducerOptions options = {},
                                                  const CallOptions& call = {});
    // The same with a client of its own.
    static Result<std::unique_ptr<Producer>> open(const ClientOptions& connection,
                                                  ProducerOptions options = {},
                                                  const CallOptions& call = {});
    static Result<std::unique_ptr<Producer>> open(std::string connection) {
        return open(ClientOptions{.connection = std::move(connection)});
    }
    // What is not acknowledged yet ends with `cancelled`; it may be stored nevertheless.
    virtual ~Producer() = default;

    virtual Result<EventHubProperties> properties(const CallOptions& call = {}) = 0;
    // `invalid_argument` for a route with both a partition and a key, or a key of more than 128
    // characters. A partition that is not there is found out by send(): `not_found`.
    virtual Result<SendBatch> make_batch(Route route = {}) const = 0;
    // Blocks until the events are stored; of an empty batch nothing is sent. It may be sent again,
    // or cleared and filled again. After `timed_out` and `cancelled` it is not known whether they
    // are stored: sending goes on until the hub acknowledges them or the retries are used up.
    virtual Result<> send(const SendBatch& batch, const CallOptions& call = {}) = 0;
    // The same, and tells where they are.
    virtual Result<SendReceipt> send_with_receipt(const SendBatch& batch,
                                                  const CallOptions& call = {}) = 0;
    // The same for one event.
    Result<> send(const EventData& event, Route route = {}, const CallOptions& call = {});
    Result<> send(std::string_view body, Route route = {}, const CallOptions& call = {}) {
        return send(EventData{.body = body}, route, call);
    }
    // Without waiting: the batch is copied. `done` is called once, on the client's thread, and must
    // not block, throw, or call what waits for that thread: of the client, its producers and its
    // readers only send_later() may be called.
    // Batches to one address are sent in the order of the calls; one that is refused and sent again
    // may be overtaken.
    virtual void send_later(const SendBatch& batch, std::function<void(Result<>)> done) = 0;
};

}  // namespace evenkeel
