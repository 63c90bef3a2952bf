// The public BufferedProducer: a thread-safe shell around the loop's Buffer.
// tidy: no test: tests/client tests it against a door
#include <fmt/core.h>

#include "base/budget.h"
#include "base/promise.h"
#include "client/runtime.h"
#include "eventhubs/encoding.h"
#include "producer/buffer.h"
#include "producer/numbering.h"
#include "producer/route.h"
#include <evenkeel/buffered_producer.h>

namespace evenkeel {

namespace {

using client::Runtime;
using io::system::run_and_wait;

class LinkedBuffer final : public BufferedProducer {
public:
    LinkedBuffer(std::unique_ptr<Client> own, std::shared_ptr<Runtime> runtime,
                 BufferedProducerOptions options)
        : own_(std::move(own)),
          runtime_(std::move(runtime)),
          options_(std::move(options)),
          budget_(options_.events_max, options_.bytes_max) {}
    ~LinkedBuffer() override {
        budget_.close();
        run_and_wait(runtime_->loop(), [this] {
            buffer_.reset();
            core_.reset();
        });
    }

    Result<> connect() {
        Promise<Result<>> promise;
        runtime_->loop().post([&] {
            // Order is the buffer's to keep; the senders take what it gives them.
            core_ = std::make_unique<producer::Core>(runtime_->connection(), options_.in_flight_max,
                                                     producer::SenderOptions{options_.idempotent});
            buffer_ = std::make_unique<producer::Buffer>(
                runtime_->loop(), *core_,
                producer::BufferOptions{options_.wait_max, options_.in_flight_max,
                                        event_overhead()},
                [this](const Result<>& result, const SendBatch& batch) { settle(result, batch); });
            core_->open([this, &promise](Result<> opened) {
                message_bytes_max_ = core_->message_bytes_max();
                promise.set(std::move(opened));
            });
        });
        return promise.wait();
    }

    Result<> enqueue(const EventData& event, Route route) override {
        return enqueue(event, route, true);
    }
    Result<> try_enqueue(const EventData& event, Route route) override {
        return enqueue(event, route, false);
    }

    Result<> flush() override {
        Promise<Result<>> promise;
        runtime_->loop().post([&] {
            buffer_->flush([&] {
                promise.set(failure_ ? Result<>(*failure_) : Result<>());
                failure_.reset();
            });
        });
        return promise.wait();
    }

private:
    Result<> enqueue(const EventData& event, const Route& route, bool may_wait) {
        if (runtime_->is_closed()) return Error{ErrorCode::cancelled, "the client was closed"};
        EK_TRY(producer::check_route(route));
        const SendBatch empty(route, 0);
        std::vector<std::byte> section;
        const std::size_t content_bytes = eventhubs::content_bytes(event);
        if (content_bytes <= message_bytes_max_) eventhubs::append_event(event, section);
        if (section.empty() ||
            empty.size_bytes() + section.size() + event_overhead() > message_bytes_max_) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("an event of {} bytes; the hub takes {} with all that belongs "
                                     "to it",
                                     content_bytes, message_bytes_max_)};
        }
        if (may_wait ? !budget_.take(section.size()) : !budget_.try_take(section.size())) {
            return Error{
                may_wait ? ErrorCode::cancelled : ErrorCode::overloaded,
                may_wait ? "the producer was closed" : "too much waits to be sent already"};
        }
        runtime_->loop().post([this, partition = route.partition,
                               key = std::string(route.partition_key),
                               section = std::move(section)] {
            if (buffer_) buffer_->add(partition, key, section);
        });
        return {};
    }

    std::size_t event_overhead() const {
        return options_.idempotent ? producer::stamp_bytes_max : 0;
    }

    void settle(const Result<>& result, const SendBatch& batch) {
        const SendBatch empty(batch.route(), 0);
        budget_.give_back(batch.size(), batch.size_bytes() - empty.size_bytes());
        if (result.ok()) return;
        if (!failure_) failure_ = result.error();
        if (options_.on_failed) options_.on_failed(result.error(), batch);
    }

    const std::unique_ptr<Client> own_;  // null: it is somebody else's
    const std::shared_ptr<Runtime> runtime_;
    const BufferedProducerOptions options_;
    Budget budget_;
    std::size_t message_bytes_max_ = 0;
    // Pinned to the loop.
    std::unique_ptr<producer::Core> core_;
    std::unique_ptr<producer::Buffer> buffer_;
    std::optional<Error> failure_;  // the first since the last flush
};

Result<std::unique_ptr<BufferedProducer>> connected_buffer(std::unique_ptr<Client> own,
                                                           Client& client,
                                                           BufferedProducerOptions options) {
    if (options.in_flight_max == 0 || options.events_max == 0 || options.bytes_max == 0) {
        return Error{ErrorCode::invalid_argument, "a limit of a buffered producer is 0"};
    }
    auto made = std::make_unique<LinkedBuffer>(std::move(own), client::Access::runtime(client),
                                               std::move(options));
    EK_TRY(made->connect());
    return std::unique_ptr<BufferedProducer>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<BufferedProducer>> BufferedProducer::open(Client& client,
                                                                 BufferedProducerOptions options) {
    return connected_buffer(nullptr, client, std::move(options));
}

Result<std::unique_ptr<BufferedProducer>> BufferedProducer::open(const ClientOptions& connection,
                                                                 BufferedProducerOptions options) {
    EK_TRY_ASSIGN(auto client, Client::open(connection));
    Client& own = *client;
    return connected_buffer(std::move(client), own, std::move(options));
}

}  // namespace evenkeel
