#include <algorithm>
#include <cstdio>
#include <deque>

#include <fmt/core.h>

#include "amqp/codec.h"
#include "base/mutex.h"
#include "base/random.h"
#include "bench/bench.h"
#include "bench/crowd.h"
#include "bench/hub.h"
#include "bench/load.h"
#include "bench/log_rig.h"
#include "bench/peer.h"
#include "bench/run.h"
#include "cli/temporary_folder.h"
#include "eventhubs/arrival.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::bench {
namespace {

constexpr std::size_t bare_write_bytes = std::size_t{128} << 10;

constexpr EventSize small{100, 1'000'000, 1000};
constexpr EventSize large{1024, 150'000, 256};
constexpr EventSize huge{250'000, 800, 1};

class AmqpBench {
public:
    AmqpBench(const AmqpOptions& options, std::string folder, cli::Interrupt& interrupt,
              std::vector<Line>& lines)
        : options_(options), folder_(std::move(folder)), interrupt_(interrupt), lines_(lines) {}

    Result<> run() {
        if (wanted("deliver_100b")) {
            EK_TRY(deliver("deliver_100b", small, ">= 5 M/s, ratio >= 0.30", 5e6, 0.30));
        }
        if (wanted("deliver_1k")) EK_TRY(deliver("deliver_1k", large, "ratio >= 0.60", 0, 0.60));
        if (wanted("deliver_250k")) EK_TRY(deliver("deliver_250k", huge, "", 0, 0));
        if (wanted("read_100b")) EK_TRY(read("read_100b", small));
        if (wanted("ingest_100b")) {
            EK_TRY(ingest("ingest_100b", small, ">= 1.5 M/s, ratio >= 0.80", 1.5e6));
        }
        if (wanted("ingest_1k")) {
            EK_TRY(ingest("ingest_1k", large, ">= 0.4 M/s, ratio >= 0.80", 0.4e6));
        }
        if (wanted("ingest_16_256_1024")) EK_TRY(ingest_spread());
        if (wanted("single_sends")) EK_TRY(single_sends());
        if (wanted("one_send")) EK_TRY(one_send());
        if (wanted("idle_connections")) {
            EK_TRY_ASSIGN(const auto line, measure_idle_connections(folder_, options_.connections));
            lines_.push_back(line);
        }
        if (wanted("slow_consumers")) {
            EK_TRY_ASSIGN(const auto line,
                          measure_slow_consumers(folder_, options_.slow_links, options_.seconds));
            lines_.push_back(line);
        }
        if (wanted("slow_consumers_large")) {
            EK_TRY_ASSIGN(const auto line,
                          measure_slow_consumers(folder_, options_.slow_links / 5, options_.seconds,
                                                 huge.event_bytes));
            lines_.push_back(line);
        }
        if (wanted("floods")) {
            EK_TRY_ASSIGN(const auto line, measure_floods(folder_));
            lines_.push_back(line);
        }
        return {};
    }

private:
    bool wanted(std::string_view name) {
        const bool wanted = name.find(options_.only) != std::string_view::npos;
        if (wanted) fmt::print(stderr, "{} ...\n", name);
        return wanted;
    }

    Result<> deliver(const std::string& name, const EventSize& size, const std::string& goal,
                     double per_second, double ratio);
    Result<> read(const std::string& name, const EventSize& size);
    Result<> ingest(const std::string& name, const EventSize& size, const std::string& goal,
                    double per_second);
    struct Ingested {
        std::vector<double> rate;    // events per second, by round
        std::vector<double> hub_ns;  // CPU time of the hub for each event
    };
    Result<> ingest_once(const EventSize& size, std::uint32_t partitions, Ingested& ingested);
    Result<> ingest_spread();
    Result<> single_sends();
    Result<> one_send();

    Duration round() const {
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(options_.seconds));
    }
    Result<> fill(const HubProcess& hub, const EventSize& size);
    Result<double> log_events_per_second(const EventSize& size, std::uint32_t partitions);
    struct Syncs {
        double median_ms = 0;
        double p99_ms = 0;
    };
    Result<Syncs> time_syncs();
    Result<> stop_if_asked() {
        if (!interrupt_.wait(Duration(0))) return {};
        return Error{ErrorCode::cancelled, "interrupted"};
    }

    const AmqpOptions options_;
    const std::string folder_;
    cli::Interrupt& interrupt_;
    std::vector<Line>& lines_;
    const SystemClock clock_;
};

// All of them to one partition.
Result<> AmqpBench::fill(const HubProcess& hub, const EventSize& size) {
    EK_TRY_ASSIGN(const auto producer, Producer::open(hub.connection_string()));
    BatchLoad load(*producer, 1, size);
    return load.run(size.stored_events, std::chrono::minutes(5));
}

// One link that reads the partition from its beginning to its end, again and again.
Result<> AmqpBench::deliver(const std::string& name, const EventSize& size, const std::string& goal,
                            double per_second, double ratio) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "deliver"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub"}));
    EK_TRY(fill(*hub, size));
    EK_TRY_ASSIGN(auto bare, BareSource::start(bare_write_bytes));
    const std::uint64_t events =
        (size.stored_events + size.batch_events - 1) / size.batch_events * size.batch_events;
    std::vector<double> ours;
    std::vector<double> limit;
    std::vector<double> hub_ns;
    std::uint64_t wire_bytes = 0;
    for (int i = 0; i < options_.rounds; ++i) {
        const double cpu_before = hub->cpu_seconds();
        double seconds = 0;
        std::uint64_t passes = 0;
        for (; seconds < options_.seconds; ++passes) {
            EK_TRY_ASSIGN(const auto peer, Peer::connect(hub->port(), {hub->key(), without_end}));
            std::uint64_t count = 0;
            std::uint64_t wrong = 0;
            std::int64_t last = -1;
            peer->delivered = [&](const amqp::Delivery& delivery) {
                wrong += delivery.bytes.size() < size.event_bytes ? 1 : 0;
                if (++count < events) return;
                const auto arrival = eventhubs::decode_arrival(delivery.bytes);
                last = arrival.ok() ? arrival->event.sequence_number : -1;
            };
            const Instant start = clock_.now();
            EK_TRY(peer->attach_receiver(hub->event_hub() + "/ConsumerGroups/$Default/Partitions/0",
                                         without_end));
            while (count < events) EK_TRY(peer->step());
            seconds += seconds_of(clock_.now() - start);
            wire_bytes = peer->received_bytes();
            if (wrong > 0 || last != static_cast<std::int64_t>(events) - 1) {
                return Error{ErrorCode::corrupt, "events came short or out of place"};
            }
            EK_TRY(stop_if_asked());
        }
        const double total = static_cast<double>(passes * events);
        hub_ns.push_back((hub->cpu_seconds() - cpu_before) / total * 1e9);
        ours.push_back(total / seconds);
        EK_TRY_ASSIGN(const double bytes, bare.bytes_per_second(round()));
        limit.push_back(bytes * static_cast<double>(events) / static_cast<double>(wire_bytes));
    }
    Line line{name, median(ours), median(limit), goal, true, {}};
    line.met = line.events_per_second >= per_second && line.ratio() >= ratio;
    line.more = {
        {"event_bytes", static_cast<double>(size.event_bytes)},
        {"wire_bytes_per_event", static_cast<double>(wire_bytes) / static_cast<double>(events)},
        {"hub_cpu_ns_per_event", median(hub_ns)},
        {"events_per_second_min", *std::min_element(ours.begin(), ours.end())},
        {"events_per_second_max", *std::max_element(ours.begin(), ours.end())}};
    lines_.push_back(line);
    return {};
}

// The same through the client library, into the hands of its caller.
Result<> AmqpBench::read(const std::string& name, const EventSize& size) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "read"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub"}));
    EK_TRY(fill(*hub, size));
    EK_TRY_ASSIGN(const auto client, Client::open(hub->connection_string()));
    std::vector<double> ours;
    for (int i = 0; i < options_.rounds; ++i) {
        EK_TRY_ASSIGN(const auto reader,
                      RemoteReader::open(*client, "$Default", 0, Position::earliest(),
                                         {.prefetch_events = 50'000}));
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        const Instant start = clock_.now();
        while (count < size.stored_events) {
            EK_TRY_ASSIGN(const auto batch, reader->read(10'000, std::chrono::seconds(10)));
            if (batch.empty()) return Error{ErrorCode::timed_out, "nothing came"};
            for (const auto& event : batch) bytes += event.body().size();
            count += batch.size();
        }
        ours.push_back(static_cast<double>(count) / seconds_of(clock_.now() - start));
        if (bytes != count * size.event_bytes) return Error{ErrorCode::corrupt, "short events"};
        EK_TRY(stop_if_asked());
    }
    Line line{name, median(ours), 0, "", true, {}};
    line.more = {{"event_bytes", static_cast<double>(size.event_bytes)}};
    lines_.push_back(line);
    return {};
}

// What the log alone makes durable, with the same batches, in this process.
Result<double> AmqpBench::log_events_per_second(const EventSize& size, std::uint32_t partitions) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "log"));
    EK_TRY_ASSIGN(
        const auto rig,
        LogRig::make(folder->path(), {.partitions = partitions, .disk_threads = 2, .log = {}}));
    AppendLoad load(*rig, {.writers = 4 * partitions,
                           .batch_events = size.batch_events,
                           .event_bytes = size.event_bytes});
    load.start();
    interrupt_.wait(std::chrono::milliseconds(200));
    const std::uint64_t before = load.events();
    const Instant start = clock_.now();
    interrupt_.wait(round());
    const double rate =
        static_cast<double>(load.events() - before) / seconds_of(clock_.now() - start);
    EK_TRY(load.stop());
    EK_TRY(stop_if_asked());
    return rate;
}

Result<> AmqpBench::ingest(const std::string& name, const EventSize& size, const std::string& goal,
                           double per_second) {
    constexpr std::uint32_t partitions = 16;
    Ingested ingested;
    const auto& ours = ingested.rate;
    std::vector<double> limit;
    for (int i = 0; i < options_.rounds; ++i) {
        EK_TRY(ingest_once(size, partitions, ingested));
        EK_TRY_ASSIGN(const double log, log_events_per_second(size, partitions));
        limit.push_back(log);
    }
    Line line{name, median(ours), median(limit), goal, true, {}};
    line.met = line.events_per_second >= per_second && line.ratio() >= 0.80;
    line.more = {{"event_bytes", static_cast<double>(size.event_bytes)},
                 {"batch_events", static_cast<double>(size.batch_events)},
                 {"partitions", partitions},
                 {"hub_cpu_ns_per_event", median(ingested.hub_ns)},
                 {"events_per_second_min", *std::min_element(ours.begin(), ours.end())},
                 {"events_per_second_max", *std::max_element(ours.begin(), ours.end())}};
    lines_.push_back(line);
    return {};
}

Result<> AmqpBench::ingest_once(const EventSize& size, std::uint32_t partitions,
                                Ingested& ingested) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "ingest"));
    EK_TRY_ASSIGN(const auto hub,
                  HubProcess::start({.data = folder->path() + "/hub", .partitions = partitions}));
    EK_TRY_ASSIGN(const auto producer, Producer::open(hub->connection_string()));
    BatchLoad warm(*producer, partitions, size);
    EK_TRY(warm.run(without_end, std::chrono::milliseconds(200)));
    const double cpu_before = hub->cpu_seconds();
    BatchLoad load(*producer, partitions, size);
    EK_TRY(load.run(without_end, round()));
    ingested.rate.push_back(load.events_per_second());
    ingested.hub_ns.push_back((hub->cpu_seconds() - cpu_before) /
                              (load.events_per_second() * options_.seconds) * 1e9);
    return stop_if_asked();
}

