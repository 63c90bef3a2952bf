// The public BufferedProducer: a thread-safe shell around the loop's Buffer.
// tidy: no test: tests/client tests it against a door
#include <algorithm>

#include <fmt/core.h>

#include "base/awaited.h"
#include "base/budget.h"
#include "client/runtime.h"
#include "eventhubs/encoding.h"
#include "io/timer.h"
#include "producer/buffer.h"
#include "producer/inbox.h"
#include "producer/numbering.h"
#include "producer/route.h"
#include <evenkeel/buffered_producer.h>

namespace evenkeel {

namespace {

using client::Runtime;
using io::system::run_and_wait;

// Between two looks of the loop at what was enqueued; part of the time that an event may wait.
constexpr Duration look_period_max = std::chrono::milliseconds(2);
// At most, of a message beside its events and the key itself.
constexpr std::size_t route_bytes_max = 64;

class LinkedBuffer final : public BufferedProducer {
public:
    LinkedBuffer(std::unique_ptr<Client> own, std::shared_ptr<Runtime> runtime,
                 BufferedProducerOptions options)
        : own_(std::move(own)),
          runtime_(std::move(runtime)),
          options_(std::move(options)),
          look_period_(std::min(Duration(options_.wait_max) / 4, look_period_max)),
          budget_(options_.events_max, options_.bytes_max) {}
    ~LinkedBuffer() override {
        budget_.close();
        run_and_wait(runtime_->loop(), [this] {
            look_timer_.reset();
            buffer_.reset();
            core_.reset();
        });
    }

    Result<> connect(const CallOptions& call) {
        return asked<void>(call, [this](auto done) {
            runtime_->loop().post([this, done] {
                // Order is the buffer's to keep; the senders take what it gives them.
                core_ =
                    std::make_unique<producer::Core>(runtime_->connection(), options_.in_flight_max,
                                                     producer::SenderOptions{options_.idempotent});
                buffer_ = std::make_unique<producer::Buffer>(
                    runtime_->loop(), *core_,
                    producer::BufferOptions{options_.wait_max - look_period_,
                                            options_.in_flight_max, event_overhead()},
                    [this](const Result<>& result, const SendBatch& batch) {
                        settle(result, batch);
                    });
                look_timer_ = std::make_unique<io::Timer>(runtime_->loop());
                core_->open([this, done](Result<> opened) {
                    message_bytes_max_ = core_->message_bytes_max();
                    done(std::move(opened));
                });
            });
        });
    }

    Result<> enqueue(const EventData& event, Route route, const CallOptions& call) override {
        return add(event, route, &call);
    }
    Result<> try_enqueue(const EventData& event, Route route) override {
        return add(event, route, nullptr);
    }

    Result<> flush(const CallOptions& call) override {
        EK_TRY(go_ahead(call.stop));
        const auto flush = std::make_shared<Flush>();
        runtime_->loop().post([this, flush] {
            collect();
            buffer_->flush([this, flush] {
                if (flush->is_given_up) return;
                flush->answer.set(failure_ ? Result<>(*failure_) : Result<>());
                failure_.reset();
            });
        });
        if (!flush->answer.wait(call.timeout, call.stop)) {
            run_and_wait(runtime_->loop(), [&] { flush->is_given_up = true; });
        }
        return flush->answer.take(std::chrono::milliseconds(0), call.stop);
    }

private:
    struct Flush {
        Awaited<> answer;
        bool is_given_up = false;  // on the loop: the failure is left for the next flush
    };

    // Without `call` it does not wait.
    Result<> add(const EventData& event, const Route& route, const CallOptions* call) {
        if (runtime_->is_closed()) return Error{ErrorCode::cancelled, "the client was closed"};
        EK_TRY(producer::check_route(route));
        std::vector<std::byte> section;
        const std::size_t content_bytes = eventhubs::content_bytes(event);
        if (content_bytes <= message_bytes_max_) {
            section.reserve(content_bytes + route_bytes_max);
            eventhubs::append_event(event, section);
        }
        if (section.empty() || !fits(route, section.size() + event_overhead())) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("an event of {} bytes; the hub takes {} with all that belongs "
                                     "to it",
                                     content_bytes, message_bytes_max_)};
        }
        if (call) {
            EK_TRY(budget_.take(section.size(), call->timeout, call->stop));
        } else if (!budget_.try_take(section.size())) {
            return Error{ErrorCode::overloaded, "too much waits to be sent already"};
        }
        if (inbox_.add(route, section)) {
            runtime_->loop().post([this] { collect(); });
        }
        return {};
    }

    // Most events are far below the limit, and need no exact sum.
    bool fits(const Route& route, std::size_t bytes) const {
        if (bytes + route.partition_key.size() + route_bytes_max <= message_bytes_max_) return true;
        return SendBatch(route, 0).size_bytes() + bytes <= message_bytes_max_;
    }

    // On the loop: what was enqueued goes to its batches. SEND-5
    void collect() {
        if (!buffer_) return;
        const bool looks_again = look_period_ > Duration(0);
        inbox_.take(taken_, looks_again);
        if (looks_again && !taken_.empty()) {
            look_timer_->run_after(look_period_, [this] { collect(); });
        }
        taken_.for_each([this](auto partition, std::string_view key, ByteView section) {
            buffer_->add(partition, key, section);
        });
        taken_.clear();
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
    const Duration look_period_;  // 0: the loop is woken for each event that finds it idle
    Budget budget_;
    std::size_t message_bytes_max_ = 0;
    producer::Inbox inbox_;
    // Pinned to the loop.
    producer::Inbox::Events taken_;
    std::unique_ptr<io::Timer> look_timer_;
    std::unique_ptr<producer::Core> core_;
    std::unique_ptr<producer::Buffer> buffer_;
    std::optional<Error> failure_;  // the first since the last flush
};

Result<std::unique_ptr<BufferedProducer>> connected_buffer(std::unique_ptr<Client> own,
                                                           Client& client,
                                                           BufferedProducerOptions options,
                                                           const CallOptions& call) {
    if (options.in_flight_max == 0 || options.events_max == 0 || options.bytes_max == 0) {
        return Error{ErrorCode::invalid_argument, "a limit of a buffered producer is 0"};
    }
    auto made = std::make_unique<LinkedBuffer>(std::move(own), client::Access::runtime(client),
                                               std::move(options));
    EK_TRY(made->connect(call));
    return std::unique_ptr<BufferedProducer>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<BufferedProducer>> BufferedProducer::open(Client& client,
                                                                 BufferedProducerOptions options,
                                                                 const CallOptions& call) {
    return connected_buffer(nullptr, client, std::move(options), call);
}

Result<std::unique_ptr<BufferedProducer>> BufferedProducer::open(const ClientOptions& connection,
                                                                 BufferedProducerOptions options,
                                                                 const CallOptions& call) {
    EK_TRY_ASSIGN(auto client, Client::open(connection));
    Client& own = *client;
    return connected_buffer(std::move(client), own, std::move(options), call);
}

}  // namespace evenkeel
