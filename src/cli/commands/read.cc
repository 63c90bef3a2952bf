#include "cli/commands/read.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "base/time_point.h"
#include "cli/interrupt.h"
#include "cli/remote/group_contact.h"
#include "cli/text/duration.h"
#include "cli/text/event_filter.h"
#include "cli/text/event_json.h"
#include "cli/text/event_view.h"
#include "cli/text/standard_output.h"
#include "cli/text/terminal.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t read_events = 500;
constexpr auto idle_wait = std::chrono::milliseconds(100);

struct Source {
    std::uint32_t partition = 0;
    std::unique_ptr<RemoteReader> reader;
    std::int64_t last = -1;      // of the partition when we began
    std::optional<Position> to;  // only what lies before it
    bool at_end = false;
};

std::optional<std::int64_t> number(std::string_view text) {
    const auto value = parse_number<std::int64_t>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

// True if nothing that is there now lies behind the position.
bool begins_at_end(const Position& position, const PartitionInfo& info) {
    if (info.is_empty) return true;
    switch (position.kind) {
        case Position::Kind::earliest: return false;
        case Position::Kind::latest: return true;
        case Position::Kind::offset: return position.value > info.last_enqueued_offset;
        case Position::Kind::sequence_number:
            return position.value > info.last_enqueued_sequence_number;
        case Position::Kind::enqueued_time:
            return position.value > wall_time(info.last_enqueued_time).milliseconds;
    }
    return false;
}

bool lies_before(const Event& event, const Position& position) {
    switch (position.kind) {
        case Position::Kind::earliest: return false;
        case Position::Kind::latest: return true;
        case Position::Kind::offset: return event.offset < position.value;
        case Position::Kind::sequence_number: return event.sequence_number < position.value;
        case Position::Kind::enqueued_time:
            return wall_time(event.enqueued_time).milliseconds < position.value;
    }
    return true;
}

// Where reading begins and ends, and what is shown of it.
struct Selection {
    ReadStart from;
    std::optional<ReadStart> to;
    std::optional<EventFilter> filter;
};

Result<Selection> selection_of(const ReadOptions& options, WallTime now) {
    const auto place = [&](const std::string& text) -> Result<ReadStart> {
        if (const auto parsed = parse_start(text, now)) return *parsed;
        return Error{ErrorCode::invalid_argument,
                     fmt::format("'{}' is not a position: use start, end, seq:N, "
                                 "offset:N, 2026-03-02T09:14:00Z, -15m or -10",
                                 text)};
    };
    Selection selection;
    EK_TRY_ASSIGN(selection.from, place(options.from));
    if (!options.to.empty()) {
        EK_TRY_ASSIGN(selection.to, place(options.to));
    }
    if (!options.filter.empty()) {
        auto filter = EventFilter::parse(options.filter);
        if (!filter.ok()) {
            return Error{
                ErrorCode::invalid_argument,
                fmt::format("invalid filter '{}': {}", options.filter, filter.error().detail)};
        }
        selection.filter = std::move(*filter);
    }
    EK_TRY(check_format(options.format));
    return selection;
}

// Shows the events that pass the filter as the options say, and counts them.
class Printer {
public:
    Printer(const ReadOptions& options, std::optional<EventFilter> filter)
        : options_(options),
          // Events are bytes for a program, but none that move the cursor of a person.
          terminal_(options.output == "raw" ? Terminal{} : terminal_of(stdout)),
          filter_(std::move(filter)) {}

    void take(std::uint32_t partition, const Event& event) {
        const EventPlace place{options_.event_hub, partition};
        ++looked_at;
        if (filter_ && !filter_->matches(place, event)) return;
        if (options_.output == "json") {
            fmt::print("{}\n", as_json(place, event));
        } else if (!options_.format.empty()) {
            fmt::print("{}", formatted(options_.format, place, event, terminal_));
        } else {
            if (terminal_.is_terminal && !options_.quiet) {
                fmt::print("{}\n", headline(terminal_, place, event));
            }
            terminal_.is_terminal ? fmt::print("{}\n", visible(event.text()))
                                  : fmt::print("{}\n", event.text());
        }
        ++count;
    }

    // The summary at the end.
    std::string summary(double seconds) const {
        std::string text = with_commas(count) + " shown";
        if (filter_) text += fmt::format(", {} looked at", with_commas(looked_at));
        text += fmt::format(", {:.2f} s", seconds);
        if (const auto bad = filter_ ? filter_->bodies_without_json() : 0; bad > 0) {
            text += fmt::format("; {} without a JSON body", with_commas(bad));
        }
        return text;
    }

    std::uint64_t count = 0;
    std::uint64_t looked_at = 0;

private:
    const ReadOptions& options_;
    const Terminal terminal_;
    std::optional<EventFilter> filter_;
};

Result<std::vector<Source>> open_sources(Client& client, const ReadOptions& options,
                                         const Selection& selection,
                                         std::uint32_t partition_count) {
    auto partitions = options.partitions;
    for (std::uint32_t i = 0; options.partitions.empty() && i < partition_count; ++i) {
        partitions.push_back(i);
    }
    std::vector<Source> sources;
    for (const std::uint32_t partition : partitions) {
        if (partition >= partition_count) {
            return Error{ErrorCode::not_found,
                         fmt::format("event hub '{}' has no partition {}; they are 0 to {}",
                                     options.event_hub, partition, partition_count - 1)};
        }
        Source source;
        source.partition = partition;
        EK_TRY_ASSIGN(const auto info, client.properties(partition));
        const Position position = position_in(selection.from, info);
        if (selection.to) source.to = position_in(*selection.to, info);
        source.last = info.last_enqueued_sequence_number;
        source.at_end = begins_at_end(position, info);
        RemoteReaderOptions wanted;
        wanted.name = "evenkeel read";
        wanted.epoch = options.epoch;
        EK_TRY_ASSIGN(source.reader,
                      RemoteReader::open(client, options.group, partition, position, wanted));
        sources.push_back(std::move(source));
    }
    return sources;
}

// Until the end, the count, an interrupt or an error.
ExitCode read_all(std::vector<Source>& sources, const ReadOptions& options, const Remote& remote,
                  Printer& printer, Interrupt& interrupt) {
    while (!interrupt.wait(Duration(0))) {
        bool any = false;
        bool all_at_end = true;
        for (Source& source : sources) {
            if (source.at_end && !options.follow) continue;
            all_at_end = false;
            auto batch = source.reader->read(
                read_events, sources.size() == 1 ? idle_wait : std::chrono::milliseconds(0));
            if (!batch.ok()) {
                (void)flush_output();
                return fail_remote(fmt::format("reading partition {} failed", source.partition),
                                   batch.error(), remote,
                                   batch.error().code == ErrorCode::fenced
                                       ? options.epoch
                                             ? "a reader with a higher --epoch took over"
                                             : "an event processor, or a reader with --epoch, "
                                               "began to read this consumer group alone: read in "
                                               "another one, --group NAME"
                                       : "");
            }
            for (const Event& event : *batch) {
                any = true;
                if (source.to && !lies_before(event, *source.to)) {
                    source.at_end = true;
                    break;
                }
                source.at_end = source.at_end || event.sequence_number >= source.last;
                printer.take(source.partition, event);
                const bool is_enough = options.count > 0 && printer.count == options.count;
                if (is_enough) return ExitCode::done;
                if (source.at_end && !options.follow) break;  // what came since is not asked for
            }
        }
        if (all_at_end) return ExitCode::done;
        if (!any) {
            if (!flush_output().ok()) return ExitCode::failed;  // cli::run() says why
            if (interrupt.wait(idle_wait / 10)) break;
        }
    }
    return ExitCode::interrupted;
}

}  // namespace

