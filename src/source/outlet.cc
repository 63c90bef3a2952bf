#include "source/outlet.h"

#include <limits>
#include <optional>

#include "base/lifetime.h"
#include "client/options.h"
#include "hub/inside.h"
#include "io/system/network.h"
#include "producer/batch_access.h"
#include "producer/core.h"
#include <evenkeel/producer.h>

namespace evenkeel::source {
namespace {

class AmqpOutlet final : public Outlet {
public:
    AmqpOutlet(io::system::LoopThread& loop, client::ConnectionOptions options)
        : loop_(loop), network_(loop), connection_(loop, network_, std::move(options)) {}

    void open(Callback<void(Result<>)> done) override {
        sender().open([this, done = std::move(done)](Result<> opened) mutable {
            later(std::move(done), std::move(opened));
        });
    }

    void send(std::vector<std::byte> sections, std::string partition_key,
              Callback<void(Result<>)> done) override {
        using producer::BatchAccess;
        SendBatch batch({.partition_key = partition_key}, std::numeric_limits<std::size_t>::max());
        BatchAccess::try_add(batch, BatchAccess::in_batch(sections));
        sender().send(std::nullopt,
                      std::make_shared<const std::vector<std::byte>>(BatchAccess::message(batch)),
                      [this, done = std::move(done)](Result<> sent) mutable {
                          later(std::move(done), std::move(sent));
                      });
    }

    void close(Task done) override {
        core_.reset();
        connection_.stop(std::move(done));
    }

private:
    producer::Core& sender() {
        loop_.check_here();
        if (!core_) core_.emplace(connection_, 1);
        return *core_;
    }
    // Not within the call, and not from within the sender.
    void later(Callback<void(Result<>)> done, Result<> result) {
        loop_.post(lifetime_.guard([done = std::move(done), result = std::move(result)]() mutable {
            done(std::move(result));
        }));
    }

    io::system::LoopThread& loop_;
    io::system::SystemNetwork network_;
    client::Connection connection_;
    std::optional<producer::Core> core_;
    Lifetime lifetime_;  // the last member
};

class EmbeddedOutlet final : public Outlet {
public:
    EmbeddedOutlet(io::system::LoopThread& loop, hub::Inside inside, std::string event_hub)
        : loop_(loop), inside_(std::move(inside)), event_hub_(std::move(event_hub)) {}
    // On the hub's loop, so that no answer from there finds it half gone.
    ~EmbeddedOutlet() override {
        io::system::run_and_wait(inside_.loop, [this] { lifetime_.end(); });
    }

    void open(Callback<void(Result<>)> done) override {
        inside_.loop.post(lifetime_.guard([this, done = std::move(done)]() mutable {
            const auto found = inside_.hubs.find(event_hub_);
            answer(std::move(done), found.ok() ? Result<>() : Result<>(found.error()));
        }));
    }

    void send(std::vector<std::byte> sections, std::string partition_key,
              Callback<void(Result<>)> done) override {
        inside_.loop.post(
            lifetime_.guard([this, watch = lifetime_.watch(), sections = std::move(sections),
                             key = std::move(partition_key), done = std::move(done)]() mutable {
                const auto found = inside_.hubs.find(event_hub_);
                if (!found.ok()) return answer(std::move(done), found.error());
                const auto partition = (*found)->route(std::nullopt, key);
                if (!partition.ok()) return answer(std::move(done), partition.error());
                const commitlog::NewEvent event{as_bytes(key), sections};
                (*found)->append(
                    *partition, {&event, 1},
                    [this, watch,
                     done = std::move(done)](const Result<commitlog::Appended>& appended) mutable {
                        if (watch.over()) return;
                        answer(std::move(done),
                               appended.ok() ? Result<>() : Result<>(appended.error()));
                    });
            }));
    }

    void close(Task done) override { loop_.post(std::move(done)); }

private:
    // On the hub's loop.
    void answer(Callback<void(Result<>)> done, Result<> result) {
        loop_.post([done = std::move(done), result = std::move(result)]() mutable {
            done(std::move(result));
        });
    }

    io::system::LoopThread& loop_;
    const hub::Inside inside_;
    const std::string event_hub_;
    Lifetime lifetime_;  // the last member
};

}  // namespace

Result<std::unique_ptr<Outlet>> open_outlet(const OutletOptions& options,
                                            io::system::LoopThread& loop) {
    if (options.embedded) {
        EK_TRY_ASSIGN(auto inside, hub::inside(*options.embedded));
        return std::unique_ptr<Outlet>(
            std::make_unique<EmbeddedOutlet>(loop, std::move(inside), options.event_hub));
    }
    ClientOptions client = options.client;
    client.event_hub.clear();
    if (!options.event_hub.empty()) {
        // The hub that the connection string names is not the one to send to.
        EK_TRY_ASSIGN(const auto target, eventhubs::parse_connection_string(client.connection));
        if (target.event_hub.empty()) client.event_hub = options.event_hub;
    }
    EK_TRY_ASSIGN(auto connection, client::connection_options(client));
    if (!options.event_hub.empty()) connection.target.event_hub = options.event_hub;
    return std::unique_ptr<Outlet>(std::make_unique<AmqpOutlet>(loop, std::move(connection)));
}

}  // namespace evenkeel::source
