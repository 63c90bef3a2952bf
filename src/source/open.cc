#include "source/open.h"

#include "client/options.h"
#include "hub/inside.h"
#include "io/system/network.h"
#include "source/amqp_source.h"
#include "source/embedded_source.h"

namespace evenkeel::source {
namespace {

constexpr std::string_view embedded_scheme = "embedded:";

// A source and what it needs; the parts go after it.
template <typename Parts>
class Owning final : public Source {
public:
    explicit Owning(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

    const Name& name() const override { return parts_->source->name(); }
    bool is_exclusive() const override { return parts_->source->is_exclusive(); }
    void properties(Callback<void(Result<HubProperties>)> answer) override {
        parts_->source->properties(std::move(answer));
    }
    void properties(PartitionId partition,
                    Callback<void(Result<PartitionProperties>)> answer) override {
        parts_->source->properties(partition, std::move(answer));
    }
    void open(PartitionId partition, const Position& position, const ReadOptions& options,
              Callback<void(Result<std::unique_ptr<Reader>>)> answer) override {
        parts_->source->open(partition, position, options, std::move(answer));
    }
    Hub* hub_here() override { return parts_->hub_here(); }
    void close(Task done) override { parts_->source->close(std::move(done)); }

private:
    std::unique_ptr<Parts> parts_;
};

struct AmqpParts {
    AmqpParts(io::system::LoopThread& loop, client::ConnectionOptions options, std::string group)
        : network(loop),
          connection(loop, network, std::move(options)),
          source(std::make_unique<AmqpSource>(connection, std::move(group))) {}

    static Hub* hub_here() { return nullptr; }

    io::system::SystemNetwork network;
    client::Connection connection;
    std::unique_ptr<AmqpSource> source;
};

struct EmbeddedParts {
    EmbeddedParts(io::system::LoopThread& loop, Hub& hub_, hub::Inside inside_, Name name,
                  std::string group)
        : hub(hub_),
          inside(std::move(inside_)),
          source(
              std::make_unique<EmbeddedSource>(EmbeddedPlace{loop, inside.loop, reads, inside.hubs},
                                               std::move(name), std::move(group))) {}
    ~EmbeddedParts() {
        source.reset();
        reads.finish();
        io::system::run_and_wait(inside.loop, [] {});
    }

    Hub* hub_here() const { return &hub; }

    std::unique_ptr<Hub> owned;
    Hub& hub;
    const hub::Inside inside;
    io::system::WorkerThread reads{"read/0"};
    std::unique_ptr<EmbeddedSource> source;
};

Result<std::unique_ptr<Source>> open_embedded(const OpenOptions& options,
                                              io::system::LoopThread& loop) {
    Name name;
    std::unique_ptr<Hub> owned;
    if (options.embedded) {
        name = {"embedded", options.hub};
    } else {
        EK_TRY_ASSIGN(name, parse_embedded(options.hub));
        EK_TRY_ASSIGN(owned, Hub::open({.directory = name.hub_namespace}, options.call));
    }
    Hub& hub = owned ? *owned : *options.embedded;
    EK_TRY(hub.describe(name.event_hub));
    EK_TRY_ASSIGN(auto inside, hub::inside(hub));
    auto parts = std::make_unique<EmbeddedParts>(loop, hub, std::move(inside), std::move(name),
                                                 options.group);
    parts->owned = std::move(owned);
    return std::unique_ptr<Source>(std::make_unique<Owning<EmbeddedParts>>(std::move(parts)));
}

}  // namespace

Result<Name> parse_embedded(std::string_view text) {
    const std::string_view place = text.substr(std::min(embedded_scheme.size(), text.size()));
    const std::size_t slash = place.rfind('/');
    if (!text.starts_with(embedded_scheme) || slash == std::string_view::npos || slash == 0 ||
        slash + 1 == place.size()) {
        return Error{ErrorCode::invalid_argument,
                     "'" + std::string(text) +
                         "' is no hub in this process; write embedded:FOLDER/EVENT-HUB"};
    }
    return Name{std::string(place.substr(0, slash)), std::string(place.substr(slash + 1))};
}

Result<std::unique_ptr<Source>> open_source(const OpenOptions& options,
                                            io::system::LoopThread& loop) {
    if (options.embedded || std::string_view(options.hub).starts_with(embedded_scheme)) {
        return open_embedded(options, loop);
    }
    ClientOptions client = options.client;
    client.connection = options.hub;
    EK_TRY_ASSIGN(auto connection, client::connection_options(client));
    return std::unique_ptr<Source>(std::make_unique<Owning<AmqpParts>>(
        std::make_unique<AmqpParts>(loop, std::move(connection), options.group)));
}

}  // namespace evenkeel::source
