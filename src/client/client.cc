// The public Client and its readers: threads around a Connection, and calls that wait.
// tidy: no test: tests/client tests it against a door
#include <algorithm>

#include "base/awaited.h"
#include "client/options.h"
#include "client/reader_core.h"
#include "client/runtime.h"
#include <evenkeel/consumer.h>

namespace evenkeel {
namespace {

using client::connection_options;
using client::NodeReply;
using client::ReaderCore;
using client::Runtime;
using io::system::run_and_wait;

class LinkedReader final : public RemoteReader {
public:
    LinkedReader(std::shared_ptr<Runtime> runtime, std::unique_ptr<ReaderCore> core)
        : runtime_(std::move(runtime)), core_(std::move(core)) {}
    ~LinkedReader() override {
        run_and_wait(runtime_->loop(), [this] { core_.reset(); });
    }

    Result<EventBatch> read(std::size_t events_max, std::chrono::milliseconds wait,
                            const std::stop_token& stop) override {
        if (events_max == 0) {
            return Error{ErrorCode::invalid_argument, "events_max is 0; ask for 1 or more"};
        }
        EK_TRY(go_ahead(stop));
        Awaited<EventBatch> awaited;
        runtime_->loop().post([&] {
            core_->read(events_max, std::min(wait, forever),
                        [&awaited](Result<EventBatch> batch) { awaited.set(std::move(batch)); });
        });
        if (!awaited.wait(forever, stop))
            run_and_wait(runtime_->loop(), [this] { core_->cancel_read(); });
        return awaited.take();
    }

    void close() override {
        run_and_wait(runtime_->loop(), [this] { core_->close(); });
    }

    std::optional<LastEnqueued> last_enqueued() override {
        std::optional<LastEnqueued> last;
        run_and_wait(runtime_->loop(), [&] { last = core_->last_enqueued(); });
        return last;
    }

private:
    const std::shared_ptr<Runtime> runtime_;
    std::unique_ptr<ReaderCore> core_;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::open(const ClientOptions& options) {
    EK_TRY_ASSIGN(auto connection, connection_options(options));
    return std::unique_ptr<Client>(new Client(std::make_shared<Runtime>(std::move(connection))));
}

Client::Client(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}

Client::~Client() {
    runtime_->close();
}

const std::string& Client::event_hub() const {
    return runtime_->options().target.event_hub;
}

Result<EventHubProperties> Client::properties(const CallOptions& call) {
    EK_TRY_ASSIGN(const auto reply, asked<NodeReply>(call, [this](auto done) {
                      runtime_->loop().post([this, done]() mutable {
                          runtime_->connection().read_event_hub(std::move(done));
                      });
                  }));
    return client::decode_event_hub(reply.body);
}

Result<PartitionInfo> Client::properties(std::uint32_t partition, const CallOptions& call) {
    EK_TRY_ASSIGN(const auto reply, asked<NodeReply>(call, [&](auto done) {
                      runtime_->loop().post([this, partition, done]() mutable {
                          runtime_->connection().read_partition(partition, std::move(done));
                      });
                  }));
    return client::decode_partition(reply.body);
}

Result<std::unique_ptr<RemoteReader>> RemoteReader::open(Client& client, std::string_view group,
                                                         std::uint32_t partition, Position position,
                                                         RemoteReaderOptions options,
                                                         const CallOptions& call) {
    if (options.prefetch_events == 0 || options.prefetch_bytes == 0) {
        return Error{ErrorCode::invalid_argument, "a reader prefetches 1 event and 1 byte or more"};
    }
    if (options.epoch && *options.epoch < 0) {
        return Error{ErrorCode::invalid_argument, "an epoch is 0 or more"};
    }
    const std::shared_ptr<Runtime> runtime = client::Access::runtime(client);
    std::unique_ptr<ReaderCore> core;
    ReaderCore* made = nullptr;
    run_and_wait(runtime->loop(), [&] {
        core = std::make_unique<ReaderCore>(runtime->connection(), group, partition, position,
                                            options);
        made = core.get();
    });
    // Destroyed on the loop, if it is refused or given up.
    auto reader = std::make_unique<LinkedReader>(runtime, std::move(core));
    EK_TRY(asked<void>(call, [&](auto done) {
        runtime->loop().post([made, done]() mutable { made->open(std::move(done)); });
    }));
    return std::unique_ptr<RemoteReader>(std::move(reader));
}

}  // namespace evenkeel