// The same number of events under way, spread over more and more partitions, in turn; what 16
// partitions take is the limit of the others.
Result<> AmqpBench::ingest_spread() {
    constexpr std::uint32_t all_partitions[] = {16, 256, 1024};
    constexpr std::size_t under_way = 16'384;
    Ingested ingested[std::size(all_partitions)];
    const auto batch_events = [](std::uint32_t partitions) {
        return under_way / partitions / BatchLoad::under_way;
    };
    for (int i = 0; i < options_.rounds; ++i) {
        for (std::size_t n = 0; n < std::size(all_partitions); ++n) {
            const EventSize size{small.event_bytes, 0, batch_events(all_partitions[n])};
            EK_TRY(ingest_once(size, all_partitions[n], ingested[n]));
        }
    }
    const double limit = median(ingested[0].rate);
    for (std::size_t n = 0; n < std::size(all_partitions); ++n) {
        const auto partitions = all_partitions[n];
        Line line{fmt::format("ingest_{}", partitions),
                  median(ingested[n].rate),
                  n == 0 ? 0 : limit,
                  n == 0 ? "" : "ratio >= 0.70 of 16 partitions",
                  true,
                  {}};
        line.met = n == 0 || line.ratio() >= 0.70;
        line.more = {{"event_bytes", static_cast<double>(small.event_bytes)},
                     {"batch_events", static_cast<double>(batch_events(partitions))},
                     {"partitions", partitions},
                     {"hub_cpu_ns_per_event", median(ingested[n].hub_ns)}};
        line.acknowledged_by = "disk: synced journal or segment";
        lines_.push_back(line);
    }
    return {};
}

