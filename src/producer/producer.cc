// The public Producer: a thread-safe shell around the loop's Core.
// tidy: no test: tests/client tests it against a door
#include <algorithm>
#include <atomic>

#include <fmt/core.h>

#include "base/awaited.h"
#include "client/requests.h"
#include "client/runtime.h"
#include "eventhubs/encoding.h"
#include "producer/batch_access.h"
#include "producer/core.h"
#include "producer/route.h"
#include <evenkeel/producer.h>

namespace evenkeel {
namespace {

using client::Runtime;
using io::system::run_and_wait;
using producer::BatchAccess;

class LinkedProducer final : public Producer {
public:
    LinkedProducer(std::unique_ptr<Client> own, std::shared_ptr<Runtime> runtime,
                   const ProducerOptions& options)
        : own_(std::move(own)), runtime_(std::move(runtime)), options_(options) {}
    ~LinkedProducer() override {
        run_and_wait(runtime_->loop(), [this] { core_.reset(); });
    }

    Result<> connect(const CallOptions& call) {
        return asked<void>(call, [this](auto done) {
            runtime_->loop().post([this, done]() mutable {
                core_ = std::make_unique<producer::Core>(
                    runtime_->connection(), options_.in_flight_max,
                    producer::SenderOptions{options_.idempotent, options_.receipts,
                                            options_.restore});
                core_->open([this, done](Result<> opened) {
                    message_bytes_max_ = core_->message_bytes_max();
                    done(std::move(opened));
                });
            });
        });
    }

    Result<EventHubProperties> properties(const CallOptions& call) override {
        EK_TRY_ASSIGN(const auto reply, asked<client::NodeReply>(call, [this](auto done) {
                          runtime_->loop().post([this, done]() mutable {
                              runtime_->connection().read_event_hub(std::move(done));
                          });
                      }));
        return client::decode_event_hub(reply.body);
    }

    Result<SendBatch> make_batch(Route route) const override {
        EK_TRY(producer::check_route(route));
        return SendBatch(route, message_bytes_max_,
                         options_.idempotent ? producer::stamp_bytes_max : 0);
    }

    Result<> send(const SendBatch& batch, const CallOptions& call) override {
        if (batch.empty()) return {};
        return asked<void>(call, [&](auto done) { post(batch, std::move(done)); });
    }

    Result<SendReceipt> send_with_receipt(const SendBatch& batch,
                                          const CallOptions& call) override {
        SendReceipt told;
        told.partition = batch.route().partition;
        if (batch.empty()) return told;
        const auto receipt = std::make_shared<std::optional<amqp::Receipt>>();
        EK_TRY(asked<void>(call, [&](auto done) {
            // The answer keeps the receipt, though nobody may wait any more.
            post(
                batch, [receipt, done](Result<> sent) { done(std::move(sent)); }, receipt.get());
        }));
        if (!*receipt) return told;
        return SendReceipt{(*receipt)->partition, (*receipt)->first_sequence_number,
                           (*receipt)->last_sequence_number, (*receipt)->last_offset};
    }

    void send_later(const SendBatch& batch, std::function<void(Result<>)> done) override {
        const std::size_t bytes = batch.size_bytes();
        if (!reserve(bytes)) {
            runtime_->loop().post([done = std::move(done)] {
                done(Error{ErrorCode::overloaded, "too much waits to be sent already"});
            });
            return;
        }
        post(batch, [this, bytes, done = std::move(done)](Result<> sent) {
            waiting_bytes_ -= bytes;
            done(std::move(sent));
        });
    }

private:
    // False if too much waits.
    bool reserve(std::size_t bytes) {
        if (waiting_bytes_.fetch_add(bytes) + bytes <= options_.waiting_bytes_max) return true;
        waiting_bytes_ -= bytes;
        return false;
    }

    void post(const SendBatch& batch, producer::Core::Done done,
              std::optional<amqp::Receipt>* receipt = nullptr) {
        auto message = std::make_shared<const std::vector<std::byte>>(BatchAccess::message(batch));
        runtime_->loop().post([this, partition = batch.route().partition,
                               key = BatchAccess::key(batch), message = std::move(message),
                               done = std::move(done), receipt]() mutable {
            core_->send(partition, std::move(message), std::move(done), key, receipt);
        });
    }

    const std::unique_ptr<Client> own_;  // null: it is somebody else's
    const std::shared_ptr<Runtime> runtime_;
    const ProducerOptions options_;
    std::unique_ptr<producer::Core> core_;  // pinned to the loop
    std::size_t message_bytes_max_ = 0;
    std::atomic<std::size_t> waiting_bytes_ = 0;
};

Result<std::unique_ptr<Producer>> connected(std::unique_ptr<Client> own, Client& client,
                                            const ProducerOptions& options,
                                            const CallOptions& call) {
    if (options.in_flight_max == 0) {
        return Error{ErrorCode::invalid_argument, "in_flight_max is 0; 1 is the least"};
    }
    auto made =
        std::make_unique<LinkedProducer>(std::move(own), client::Access::runtime(client), options);
    EK_TRY(made->connect(call));
    return std::unique_ptr<Producer>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<Producer>> Producer::open(Client& client, ProducerOptions options,
                                                 const CallOptions& call) {
    return connected(nullptr, client, options, call);
}

Result<std::unique_ptr<Producer>> Producer::open(const ClientOptions& connection,
                                                 ProducerOptions options, const CallOptions& call) {
    EK_TRY_ASSIGN(auto client, Client::open(connection));
    Client& own = *client;
    return connected(std::move(client), own, options, call);
}

Result<> Producer::send(const EventData& event, Route route, const CallOptions& call) {
    EK_TRY_ASSIGN(auto batch, make_batch(route));
    if (!batch.try_add(event)) {
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("an event of {} bytes; the hub takes {} with all that belongs to it",
                        eventhubs::content_bytes(event), batch.bytes_max())};
    }
    return send(batch, call);
}

}  // namespace evenkeel
