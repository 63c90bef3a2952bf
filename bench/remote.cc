// `bench hub`: a hub that runs elsewhere, through the client library. How many events it stores a
// second, and how long an event takes from the call that sends it to the reader that gets it.
// tidy: no test: run as a real process by the tests of the command line
#include "cli/remote/remote.h"

#include <fmt/core.h>

#include "base/random.h"
#include "bench/bench.h"
#include "bench/load.h"
#include "bench/run.h"
#include "cli/remote/admin_client.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::bench {
namespace {

constexpr std::size_t ingest_batch_events = 500;
constexpr auto silence_max = std::chrono::seconds(10);

// An event hub of our own, which is removed again; never one that was there before.
class OwnHub {
public:
    static Result<std::unique_ptr<OwnHub>> create(const cli::Remote& remote,
                                                  std::uint32_t partitions) {
        std::unique_ptr<OwnHub> hub(new OwnHub(remote));
        EventHubChange wanted;
        wanted.partitions = partitions;
        EK_TRY(hub->admin_.create(hub->name_, wanted));
        hub->is_created_ = true;
        return hub;
    }
    ~OwnHub() {
        if (!is_created_) return;
        if (const auto removed = admin_.remove(name_); !removed.ok()) {
            fmt::print(stderr, "event hub '{}' could not be removed: {}\n", name_,
                       removed.error().detail);
        }
    }
    OwnHub(const OwnHub&) = delete;
    OwnHub& operator=(const OwnHub&) = delete;

    const std::string& name() const { return name_; }

private:
    explicit OwnHub(const cli::Remote& remote)
        : admin_(remote), name_("evenkeel-bench-" + secure_hex(4)) {}

    cli::AdminClient admin_;
    const std::string name_;
    bool is_created_ = false;
};

bool is_local(const std::string& host) {
    return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

Duration as_duration(double seconds) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

Result<Line> measure_ingest(const RemoteHubOptions& options, Producer& producer,
                            std::uint32_t partitions) {
    std::vector<double> rates;
    std::uint64_t left = options.events_max;
    for (int i = 0; i < options.rounds && left > 0; ++i) {
        const EventSize size{options.event_bytes, 0, ingest_batch_events};
        BatchLoad load(producer, partitions, size);
        EK_TRY(load.run(left, as_duration(options.seconds)));
        rates.push_back(load.events_per_second());
        const auto sent = static_cast<std::uint64_t>(load.events_per_second() * options.seconds);
        left -= std::min(left, sent);
    }
    Line line{"ingest", median(rates), 0, "", true, {}};
    line.more = {{"event_bytes", static_cast<double>(options.event_bytes)},
                 {"batch_events", static_cast<double>(ingest_batch_events)},
                 {"partitions", partitions}};
    return line;
}

Result<Line> measure_latency(const RemoteHubOptions& options, Client& client, Producer& producer,
                             std::uint32_t partitions, cli::Interrupt& interrupt) {
    const SystemClock clock;
    std::vector<std::unique_ptr<RemoteReader>> readers;
    for (std::uint32_t i = 0; i < partitions; ++i) {
        EK_TRY_ASSIGN(auto reader, RemoteReader::open(client, options.group, i, Position::latest(),
                                                      {.name = "evenkeel bench"}));
        readers.push_back(std::move(reader));
    }
    std::vector<double> times;
    // True if there was something.
    const auto read_all = [&]() -> Result<bool> {
        bool any = false;
        for (auto& reader : readers) {
            EK_TRY_ASSIGN(const auto batch, reader->read(1000, std::chrono::milliseconds(0)));
            const Instant now = clock.now();
            for (const auto& event : batch) {
                any = true;
                if (event.body().size() != options.event_bytes) continue;  // somebody else's
                times.push_back(seconds_of(now - sent_at(event.body())) * 1e3);
            }
        }
        return any;
    };
    PacedLoad load(producer, {.partitions = partitions,
                              .events_per_second = options.rate,
                              .due_together = 1,
                              .event_bytes = options.event_bytes});
    load.start();
    const Instant start = clock.now();
    const Instant end = start + as_duration(options.seconds * options.rounds);
    while (clock.now() < end && !interrupt.requested()) {
        EK_TRY_ASSIGN(const bool any, read_all());
        if (!any) interrupt.wait(std::chrono::microseconds(200));
    }
    EK_TRY(load.stop());
    const double seconds = seconds_of(clock.now() - start);
    for (Instant last = clock.now(); times.size() < load.events() && !interrupt.requested();) {
        EK_TRY_ASSIGN(const bool any, read_all());
        if (any) last = clock.now();
        if (clock.now() - last > Duration(silence_max)) {
            return Error{ErrorCode::timed_out, fmt::format("only {} of {} events came back",
                                                           times.size(), load.events())};
        }
        if (!any) interrupt.wait(std::chrono::milliseconds(1));
    }
    Line line{"end_to_end", static_cast<double>(times.size()) / seconds, 0, "", true, {}};
    line.more = {{"event_bytes", static_cast<double>(options.event_bytes)},
                 {"p50_ms", quantile(times, 0.5)},
                 {"p99_ms", quantile(times, 0.99)},
                 {"max_ms", quantile(times, 1)}};
    return line;
}

Result<> measure(const RemoteHubOptions& options, const cli::Remote& remote,
                 cli::Interrupt& interrupt, std::vector<Line>& lines) {
    std::unique_ptr<OwnHub> own;
    std::string name = options.event_hub;
    if (name.empty()) {
        EK_TRY_ASSIGN(own, OwnHub::create(remote, options.partitions));
        name = own->name();
    }
    EK_TRY_ASSIGN(const auto properties, cli::first_contact(remote, name));
    EK_TRY_ASSIGN(const auto client, Client::open(cli::client_options(
                                         remote, name, "evenkeel bench", cli::Patience::usual)));
    EK_TRY_ASSIGN(const auto producer, Producer::open(*client));
    fmt::print(stderr, "ingest ...\n");
    EK_TRY_ASSIGN(auto ingest, measure_ingest(options, *producer, properties.partitions));
    lines.push_back(std::move(ingest));
    if (interrupt.wait(Duration(0))) return Error{ErrorCode::cancelled, "interrupted"};
    fmt::print(stderr, "end_to_end ...\n");
    EK_TRY_ASSIGN(auto latency,
                  measure_latency(options, *client, *producer, properties.partitions, interrupt));
    lines.push_back(std::move(latency));
    return {};
}

}  // namespace

cli::ExitCode measure_remote_hub(const RemoteHubOptions& options) {
    cli::RemoteOptions wanted;
    wanted.connection = options.connection;
    wanted.url = options.url;
    wanted.ca_file = options.ca_file;
    const auto remote = cli::remote_of(wanted);
    if (!remote.ok()) return cli::fail("the hub was not measured", remote.error());
    if (!is_local(remote->target.endpoint.host) && !options.yes) {
        return cli::wrong_usage(
            fmt::format("{} is not this machine, and a benchmark is a heavy load",
                        remote->target.endpoint.host),
            "--yes if nobody else needs that hub now");
    }
    if (!options.event_hub.empty()) {
        fmt::print(stderr, "the events stay in event hub '{}'\n", options.event_hub);
    }
    return run_benchmark(
        {}, options.json,
        [&](const std::string&, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return measure(options, *remote, interrupt, lines);
        });
}

}  // namespace evenkeel::bench