// A small write and fdatasync, again and again, on a file that grows.
Result<AmqpBench::Syncs> AmqpBench::time_syncs() {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "sync"));
    io::system::SystemFiles files;
    EK_TRY_ASSIGN(const auto file, files.open(folder->path() + "/raw", io::OpenMode::create));
    const std::vector<std::byte> bytes(4096, std::byte{'s'});
    std::vector<double> times;
    std::uint64_t at = 0;
    for (const Instant start = clock_.now(); clock_.now() - start < round();) {
        const Instant before = clock_.now();
        EK_TRY(file->write(at, bytes));
        EK_TRY(file->sync());
        at += bytes.size();
        times.push_back(seconds_of(clock_.now() - before) * 1e3);
    }
    return Syncs{quantile(times, 0.5), quantile(times, 0.99)};
}

// One event a message, 64 of them not yet acknowledged, on one link to one partition.
Result<> AmqpBench::single_sends() {
    constexpr std::size_t in_flight = 64;
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "single"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub"}));
    EK_TRY_ASSIGN(const auto peer, Peer::connect(hub->port(), {hub->key()}));
    EK_TRY_ASSIGN(amqp::Link* const link, peer->attach_sender(hub->event_hub() + "/Partitions/0"));
    amqp::Buffer message;
    amqp::Encoder encoder(message);
    encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::data));
    encoder.binary(as_bytes(std::string(256, 'e')));
    std::vector<double> p99;
    std::vector<double> p50;
    std::vector<double> rate;
    std::vector<double> limit;
    std::vector<double> sync_p50;
    std::vector<double> sync_p99;
    for (int i = 0; i < options_.rounds; ++i) {
        std::deque<std::pair<std::uint32_t, Instant>> waiting;
        std::vector<double> times;
        std::uint64_t refused = 0;
        peer->disposed = [&](const amqp::Disposition& disposition) {
            const std::uint32_t last = disposition.last.value_or(disposition.first);
            const Instant now = clock_.now();
            if (disposition.state.kind != amqp::DeliveryState::Kind::accepted) ++refused;
            std::erase_if(waiting, [&](const auto& one) {
                if (one.first - disposition.first > last - disposition.first) return false;
                times.push_back(seconds_of(now - one.second) * 1e3);
                return true;
            });
        };
        const Instant start = clock_.now();
        while (clock_.now() - start < round()) {
            while (waiting.size() < in_flight && link->can_send()) {
                waiting.emplace_back(link->send({}, message, 0, false), clock_.now());
            }
            EK_TRY(peer->step());
        }
        while (!waiting.empty()) EK_TRY(peer->step());
        if (refused > 0) return Error{ErrorCode::unavailable, "sends were refused"};
        rate.push_back(static_cast<double>(times.size()) / seconds_of(clock_.now() - start));
        p50.push_back(quantile(times, 0.5));
        p99.push_back(quantile(times, 0.99));
        EK_TRY_ASSIGN(const auto syncs, time_syncs());
        sync_p50.push_back(syncs.median_ms);
        sync_p99.push_back(syncs.p99_ms);
        limit.push_back(1e3 / syncs.median_ms);
        EK_TRY(stop_if_asked());
    }
    Line line{
        "single_sends", median(rate), median(limit), "ack p99 <= 3 x fdatasync + 1 ms", true, {}};
    line.met = median(p99) <= 3 * median(sync_p50) + 1;
    line.more = {{"in_flight", in_flight},
                 {"p50_ms", median(p50)},
                 {"p99_ms", median(p99)},
                 {"partitions", 1},
                 {"fdatasync_p50_ms", median(sync_p50)},
                 {"fdatasync_p99_ms", median(sync_p99)}};
    lines_.push_back(line);
    return {};
}

