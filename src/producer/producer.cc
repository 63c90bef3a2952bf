// The public Producer: a thread-safe shell around the loop's Core.
// tidy: no test: tests/client tests it against a door
#include <algorithm>
#include <atomic>

#include <fmt/core.h>

#include "base/promise.h"
#include "client/runtime.h"
#include "producer/core.h"
#include "producer/route.h"
#include <evenkeel/producer.h>

namespace evenkeel {
namespace {

using client::Runtime;
using io::system::run_and_wait;

}  // namespace

// What the shell keeps beside the loop's half.
class Producer::State {
public:
    State(Runtime& runtime, const ProducerOptions& options)
        : runtime_(runtime), options_(options) {}
    ~State() {
        run_and_wait(runtime_.loop(), [this] { core_.reset(); });
    }

    Result<> open() {
        Promise<Result<>> promise;
        runtime_.loop().post([&] {
            core_ = std::make_unique<producer::Core>(runtime_.connection(), options_.in_flight_max,
                                                     options_.idempotent, options_.receipts);
            core_->open([this, &promise](Result<> opened) {
                message_bytes_max_ = core_->message_bytes_max();
                promise.set(std::move(opened));
            });
        });
        return promise.wait();
    }

    std::size_t message_bytes_max() const { return message_bytes_max_; }
    std::size_t event_overhead() const {
        return options_.idempotent ? producer::stamp_bytes_max : 0;
    }

    // False if too much waits.
    bool reserve(std::size_t bytes) {
        if (waiting_bytes_.fetch_add(bytes) + bytes <= options_.waiting_bytes_max) return true;
        waiting_bytes_ -= bytes;
        return false;
    }
    void release(std::size_t bytes) { waiting_bytes_ -= bytes; }

    void send(const SendBatch& batch, producer::Core::Done done,
              std::optional<amqp::Receipt>* receipt = nullptr) {
        auto message = std::make_shared<const std::vector<std::byte>>(batch.message());
        runtime_.loop().post([this, partition = batch.partition(), key = batch.partition_key(),
                              message = std::move(message), done = std::move(done),
                              receipt]() mutable {
            core_->send(partition, std::move(message), std::move(done), key, receipt);
        });
    }
    void refuse(std::function<void(Result<>)> done, Error why) {
        runtime_.loop().post(
            [done = std::move(done), why = std::move(why)] { done(Result<>(why)); });
    }

private:
    Runtime& runtime_;
    const ProducerOptions options_;
    std::unique_ptr<producer::Core> core_;  // pinned to the loop
    std::size_t message_bytes_max_ = 0;
    std::atomic<std::size_t> waiting_bytes_ = 0;
};

Result<std::unique_ptr<Producer>> Producer::open(Client& client, ProducerOptions options) {
    if (options.in_flight_max == 0) {
        return Error{ErrorCode::invalid_argument, "in_flight_max is 0; 1 is the least"};
    }
    auto state = std::make_unique<State>(client.runtime(), options);
    EK_TRY(state->open());
    return std::unique_ptr<Producer>(new Producer(nullptr, client, std::move(state)));
}

Result<std::unique_ptr<Producer>> Producer::open(const ClientOptions& connection,
                                                 ProducerOptions options) {
    EK_TRY_ASSIGN(auto client, Client::open(connection));
    EK_TRY_ASSIGN(auto producer, open(*client, options));
    producer->own_ = std::move(client);
    return producer;
}

Producer::Producer(std::unique_ptr<Client> own, Client& client, std::unique_ptr<State> state)
    : own_(std::move(own)), client_(&client), state_(std::move(state)) {}

Producer::~Producer() = default;

Result<SendBatch> Producer::make_batch(Route route) const {
    EK_TRY(producer::check_route(route));
    return SendBatch(route.partition, std::string(route.partition_key), state_->message_bytes_max(),
                     state_->event_overhead());
}

Result<> Producer::send(const SendBatch& batch) {
    if (batch.empty()) return {};
    Promise<Result<>> promise;
    state_->send(batch, [&promise](Result<> sent) { promise.set(std::move(sent)); });
    return promise.wait();
}

Result<SendReceipt> Producer::send_with_receipt(const SendBatch& batch) {
    SendReceipt told;
    told.partition = batch.partition();
    if (batch.empty()) return told;
    std::optional<amqp::Receipt> receipt;
    Promise<Result<>> promise;
    state_->send(
        batch, [&promise](Result<> sent) { promise.set(std::move(sent)); }, &receipt);
    EK_TRY(promise.wait());
    if (!receipt) return told;
    return SendReceipt{receipt->partition, receipt->first_sequence_number,
                       receipt->last_sequence_number, receipt->last_offset};
}

Result<> Producer::send(std::string_view body, Route route) {
    EK_TRY_ASSIGN(auto batch, make_batch(route));
    if (!batch.try_add(body)) {
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("an event of {} bytes; the hub takes {} with all that belongs to it",
                        body.size(), batch.bytes_max())};
    }
    return send(batch);
}

void Producer::send_later(const SendBatch& batch, std::function<void(Result<>)> done) {
    const std::size_t bytes = batch.size_bytes();
    if (!state_->reserve(bytes)) {
        return state_->refuse(std::move(done),
                              {ErrorCode::overloaded, "too much waits to be sent already"});
    }
    state_->send(batch, [state = state_.get(), bytes, done = std::move(done)](Result<> sent) {
        state->release(bytes);
        done(std::move(sent));
    });
}

}  // namespace evenkeel