std::optional<ReadStart> parse_start(std::string_view text, WallTime now) {
    if (text == "start" || text == "earliest") return ReadStart{Position::earliest(), {}};
    if (text == "end" || text == "latest") return ReadStart{Position::latest(), {}};
    if (text.starts_with("seq:")) {
        const auto value = number(text.substr(4));
        if (!value) return std::nullopt;
        return ReadStart{Position::at_sequence(*value), {}};
    }
    if (text.starts_with("offset:")) {
        const auto value = number(text.substr(7));
        if (!value) return std::nullopt;
        return ReadStart{Position::at_offset(*value), {}};
    }
    if (text.starts_with('-')) {
        if (const auto events = number(text.substr(1))) {
            return ReadStart{Position::latest(), *events};
        }
        const auto ago = parse_duration(text.substr(1));
        if (!ago) return std::nullopt;
        const auto past = std::chrono::duration_cast<std::chrono::milliseconds>(*ago);
        return ReadStart{Position::at_time(time_point(now - past)), {}};
    }
    const auto time = parse_time(text);
    if (!time) return std::nullopt;
    return ReadStart{Position::at_time(time_point({*time})), {}};
}

Position position_in(const ReadStart& start, const PartitionInfo& info) {
    if (!start.last_events) return start.position;
    if (info.is_empty || *start.last_events == 0) return Position::latest();
    const std::int64_t first = info.last_enqueued_sequence_number - *start.last_events + 1;
    return Position::at_sequence(std::max(first, info.begin_sequence_number));
}

ExitCode read(const ReadOptions& options) {
    Interrupt interrupt;
    const SystemClock clock;
    const Instant started = clock.now();
    auto selection = selection_of(options, clock.wall());
    if (!selection.ok()) {
        return wrong_usage(selection.error().detail, "evenkeel read --help");
    }
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const std::string what = fmt::format("event hub '{}' cannot be read", options.event_hub);
    const auto contact = first_contact(*remote, options.event_hub);
    if (!contact.ok()) return fail_remote(what, contact.error(), *remote);
    if (!has_group(*remote, options.event_hub, options.group)) {
        return fail_no_group(what, *remote, options.event_hub, options.group);
    }
    auto client =
        Client::open(client_options(*remote, options.event_hub, "evenkeel read", Patience::usual));
    if (!client.ok()) return fail_remote(what, client.error(), *remote);
    auto sources = open_sources(**client, options, *selection, contact->partitions);
    if (!sources.ok()) return fail_remote(what, sources.error(), *remote);
    Printer printer(options, std::move(selection->filter));
    const ExitCode ended = read_all(*sources, options, *remote, printer, interrupt);
    (void)flush_output();
    const bool to_people = terminal_of(stdout).is_terminal && options.output == "text";
    if (!options.quiet && to_people && options.format.empty()) {
        const std::chrono::duration<double> took = clock.now() - started;
        fmt::print(stderr, "{}\n", printer.summary(took.count()));
    }
    return ended;
}

}  // namespace evenkeel::cli
