#include "bench/crowd.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/core.h>

#include "amqp/codec.h"
#include "amqp/message.h"
#include "bench/hub.h"
#include "bench/peer.h"
#include "bench/report.h"
#include "cli/temporary_folder.h"
#include "client/requests.h"
#include "eventhubs/sas.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::bench {
namespace {

constexpr double memory_max_mib = 600;
constexpr double slow_link_max_kib = 128;
constexpr double stalled_seconds = 3;
constexpr double flood_max_mib = 16;

amqp::Buffer token_request(const HubProcess& hub) {
    const SystemClock clock;
    const WallTime expires{clock.wall().milliseconds + 3'600'000};
    const std::string audience = "sb://127.0.0.1/" + hub.event_hub();
    const Secret token(eventhubs::make_sas(audience, "bench", Secret(hub.key()), expires));
    return client::encode_request(client::put_token(audience, token, expires), 1, "cbs");
}

// As SDKs do: two links to $cbs in one session, a token, its answer.
Result<amqp::Link*> show_token(Peer& peer, const HubProcess& hub) {
    amqp::Attach to;
    to.name = "cbs-to";
    to.role = amqp::Role::sender;
    to.source = amqp::terminus(amqp::descriptor::source, "cbs");
    to.target = amqp::terminus(amqp::descriptor::target, eventhubs::node::cbs);
    EK_TRY_ASSIGN(amqp::Link* const sender, peer.attach(std::move(to)));
    amqp::Attach from;
    from.name = "cbs-from";
    from.role = amqp::Role::receiver;
    from.source = amqp::terminus(amqp::descriptor::source, eventhubs::node::cbs);
    from.target = amqp::terminus(amqp::descriptor::target, "cbs");
    EK_TRY_ASSIGN(amqp::Link* const receiver, peer.attach(std::move(from), &sender->session()));
    receiver->grant(10);
    std::optional<bool> good;
    peer.delivered = [&](const amqp::Delivery& delivery) {
        const auto reply = client::decode_reply(delivery.bytes);
        good = reply.ok() && reply->ok();
        receiver->settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
    };
    while (!sender->can_send()) EK_TRY(peer.step());
    sender->send({}, token_request(hub), 0, true);
    while (!good) EK_TRY(peer.step());
    peer.delivered = {};
    if (!*good) return Error{ErrorCode::invalid_argument, "the hub refused the token"};
    EK_TRY(peer.flush());
    return sender;
}

struct Sends {
    double per_second = 0;
    double p99_ms = 0;
};

// To each partition in turn, a batch at a time.
Result<Sends> send_batches(Peer& peer, const std::vector<amqp::Link*>& links, double seconds,
                           std::size_t event_bytes = 1024) {
    const int batch_events = event_bytes <= 1024 ? 64 : 1;
    amqp::Buffer event;
    amqp::Encoder inner(event);
    inner.descriptor(static_cast<std::uint8_t>(amqp::descriptor::data));
    inner.binary(as_bytes(std::string(event_bytes, 'e')));
    amqp::Buffer message;
    amqp::Encoder encoder(message);
    for (int i = 0; i < batch_events; ++i) {
        encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::data));
        encoder.binary(event);
    }
    const SystemClock clock;
    std::vector<double> times;
    int answers = 0;
    peer.disposed = [&](const amqp::Disposition& disposition) {
        if (disposition.state.kind == amqp::DeliveryState::Kind::accepted) ++answers;
    };
    const Instant start = clock.now();
    const auto elapsed = [&](Instant since) {
        return std::chrono::duration<double>(clock.now() - since).count();
    };
    for (std::size_t turn = 0; elapsed(start) < seconds; ++turn) {
        amqp::Link& link = *links[turn % links.size()];
        while (!link.can_send()) EK_TRY(peer.step());
        const Instant sent = clock.now();
        answers = 0;
        link.send({}, message, amqp::batch_format, false);
        while (answers == 0) EK_TRY(peer.step());
        times.push_back(elapsed(sent) * 1e3);
    }
    peer.disposed = {};
    return Sends{static_cast<double>(times.size()) * batch_events / elapsed(start),
                 quantile(times, 0.99)};
}

}  // namespace

