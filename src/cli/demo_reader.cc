#include "cli/demo_reader.h"

#include <atomic>
#include <memory>

#include <fmt/core.h>

#include "cli/child.h"
#include "cli/demo_report.h"
#include "cli/stream_body.h"
#include "io/system/loop.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

using Kind = DemoReport::Kind;

constexpr std::size_t events_max = 4000;
constexpr auto wait = std::chrono::milliseconds(100);

class Following {
public:
    Following(std::unique_ptr<RemoteReader> reader, std::uint32_t partition,
              const DemoReaderOptions& options, const std::atomic<bool>& stopping)
        : reader_(std::move(reader)),
          partition_(partition),
          options_(options),
          stopping_(stopping),
          worker_(fmt::format("read/{}", partition)) {}

    void start() {
        worker_.post([this] { run(); });
    }

private:
    void run();
    void take(const Event& event);
    void tell_run();

    std::unique_ptr<RemoteReader> reader_;
    const std::uint32_t partition_;
    const DemoReaderOptions& options_;
    const std::atomic<bool>& stopping_;
    DemoReport run_;  // what came and was not told yet
    io::system::WorkerThread worker_;
};

void Following::run() {
    while (!stopping_) {
        const auto batch = reader_->read(events_max, wait);
        if (!batch.ok()) {
            // The next call goes on behind the damage; what was in it shows as lost.
            const bool goes_on = batch.error().code == ErrorCode::corrupt;
            tell({.kind = goes_on ? Kind::trouble : Kind::failed, .error = batch.error()});
            if (goes_on) continue;
            return;
        }
        for (const auto& event : *batch) take(event);
        tell_run();
    }
}

void Following::take(const Event& event) {
    const auto body = decode_stream_body(event.body());
    if (!body || body->run != options_.run || body->partition != partition_ ||
        body->producer >= options_.producers) {
        tell_run();
        return tell(
            {.kind = Kind::foreign, .partition = partition_, .sequence = event.sequence_number});
    }
    const bool follows =
        run_.count > 0 && run_.producer == body->producer &&
        body->number == run_.number + run_.count &&
        event.sequence_number == run_.sequence + static_cast<std::int64_t>(run_.count);
    if (!follows) {
        tell_run();
        run_ = {.kind = Kind::read,
                .partition = partition_,
                .producer = body->producer,
                .number = body->number,
                .sequence = event.sequence_number};
    }
    ++run_.count;
}

void Following::tell_run() {
    if (run_.count > 0) tell(run_);
    run_.count = 0;
}

}  // namespace

ExitCode demo_reader_child(const DemoReaderOptions& options) {
    live_with_parent();
    const auto connection = next_word();
    if (!connection) return ExitCode::failed;
    const auto failed = [](const Error& error) {
        tell({.kind = Kind::failed, .error = error});
        return ExitCode::failed;
    };
    auto client = Client::open(
        {.connection = *connection, .event_hub = options.event_hub, .name = "demo reader"});
    if (!client.ok()) return failed(client.error());
    std::atomic<bool> stopping{false};
    std::vector<std::unique_ptr<Following>> all;
    for (const auto partition : options.partitions) {
        auto reader = open_reader(**client, "$Default", partition, Position::latest(),
                                  {.name = "demo", .prefetch_events = events_max});
        if (!reader.ok()) return failed(reader.error());
        all.push_back(
            std::make_unique<Following>(std::move(*reader), partition, options, stopping));
    }
    tell({.kind = Kind::ready});
    for (auto& following : all) following->start();
    while (next_word()) {
    }
    stopping = true;
    all.clear();
    return ExitCode::done;
}

}  // namespace evenkeel::cli
