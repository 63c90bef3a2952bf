// tidy: no test: run as a real process by the tests of the demo
#include "demo/member.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/number.h"
#include "cli/child.h"
#include "cli/remote/remote.h"
#include "cli/text/failure.h"
#include "demo/runs.h"
#include <evenkeel/processor.h>

namespace evenkeel::demo {
namespace {

using Kind = Report::Kind;

constexpr std::chrono::milliseconds status_interval{200};

// Tells what was handled, and does nothing else with it.
class Handler final : public PartitionHandler {
public:
    explicit Handler(const MemberOptions& options) : options_(options) {}

    Result<> on_opened(Partition& partition) override {
        runs_.emplace(options_.run, options_.producers, partition.id(), partition.epoch());
        return {};
    }
    Result<> on_events(Partition&, Events events) override {
        const std::int64_t now_ms = SystemClock().wall().milliseconds;
        for (const Event& event : events) runs_->take(event, now_ms);
        runs_->tell_all();
        return {};
    }

private:
    const MemberOptions& options_;
    std::optional<Runs> runs_;
};

Result<ProcessorOptions> processor_options(const MemberOptions& options,
                                           const cli::Remote& remote) {
    ProcessorOptions wanted;
    wanted.hub = remote.connection;
    wanted.tls_ca_pem = remote.ca_pem;
    wanted.event_hub = options.event_hub;
    wanted.group = options.group;
    wanted.store = options.store;
    wanted.id = options.id;
    wanted.profile = options.profile == "fast" ? Profile::fast : Profile::standard;
    wanted.checkpoints.every_events = options.checkpoint_events;
    wanted.batch_events_max = options.batch_events_max;
    for (const std::string& text : options.start_of) {
        const std::size_t colon = std::min(text.find(':'), text.size() - 1);
        std::uint32_t partition = 0;
        std::int64_t sequence = 0;
        if (!read_number(std::string_view(text).substr(0, colon), partition) ||
            !read_number(std::string_view(text).substr(colon + 1), sequence)) {
            return Error{ErrorCode::invalid_argument, "--start-of is PARTITION:SEQUENCE"};
        }
        wanted.start_of.emplace(
            partition, sequence < 0 ? Position::earliest() : Position::after_sequence(sequence));
    }
    wanted.on_error = [](const Failure& failure) {
        fmt::print(stderr, "evenkeel demo: {}\n", cli::to_line(failure));
    };
    return wanted;
}

Result<std::unique_ptr<Processor>> start(const MemberOptions& options,
                                         const std::string& connection) {
    cli::RemoteOptions hub;
    hub.connection = connection;
    EK_TRY_ASSIGN(const auto remote, cli::remote_of(hub));
    EK_TRY_ASSIGN(const auto wanted, processor_options(options, remote));
    EK_TRY_ASSIGN(auto processor, Processor::open(wanted));
    EK_TRY(processor->start([&options](std::uint32_t) {
        return std::unique_ptr<PartitionHandler>(std::make_unique<Handler>(options));
    }));
    return processor;
}

}  // namespace

cli::ExitCode run_member(const MemberOptions& options) {
    cli::live_with_parent();
    const auto connection = cli::next_word();
    if (!connection) return cli::ExitCode::failed;
    const auto processor = start(options, *connection);
    if (!processor.ok()) {
        tell({.kind = Kind::failed, .error = processor.error()});
        return cli::ExitCode::failed;
    }
    tell({.kind = Kind::ready});
    while (!cli::has_word(status_interval)) {
        for (const auto& status : (*processor)->status().partitions) {
            tell({.kind = Kind::checkpoint,
                  .partition = status.partition,
                  .sequence = status.checkpoint_sequence,
                  .epoch = status.epoch});
        }
    }
    return (*processor)->stop().is_clean ? cli::ExitCode::done : cli::ExitCode::failed;
}

}  // namespace evenkeel::demo