Result<Line> measure_idle_connections(const std::string& folder, std::uint32_t connections) {
    constexpr int senders = 3;  // besides the two of $cbs
    EK_TRY_ASSIGN(const auto place, cli::TemporaryFolder::make(folder, "idle"));
    EK_TRY_ASSIGN(const auto hub,
                  HubProcess::start({.data = place->path() + "/hub", .partitions = 4}));
    const double before = hub->resident_mib();
    const SystemClock clock;
    const Instant start = clock.now();
    std::vector<std::unique_ptr<Peer>> peers;
    for (std::uint32_t i = 0; i < connections; ++i) {
        EK_TRY_ASSIGN(auto peer, Peer::connect(hub->port(), {.key = {}, .small = true}));
        EK_TRY(show_token(*peer, *hub));
        for (int partition = 0; partition < senders; ++partition) {
            EK_TRY(
                peer->attach_sender(fmt::format("{}/Partitions/{}", hub->event_hub(), partition)));
        }
        peers.push_back(std::move(peer));
    }
    const double seconds = std::chrono::duration<double>(clock.now() - start).count();
    const double resident = hub->resident_mib();
    Line line{"idle_connections", 0, 0, "hub <= 600 MiB", resident <= memory_max_mib, {}};
    line.more = {{"connections", connections},
                 {"links", connections * (senders + 2.0)},
                 {"hub_mib", resident},
                 {"hub_mib_before", before},
                 {"kib_per_connection", (resident - before) * 1024 / connections},
                 {"connects_per_second", connections / seconds}};
    return line;
}

Result<Line> measure_slow_consumers(const std::string& folder, std::uint32_t links, double seconds,
                                    std::size_t event_bytes) {
    constexpr std::uint32_t partitions = 8;
    constexpr std::uint32_t readers_of_group = 5;  // of one partition
    const std::uint32_t groups = links / (partitions * readers_of_group) + 1;
    EK_TRY_ASSIGN(const auto place, cli::TemporaryFolder::make(folder, "slow"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = place->path() + "/hub",
                                                     .partitions = partitions,
                                                     .groups = groups}));
    EK_TRY_ASSIGN(const auto producer, Peer::connect(hub->port(), {.key = hub->key()}));
    std::vector<amqp::Link*> senders;
    for (std::uint32_t i = 0; i < partitions; ++i) {
        EK_TRY_ASSIGN(amqp::Link* const link, producer->attach_sender(fmt::format(
                                                  "{}/Partitions/{}", hub->event_hub(), i)));
        senders.push_back(link);
    }
    // So that there is plenty to deliver.
    EK_TRY(send_batches(*producer, senders, seconds, event_bytes));
    EK_TRY_ASSIGN(const auto alone, send_batches(*producer, senders, seconds, event_bytes));
    const double before = hub->resident_mib();
    std::vector<std::unique_ptr<Peer>> slow;
    for (std::uint32_t i = 0; i < links; ++i) {
        const std::uint32_t group = i / (partitions * readers_of_group);
        EK_TRY_ASSIGN(auto peer, Peer::connect(hub->port(), {hub->key(), without_end, true}));
        EK_TRY(peer->attach_receiver(fmt::format("{}/ConsumerGroups/g{}/Partitions/{}",
                                                 hub->event_hub(), group, i % partitions),
                                     without_end));
        slow.push_back(std::move(peer));
    }
    // Longer than the hub waits until it lets go of what a client does not take.
    const double stalled = std::max(seconds, stalled_seconds);
    EK_TRY_ASSIGN(const auto beside, send_batches(*producer, senders, stalled, event_bytes));
    const double resident = hub->resident_mib();
    const double kernel_kib = hub->unsent_mib() * 1024 / links;
    const double kib = (resident - before) * 1024 / links + kernel_kib;
    Line line{event_bytes <= 1024 ? "slow_consumers" : "slow_consumers_large",
              beside.per_second,
              alone.per_second,
              "<= 128 KiB a link, p99 <= 1.5 x alone",
              true,
              {}};
    line.met = kib <= slow_link_max_kib && beside.p99_ms <= 1.5 * alone.p99_ms;
    line.more = {
        {"links", links},      {"kib_per_link", kib},         {"of_that_in_kernel", kernel_kib},
        {"hub_mib", resident}, {"ack_p99_ms", beside.p99_ms}, {"ack_p99_ms_alone", alone.p99_ms}};
    return line;
}

