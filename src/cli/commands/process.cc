#include "cli/commands/process.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/guarded.h"
#include "base/number.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/commands/read.h"
#include "cli/interrupt.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/store_session.h"
#include "cli/text/event_json.h"
#include "cli/text/event_table.h"
#include "cli/text/event_view.h"
#include "cli/text/failure.h"
#include "cli/text/listing.h"
#include "host/handler/closing_wish.h"
#include "host/handler/command_runner.h"
#include <evenkeel/processor.h>

namespace evenkeel::cli {
namespace {

// How much longer than until SIGKILL the partition waits for a command that did not end in time, so
// that it has ended before the next owner begins.
constexpr Duration terminate_margin = std::chrono::seconds(2);

// What all partitions share: standard output, and how many events there are still to handle.
class EventOutput {
public:
    explicit EventOutput(const ProcessOptions& options) : options_(options) {}

    // How many of `events` may be handled; fewer than all near the end of --count.
    std::size_t take(std::size_t events) {
        if (options_.count == 0) return events;
        return taken_.with([&](std::uint64_t& taken) {
            const auto left = static_cast<std::size_t>(options_.count - taken);
            const std::size_t allowed = std::min(events, left);
            taken += allowed;
            return allowed;
        });
    }
    void handled(std::size_t events) { handled_ += events; }
    void give_back(std::size_t events) {
        taken_.with([&](std::uint64_t& taken) { taken -= events; });
    }
    std::uint64_t handled() const { return handled_; }
    bool is_done() const { return options_.count > 0 && handled_ >= options_.count; }

    Result<> print(std::uint32_t partition, Events events) {
        std::string text;
        for (const Event& event : events) {
            if (options_.json) {
                text += as_json({options_.event_hub, partition}, event) + "\n";
            } else if (!options_.format.empty()) {
                text +=
                    formatted(options_.format, {options_.event_hub, partition}, event, terminal_);
            } else {
                text += terminal_.is_terminal ? visible(event.text()) : std::string(event.text());
                text += "\n";
            }
        }
        return write(text);
    }
    Result<> write(const std::string& text) {
        const int failure = output_.with([&](std::FILE* output) {
            const bool is_written =
                std::fwrite(text.data(), 1, text.size(), output) == text.size() &&
                std::fflush(output) == 0;
            return is_written ? 0 : errno;
        });
        if (failure == 0) return {};
        const Error error{
            ErrorCode::unavailable,
            fmt::format("cannot write events to standard output: {}", std::strerror(failure))};
        give_up(error,
                "make room or mend what reads the output, then start it again: it goes on "
                "after the last checkpoint");
        return error;
    }

    // Nothing that comes next can be handled here: the processor is to stop.
    void give_up(const Error& error, std::string_view hint) {
        gave_up_.with([&](std::optional<GivenUp>& first) {
            if (!first) first = GivenUp{error, std::string(hint)};
        });
    }
    struct GivenUp {
        Error error;
        std::string hint;
    };
    std::optional<GivenUp> gave_up() const {
        return gave_up_.with([](const std::optional<GivenUp>& first) { return first; });
    }
    // A command has run. One that never did is a mistake to report at once; one that does not run
    // any more may be mended while we wait.
    void set_ran() { has_run_ = true; }
    bool has_run() const { return has_run_; }

private:
    const ProcessOptions& options_;
    const Terminal terminal_ = terminal_of(stdout);
    Guarded<std::FILE*> output_{stdout};
    Guarded<std::uint64_t> taken_;
    std::atomic<std::uint64_t> handled_{0};
    std::atomic<bool> has_run_{false};
    Guarded<std::optional<GivenUp>> gave_up_;
};

// Batches of commands grow up to that, unless --batch or --delivery at-most-once forbids it: then
// what failed is not given again, and all of it must have been given once.
constexpr std::size_t grown_batch_events_max = 2048;
constexpr std::size_t batch_events_usual = 256;

bool may_batches_grow(const ProcessOptions& options) {
    return !options.command.empty() && options.batch_events_max == 0 && options.attempts > 1 &&
           options.delivery != "at-most-once";
}

// Of one call of the handler.
std::size_t handler_events_max(const ProcessOptions& options) {
    // A batch that fails is tried again event by event, which would be a second attempt.
    if (options.attempts == 1) return 1;
    if (options.batch_events_max > 0) return options.batch_events_max;
    return may_batches_grow(options) ? grown_batch_events_max : batch_events_usual;
}

host::CommandOptions command_options(const ProcessOptions& options) {
    host::CommandOptions wanted{.child = {.command = options.command, .pass_env = options.pass_env},
                                .ack = options.ack};
    if (may_batches_grow(options)) {
        wanted.batch_events = batch_events_usual;
        wanted.batch_events_max = grown_batch_events_max;
    }
    return wanted;
}

class Handler final : public PartitionHandler {
public:
    Handler(const ProcessOptions& options, EventOutput& output)
        : options_(options), output_(output) {}

