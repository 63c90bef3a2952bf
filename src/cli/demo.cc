#include "cli/demo.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <latch>
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"
#include "cli/demo_producer.h"
#include "cli/demo_reader.h"
#include "cli/demo_view.h"
#include "cli/interrupt.h"
#include "cli/temporary_folder.h"
#include "cli/verdict.h"
#include "io/system/files.h"
#include <evenkeel/hub.h>

namespace evenkeel::cli {
namespace {

constexpr Duration look_interval = std::chrono::milliseconds(200);
constexpr Duration purge_interval = std::chrono::seconds(5);
// Behind what was read, when old events are removed.
constexpr std::int64_t kept_events = 10'000;

struct Failure {
    std::string what;
    Error error;
    std::string hint;
};

class Demo {
public:
    Demo(const DemoOptions& options, Interrupt& interrupt)
        : options_(options), interrupt_(interrupt) {
        std::array<std::byte, 8> random;
        secure_bytes(random);
        run_ = load<std::uint64_t>(random.data());
    }
    ~Demo() {
        producers_.clear();
        readers_.clear();
        hub_.reset();
    }

    std::optional<Failure> open();
    void run();
    Verdict judge() const;
    std::optional<Error> first_error() const;

private:
    Result<> prepare_event_hub();
    Result<> open_readers();
    void start_producers();
    void stop_producers();
    void finish_readers();
    void purge_what_was_read();