namespace {

enum class Flood { attaches, sessions, tokens };

struct Flooded {
    int frames = 0;       // until the hub had enough, or all
    double worst_ms = 0;  // of a send on another connection
    double mib = 0;       // that the hub grew by, at most
};

Result<Flooded> flood(Flood kind, const HubProcess& hub, Peer& other,
                      const std::vector<amqp::Link*>& senders) {
    constexpr int frames_max = 100'000;
    constexpr int frames_at_a_time = 500;
    EK_TRY_ASSIGN(const auto peer, Peer::connect(hub.port(), {.key = {}}));
    EK_TRY_ASSIGN(amqp::Link* const cbs, show_token(*peer, hub));
    const amqp::Buffer token = token_request(hub);
    peer->delivered = [](const amqp::Delivery&) {};
    const double before = hub.resident_mib();
    amqp::Session* session = nullptr;
    Flooded result;
    bool ended = false;
    while (result.frames < frames_max && !ended) {
        for (int i = 0; i < frames_at_a_time && result.frames < frames_max; ++i, ++result.frames) {
            if (kind == Flood::sessions) peer->connection().begin();
            if (kind == Flood::tokens && !cbs->can_send()) break;  // the hub gives no more credit
            if (kind == Flood::tokens) cbs->send({}, token, 0, true);
            if (kind != Flood::attaches) continue;
            amqp::Attach attach;
            attach.name = std::to_string(result.frames);
            attach.role = amqp::Role::sender;
            attach.target = amqp::terminus(amqp::descriptor::target, hub.event_hub());
            if (result.frames % 200 == 0) session = &peer->connection().begin();
            peer->connection().attach(*session, std::move(attach));
        }
        ended = !peer->step().ok();
        EK_TRY_ASSIGN(const auto sends, send_batches(other, senders, 0.001));
        result.worst_ms = std::max(result.worst_ms, sends.p99_ms);
        result.mib = std::max(result.mib, hub.resident_mib() - before);
    }
    return result;
}

}  // namespace

Result<Line> measure_floods(const std::string& folder) {
    EK_TRY_ASSIGN(const auto place, cli::TemporaryFolder::make(folder, "flood"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = place->path() + "/hub"}));
    EK_TRY_ASSIGN(const auto other, Peer::connect(hub->port(), {.key = hub->key()}));
    EK_TRY_ASSIGN(amqp::Link* const link, other->attach_sender(hub->event_hub() + "/Partitions/0"));
    const std::vector<amqp::Link*> senders = {link};
    // Until the end of the partition in memory has its size.
    EK_TRY(send_batches(*other, senders, 1));
    EK_TRY_ASSIGN(const auto alone, send_batches(*other, senders, 1));
    Line line{"floods", 0, 0, "hub + 16 MiB at most, each", true, {}};
    for (const auto& [kind, name] :
         {std::pair{Flood::attaches, "attaches"}, std::pair{Flood::sessions, "sessions"},
          std::pair{Flood::tokens, "tokens"}}) {
        EK_TRY_ASSIGN(const auto flooded, flood(kind, *hub, *other, senders));
        line.met = line.met && flooded.mib <= flood_max_mib;
        line.more.emplace_back(fmt::format("{}_taken", name), flooded.frames);
        line.more.emplace_back(fmt::format("{}_mib", name), flooded.mib);
        line.more.emplace_back(fmt::format("{}_other_worst_ms", name), flooded.worst_ms);
    }
    line.more.emplace_back("ack_p99_ms_alone", alone.p99_ms);
    return line;
}

}  // namespace evenkeel::bench