    Result<> on_events(Partition& partition, Events events) override {
        const std::size_t taken = output_.take(events.size());
        if (taken == 0) return wait_for_the_end(partition);
        acknowledged_ = 0;
        auto result = handle(partition, events.first(taken));
        if (!result.ok()) {
            output_.handled(acknowledged_);
            output_.give_back(taken - acknowledged_);
            return result;
        }
        output_.handled(taken);
        finished(partition, events[taken - 1]);
        if (taken < events.size()) return wait_for_the_end(partition);
        return {};
    }

    // One that answers waits for the next event, and ends with its input.
    void on_closed(Partition& partition, Closed) override {
        command_.close([&] { return wish_for(partition); });
    }

private:
    // --count is used up. Nothing was done with these events, and nothing says so: only what
    // checkpoint() was called for is stored.
    static Result<> wait_for_the_end(Partition& partition) {
        partition.pause();
        return {};
    }

    // With --count checkpoints are manual.
    void finished(Partition& partition, const Event& event) {
        options_.count > 0 ? partition.checkpoint(event) : partition.done(event);
    }

    Result<> handle(Partition& partition, Events events) {
        if (!options_.command.empty()) return execute(partition, events);
        if (!options_.into.empty()) {
            return insert_events(partition.sqlite(), options_.into, options_.event_hub,
                                 partition.id(), events);
        }
        if (options_.quiet) return {};
        return output_.print(partition.id(), events);
    }

    Result<> execute(Partition& partition, Events events) {
        const EventPlace place{options_.event_hub, partition.id()};
        return judged(command_.run(
            events, {.add_line =
                         [&](const Event& event, std::string& to) {
                             to += as_json(place, event);
                             to += '\n';
                         },
                     .wish = [&] { return wish_for(partition); },
                     .done =
                         [&](const Event& last, std::size_t count) {
                             finished(partition, last);
                             acknowledged_ += count;
                         },
                     .output = [&](const std::string& lines) { return output_.write(lines); }}));
    }

    // A command that never ran is a mistake to report at once.
    Result<> judged(Result<> result) {
        if (result.ok() || result.error().code != ErrorCode::unavailable) {
            output_.set_ran();
        } else if (!output_.has_run()) {
            output_.give_up(result.error(),
                            "check --exec: it is run by /bin/sh in the current folder, and must be "
                            "executable");
        }
        return result;
    }

    host::CommandChild::Wish wish_for(const Partition& partition) {
        using enum host::CommandChild::Wish;
        const auto closing = partition.closing();
        const auto wish = closing_.at(closing, SystemClock().now());
        if ((wish == terminate || wish == kill) && !was_told_) {
            fmt::print(stderr, "evenkeel process: partition {}: {}; the command is terminated\n",
                       partition.id(),
                       *closing == Closed::lost ? "lost" : "the command did not end in time");
            was_told_ = true;
        }
        return wish;
    }