// One event at a time by the client library: the next one when the last is acknowledged.
Result<> AmqpBench::one_send() {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "one"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub"}));
    EK_TRY_ASSIGN(const auto producer, Producer::open(hub->connection_string()));
    const std::string body(small.event_bytes, 'e');
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> rate;
    std::vector<double> sync_p50;
    for (int i = 0; i < options_.rounds; ++i) {
        std::vector<double> times;
        const Instant start = clock_.now();
        while (clock_.now() - start < round()) {
            const Instant sent = clock_.now();
            EK_TRY(producer->send(body, {.partition = 0, .partition_key = {}}));
            times.push_back(seconds_of(clock_.now() - sent) * 1e3);
        }
        rate.push_back(static_cast<double>(times.size()) / seconds_of(clock_.now() - start));
        p50.push_back(quantile(times, 0.5));
        p99.push_back(quantile(times, 0.99));
        EK_TRY_ASSIGN(const auto syncs, time_syncs());
        sync_p50.push_back(syncs.median_ms);
        EK_TRY(stop_if_asked());
    }
    Line line{"one_send", median(rate), 1e3 / median(sync_p50), "p50 <= 0.25 ms", true, {}};
    line.met = median(p50) <= 0.25;
    line.more = {{"p50_ms", median(p50)},
                 {"p99_ms", median(p99)},
                 {"fdatasync_p50_ms", median(sync_p50)},
                 {"event_bytes", static_cast<double>(small.event_bytes)},
                 {"partitions", 1}};
    line.acknowledged_by = "disk: synced journal or segment";
    lines_.push_back(line);
    return {};
}

}  // namespace

cli::ExitCode measure_amqp(const AmqpOptions& options) {
    return run_benchmark(
        options.data, options.json,
        [&](const std::string& folder, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return AmqpBench(options, folder, interrupt, lines).run();
        });
}

}  // namespace evenkeel::bench