    const DemoOptions options_;
    Interrupt& interrupt_;
    const SystemClock clock_;
    std::uint64_t run_ = 0;
    std::uint32_t partitions_ = 0;
    std::unique_ptr<TemporaryFolder> temporary_;  // outlives the hub
    std::unique_ptr<Hub> hub_;
    std::unique_ptr<Traffic> traffic_;
    std::vector<std::int64_t> last_before_;  // sequence numbers, by partition
    std::vector<std::unique_ptr<DemoReader>> readers_;
    std::vector<std::unique_ptr<DemoProducer>> producers_;
    Duration ran_{};
};

std::optional<Failure> Demo::open() {
    HubOptions hub;
    hub.directory = options_.data;
    if (options_.data.empty()) {
        auto folder = TemporaryFolder::make({}, "demo");
        if (!folder.ok()) {
            return Failure{"cannot make a temporary folder", folder.error(),
                           "set TMPDIR, or give --data DIR"};
        }
        temporary_ = std::move(*folder);
        hub.directory = temporary_->path();
    }
    const Instant before = clock_.now();
    auto opened = Hub::open(hub);
    if (!opened.ok()) {
        return Failure{"cannot open the hub in " + hub.directory, opened.error(),
                       opened.error().code == ErrorCode::conflict
                           ? "end the other process, or give another folder with --data"
                           : "--data DIR with a folder that you may write to"};
    }
    hub_ = std::move(*opened);
    const auto took = std::chrono::duration<double, std::milli>(clock_.now() - before).count();
    if (const auto result = prepare_event_hub(); !result.ok()) {
        return Failure{fmt::format("cannot use event hub '{}'", options_.event_hub), result.error(),
                       "another name with --hub"};
    }
    traffic_ = std::make_unique<Traffic>(partitions_);
    if (const auto result = open_readers(); !result.ok()) {
        return Failure{fmt::format("cannot read event hub '{}'", options_.event_hub),
                       result.error(), "another folder with --data"};
    }
    fmt::print(stderr,
               "Evenkeel {}   hub ready in {:.0f} ms   event hub '{}', {} partitions\n"
               "data in {} ({})\n",
               EVENKEEL_VERSION, took, options_.event_hub, partitions_, hub.directory,
               temporary_ ? "temporary" : "kept");
    return std::nullopt;
}

Result<> Demo::prepare_event_hub() {
    auto info = hub_->describe(options_.event_hub);
    if (!info.ok() && info.error().code == ErrorCode::not_found) {
        EventHubOptions event_hub;
        event_hub.partitions = options_.partitions;
        EK_TRY(hub_->create(options_.event_hub, event_hub));
        info = hub_->describe(options_.event_hub);
    }
    if (!info.ok()) return info.error();
    partitions_ = info->options.partitions;
    if (partitions_ < options_.partitions) {
        EventHubChange change;
        change.partitions = options_.partitions;
        EK_TRY(hub_->alter(options_.event_hub, change));
        partitions_ = options_.partitions;
    } else if (partitions_ > options_.partitions) {
        fmt::print(stderr, "event hub '{}' has {} partitions already; all of them are used\n",
                   options_.event_hub, partitions_);
    }
    return {};
}

Result<> Demo::open_readers() {
    for (std::uint32_t partition = 0; partition < partitions_; ++partition) {
        EK_TRY_ASSIGN(const auto info, hub_->describe(options_.event_hub, partition));
        last_before_.push_back(info.last_enqueued_sequence_number);
        EK_TRY_ASSIGN(auto reader,
                      DemoReader::open(*hub_, traffic_->partitions[partition],
                                       {.event_hub = options_.event_hub,
                                        .run = run_,
                                        .partition = partition,
                                        .producers = options_.producers,
                                        .after_sequence = info.last_enqueued_sequence_number}));
        readers_.push_back(std::move(reader));
    }
    return {};
}

void Demo::start_producers() {
    for (std::uint32_t id = 0; id < options_.producers; ++id) {
        producers_.push_back(std::make_unique<DemoProducer>(
            *hub_, *traffic_,
            DemoProducer::Options{
                .event_hub = options_.event_hub,
                .run = run_,
                .id = id,
                .partitions = partitions_,
                .event_bytes = options_.event_bytes,
                .batch_events = options_.batch_events,
                .rate = static_cast<double>(options_.rate) / options_.producers}));
        producers_.back()->start();
    }
}

void Demo::run() {
    for (auto& reader : readers_) reader->start();
    start_producers();
    const Instant start = clock_.now();
    DemoView view(*traffic_, options_.duration, start);
    Instant purged = start;
    while (!traffic_->failed) {
        Duration left = look_interval;
        if (options_.duration) {
            left = std::min(left, start + *options_.duration - clock_.now());
            if (left <= Duration(0)) break;
        }
        if (interrupt_.wait(left)) break;
        const Instant now = clock_.now();
        view.show(now);
        if (temporary_ && now - purged > purge_interval) {
            purge_what_was_read();
            purged = now;
        }
    }
    stop_producers();
    ran_ = clock_.now() - start;
    view.finish(clock_.now(), interrupt_.requested()
                                  ? "interrupted; reading what was acknowledged ..."
                                  : "reading what was acknowledged ...");
    finish_readers();
}

void Demo::stop_producers() {
    std::latch stopped(static_cast<std::ptrdiff_t>(producers_.size()));
    for (auto& producer : producers_) producer->stop([&stopped] { stopped.count_down(); });
    stopped.wait();
    for (auto& producer : producers_) producer->join();
}

void Demo::finish_readers() {
    for (std::size_t partition = 0; partition < readers_.size(); ++partition) {
        std::int64_t last = last_before_[partition];
        for (const auto& producer : producers_) {
            last = std::max(last, producer->results().last_sequence[partition]);
        }
        readers_[partition]->finish_at(last);
    }
    for (auto& reader : readers_) reader->join();
}

// A temporary folder need not grow for ever: what every reader has behind it may go.
void Demo::purge_what_was_read() {
    for (std::uint32_t partition = 0; partition < partitions_; ++partition) {
        const std::int64_t read = traffic_->partitions[partition].read_up_to;
        if (read > kept_events) {
            // If it fails there is only more on disk than there need be.
            (void)hub_->purge(options_.event_hub, partition, read - kept_events);
        }
    }
}

Verdict Demo::judge() const {
    Verdict verdict;
    Latencies::Buckets acknowledged_after{};
    for (const auto& traffic : traffic_->partitions) {
        verdict.sent += traffic.sent.value();
        verdict.durable += traffic.durable.value();
        verdict.refused += traffic.refused.value();
        traffic.acknowledged_after.add_to(acknowledged_after);
    }
    for (std::size_t partition = 0; partition < readers_.size(); ++partition) {
        const auto& read = readers_[partition]->results();
        verdict.out_of_order += read.out_of_order;
        verdict.repeated += read.repeated;
        verdict.wrong_content += read.wrong_content;
        for (std::size_t producer = 0; producer < producers_.size(); ++producer) {
            const auto& acknowledged = producers_[producer]->results().acknowledged[partition];
            verdict.handled += read.read[producer].size();
            verdict.lost += acknowledged.missing_in(read.read[producer]);
        }
    }
    verdict.seconds = std::chrono::duration<double>(ran_).count();
    verdict.ack_p50_ms = Latencies::quantile(acknowledged_after, {}, 0.50);
    verdict.ack_p99_ms = Latencies::quantile(acknowledged_after, {}, 0.99);
    verdict.partitions = partitions_;
    verdict.producers = options_.producers;
    verdict.event_bytes = options_.event_bytes;
    verdict.interrupted = interrupt_.requested();
    return verdict;
}

std::optional<Error> Demo::first_error() const {
    for (const auto& reader : readers_) {
        if (reader->results().error) return reader->results().error;
    }
    if (!traffic_->failed) return std::nullopt;
    for (const auto& producer : producers_) {
        if (producer->results().error) return producer->results().error;
    }
    return std::nullopt;
}

// Found out before the run, not after an hour of it.
Result<> check_writable(const std::string& file) {
    io::system::SystemFiles files;
    const std::string probe = file + ".probe";
    EK_TRY(files.open(probe, io::OpenMode::create));
    return files.remove(probe);
}

ExitCode tell(const Demo& demo, const DemoOptions& options) {
    const Verdict verdict = demo.judge();
    std::FILE* const out = options.json_file == "-" ? stderr : stdout;
    fmt::print(out, "\n");
    for (const auto& line : lines(verdict, terminal_of(out))) fmt::print(out, "{}\n", line);
    std::fflush(out);
    if (options.json_file == "-") {
        fmt::print("{}", to_json(verdict));
    } else if (!options.json_file.empty()) {
        io::system::SystemFiles files;
        const auto written = io::replace_file(files, options.json_file, as_bytes(to_json(verdict)));
        if (!written.ok()) {
            fail("cannot write the verdict to " + options.json_file, written.error());
            return ExitCode::failed;
        }
    }
    if (const auto error = demo.first_error()) {
        fail("the stream did not run as it should", *error,
             error->code == ErrorCode::overloaded
                 ? "free some space, or give --data on another disk"
                 : "evenkeel demo again; if it stays, look at the device");
        return ExitCode::failed;
    }
    if (!verdict.good()) return ExitCode::failed;
    return verdict.interrupted ? ExitCode::interrupted : ExitCode::done;
}

}  // namespace

ExitCode demo(const DemoOptions& options) {
    Interrupt interrupt;
    if (!options.json_file.empty() && options.json_file != "-") {
        if (const auto writable = check_writable(options.json_file); !writable.ok()) {
            fail("cannot write to " + options.json_file, writable.error(),
                 "--json FILE in a folder that exists and that you may write to");
            return ExitCode::failed;
        }
    }
    // What the disk refuses is in the table and in the verdict; lines of it would tear the table.
    set_trace_level(TraceLevel::off);
    Demo demo(options, interrupt);
    if (const auto failure = demo.open()) return fail(failure->what, failure->error, failure->hint);
    demo.run();
    return tell(demo, options);
}

}  // namespace evenkeel::cli