    const ProcessOptions& options_;
    EventOutput& output_;
    host::CommandRunner command_{command_options(options_)};
    std::size_t acknowledged_ = 0;  // events of this batch that the command said are done
    host::ClosingWish closing_{options_.drain_max};
    bool was_told_ = false;
};

void print(const Failure& failure) {
    fmt::print(stderr, "evenkeel process: {}\n", to_line(failure));
}

template <typename T>
std::optional<T> chosen(std::string_view word,
                        std::initializer_list<std::pair<std::string_view, T>> words) {
    for (const auto& [name, value] : words) {
        if (name == word) return value;
    }
    return std::nullopt;
}

Result<> check_delivery(const ProcessOptions& options, Delivery delivery) {
    const auto wrong = [](std::string_view why) {
        return Error{ErrorCode::invalid_argument, std::string(why)};
    };
    const bool is_exact = delivery == Delivery::exactly_once;
    if (is_exact && options.into.empty()) {
        return wrong(
            "--delivery exactly-once needs results that commit together with the progress: --into "
            "TABLE. A terminal or a command cannot take part in a transaction");
    }
    if (options.into.empty() && (options.count == 0 || delivery == Delivery::at_least_once)) {
        return {};
    }
    if (!is_exact && !options.into.empty()) {
        return wrong("--into writes each event exactly once; omit --delivery");
    }
    if (options.count > 0) {
        return wrong(
            "--count goes with --delivery at-least-once only: the progress of a whole "
            "batch is stored at once otherwise");
    }
    if (!options.store.starts_with("sqlite:")) {
        return wrong("--into needs a store with transactions: --store sqlite:FILE");
    }
    return check_table_name(options.into);
}

Result<ProcessorOptions> processor_options(const ProcessOptions& options, const Remote& remote) {
    ProcessorOptions wanted;
    wanted.hub = remote.connection;
    wanted.tls_ca_pem = remote.ca_pem;
    wanted.event_hub = options.event_hub;
    wanted.group = options.group;
    wanted.store = options.store;
    wanted.id = options.id;
    const auto profile = chosen<Profile>(
        options.profile, {{"standard", Profile::standard}, {"fast", Profile::fast}});
    const std::string_view usual = options.into.empty() ? "at-least-once" : "exactly-once";
    const auto delivery =
        chosen<Delivery>(options.delivery.empty() ? usual : std::string_view(options.delivery),
                         {{"at-least-once", Delivery::at_least_once},
                          {"at-most-once", Delivery::at_most_once},
                          {"exactly-once", Delivery::exactly_once}});
    const auto poison = chosen<Poison>(options.poison, {{"dead-letter", Poison::dead_letter},
                                                        {"skip", Poison::skip},
                                                        {"park", Poison::park},
                                                        {"stop", Poison::stop}});
    const auto start = parse_start(options.from, SystemClock().wall());
    if (!start || start->last_events) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("--from: '{}' is no position to start from; use start, end, "
                                 "seq:N, offset:N, 2026-03-02T09:14:00Z or -15m",
                                 options.from)};
    }
    if (!profile || !delivery || !poison) {
        return Error{ErrorCode::invalid_argument,
                     "invalid value of --profile, --delivery or --poison"};
    }
    wanted.profile = *profile;
    wanted.strategy = options.strategy == "greedy" ? Strategy::greedy : Strategy::balanced;
    wanted.by_load = options.by_load;
    wanted.delivery = *delivery;
    EK_TRY(check_delivery(options, *delivery));
    wanted.poison = *poison;
    if (options.dead_letter != "store") {
        if (wanted.poison != Poison::dead_letter) {
            return Error{ErrorCode::invalid_argument,
                         "--dead-letter sets where failing events go; it needs --poison "
                         "dead-letter"};
        }
        wanted.dead_letter_hub = options.dead_letter;
    }
    wanted.start = start->position;
    wanted.retry.attempts_max = options.attempts;
    wanted.poison_in_row_max = options.poison_in_row_max;
    // Only what asked for --count counts as done.
    wanted.checkpoints.manual = options.count > 0;
    wanted.checkpoints.every_events = options.checkpoint_events;
    if (options.checkpoint_interval) {
        wanted.checkpoints.every =
            std::chrono::duration_cast<std::chrono::milliseconds>(*options.checkpoint_interval);
    }
    wanted.batch_events_max = handler_events_max(options);
    wanted.workers = options.workers;
    wanted.accept_store_loss = options.accept_store_loss;
    wanted.drain_max = std::chrono::duration_cast<std::chrono::milliseconds>(
        options.drain_max + (options.command.empty()
                                 ? Duration(0)
                                 : host::ClosingWish::terminate_time + terminate_margin));
    wanted.on_error = print;
    return wanted;
}

}  // namespace

ExitCode process(const ProcessOptions& options) {
    Interrupt interrupt;
    const std::string what = fmt::format("cannot process event hub '{}'", options.event_hub);
    if (const auto good = check_format(options.format); !good.ok()) return fail(what, good.error());
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto wanted = processor_options(options, *remote);
    if (!wanted.ok()) return fail(what, wanted.error());
    if (const auto there = first_contact(*remote, options.event_hub); !there.ok()) {
        return fail_remote(what, there.error(), *remote);
    }
    if (const auto ended =
            require_group(what, *remote, options.event_hub, options.group, options.create_group)) {
        return *ended;
    }
    auto processor = Processor::open(*wanted);
    // The hub has answered: what is out of reach is the store.
    if (!processor.ok()) return fail_store(what, processor.error(), options.store);
    EventOutput output(options);
    const auto started = (*processor)->start([&](std::uint32_t) {
        return std::unique_ptr<PartitionHandler>(std::make_unique<Handler>(options, output));
    });
    if (!started.ok()) return fail("cannot start the processor", started.error());
    while (!output.is_done() && !interrupt.wait(std::chrono::milliseconds(20))) {
        if ((*processor)->has_ended() || output.gave_up()) break;
    }
    const StopReport report = (*processor)->stop();
    const auto ended = (*processor)->wait();
    fmt::print(stderr, "{} handled{}\n", plural(output.handled(), "event"),
               report.is_clean ? "" : ", some checkpoints could not be stored");
    if (!ended.ok()) return fail("the processor ended", ended.error());
    if (const auto given_up = output.gave_up()) {
        return fail("the processor stopped; no event was lost, and no attempt was counted",
                    given_up->error, given_up->hint);
    }
    return report.is_clean ? ExitCode::done : ExitCode::failed;
}

}  // namespace evenkeel::cli
