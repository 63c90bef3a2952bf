// Sending single events with the speed of batches: they wait a moment for others that go the same
// way, and are sent together.
//
//   auto producer =
//       evenkeel::BufferedProducer::open({.connection = "amqp://app:key@localhost/homes"}).value();
//   for (const auto& line : lines) {
//       producer->enqueue({.body = line}, {.partition_key = home}).value();
//   }
//   producer->flush().value();
//
// Events to one partition, and events with one key, are stored in the order in which they were
// enqueued. Those without either go to any partition, in any order. A lost connection may repeat
// events (<evenkeel/producer.h>), a whole batch at a time, unless they are numbered (`idempotent`);
// a batch that fails for good is reported to `on_failed`, and those behind it go on.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include <evenkeel/client.h>
#include <evenkeel/error.h>
#include <evenkeel/producer.h>

namespace evenkeel {

struct BufferedProducerOptions {
    // What may wait or be under way; enqueue() blocks while there is as much.
    std::size_t events_max = 100'000;
    std::size_t bytes_max = std::size_t{32} << 20;
    // How long an event waits for others before it is sent.
    std::chrono::milliseconds wait_max{20};
    // Batches under way at a time, one at most for each partition or key.
    std::uint32_t in_flight_max = 64;
    // As of ProducerOptions: what is sent again is not stored again.
    bool idempotent = false;
    // Called on the client's thread, and must not block or throw. The batch is gone afterwards.
    std::function<void(const Error& why, const SendBatch& batch)> on_failed = {};
};

// Once its Client is gone it answers `cancelled`.
// Threads: any. Order is that of the calls; of calls at the same time, either.
class BufferedProducer {
public:
    // Connects, and returns once the hub takes events.
    static Result<std::unique_ptr<BufferedProducer>> open(Client& client,
                                                          BufferedProducerOptions options = {},
                                                          const CallOptions& call = {});
    // The same with a client of its own.
    static Result<std::unique_ptr<BufferedProducer>> open(const ClientOptions& connection,
                                                          BufferedProducerOptions options = {},
                                                          const CallOptions& call = {});
    static Result<std::unique_ptr<BufferedProducer>> open(std::string connection) {
        return open(ClientOptions{.connection = std::move(connection)});
    }
    // What was not flushed is dropped, or stored nevertheless.
    virtual ~BufferedProducer() = default;

    // Copies the event. `invalid_argument` for a bad route or an event that is too large. After
    // `timed_out` and `cancelled` it was not taken.
    virtual Result<> enqueue(const EventData& event, Route route = {},
                             const CallOptions& call = {}) = 0;
    // The same, but `overloaded` where enqueue() would block.
    virtual Result<> try_enqueue(const EventData& event, Route route = {}) = 0;
    // Sends what waits, and blocks until all that was enqueued before is stored or has failed.
    // Returns the first failure since the last flush(). After `timed_out` and `cancelled` sending
    // goes on, and the next flush() tells how it ended.
    virtual Result<> flush(const CallOptions& call = {}) = 0;
};

}  // namespace evenkeel
