#include "cli/commands/send.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/interrupt.h"
#include "cli/text/amqp_value.h"
#include "cli/text/event_input.h"
#include "cli/text/exact_json.h"
#include "cli/text/listing.h"
#include "cli/text/sent_places.h"
#include "cli/text/terminal.h"
#include "cli/text/units.h"
#include "producer/batch_access.h"
#include <evenkeel/producer.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t batch_events_max = 500;
// With many keys, those with little in them would pile up.
constexpr std::size_t batches_max = 1000;
constexpr std::string_view json_type = "application/json";
constexpr auto progress_interval = std::chrono::seconds(10);  // where no terminal is
constexpr auto terminal_interval = std::chrono::milliseconds(250);

// What all events have, as the options give it.
Result<EventParts> dress_of(const SendOptions& options) {
    EventParts dress;
    dress.set_content_type(options.content_type);
    for (const auto& text : options.properties) {
        EK_TRY_ASSIGN(auto property, property_of(text));
        dress.set_property(std::move(property.name), std::move(property.value));
    }
    return dress;
}

// An event that is ready to be sent.
struct Outgoing {
    std::uint64_t number = 0;  // in the input
    std::optional<std::uint32_t> partition = {};
    std::string key = {};
    amqp::Buffer section = {};  // of a batch
    std::size_t body_bytes = 0;
};

// Collects events by partition and key, and sends whole batches.
class Sender {
public:
    Sender(Producer& producer, const SendOptions& options)
        : producer_(producer), options_(options) {}

    Result<> add(const Outgoing& event) {
        auto found = batches_.find({event.partition, event.key});
        if (found == batches_.end()) {
            EK_TRY_ASSIGN(const auto any, producer_.make_batch());
            // A key that comes with a partition is stored with the event, and does not route it.
            SendBatch batch({event.partition, event.key}, any.bytes_max());
            found = batches_.emplace(Where{event.partition, event.key}, Open{std::move(batch), {}})
                        .first;
        }
        Open& open = found->second;
        if (open.batch.size() >= batch_events_max ||
            !producer::BatchAccess::try_add(open.batch, event.section)) {
            EK_TRY(send(open));
            if (!producer::BatchAccess::try_add(open.batch, event.section)) {
                return Error{
                    ErrorCode::invalid_argument,
                    fmt::format("event {} with a body of {} bytes does not fit: the hub accepts {} "
                                "bytes with key, properties and framing",
                                event.number, with_commas(event.body_bytes),
                                with_commas(open.batch.bytes_max()))};
            }
        }
        open.numbers.push_back(event.number);
        bytes += event.body_bytes;
        if (batches_.size() > batches_max) return flush();
        return {};
    }
    Result<> flush() {
        for (auto& [where, open] : batches_) EK_TRY(send(open));
        batches_.clear();
        return {};
    }

    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;
    SentPlaces places;

private:
    using Where = std::pair<std::optional<std::uint32_t>, std::string>;
    struct Open {
        SendBatch batch;
        std::vector<std::uint64_t> numbers;  // of its events in the input
    };

    Result<> send(Open& open) {
        if (open.batch.empty()) return {};
        EK_TRY_ASSIGN(const auto receipt, producer_.send_with_receipt(open.batch));
        sent += open.batch.size();
        if (receipt.partition && receipt.first_sequence_number && receipt.last_sequence_number) {
            places.add(*receipt.partition, *receipt.first_sequence_number,
                       *receipt.last_sequence_number);
        }
        if (options_.output == "json") print(open.numbers, receipt);
        open.batch.clear();
        open.numbers.clear();
        return {};
    }

    void print(const std::vector<std::uint64_t>& numbers, const SendReceipt& receipt) const {
        std::string text;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            text += fmt::format("{{\"event\":{},\"event_hub\":{}", numbers[i],
                                json_quoted(options_.event_hub));
            if (receipt.partition) text += fmt::format(",\"partition\":{}", *receipt.partition);
            if (receipt.first_sequence_number) {
                text += fmt::format(",\"sequence_number\":{}",
                                    *receipt.first_sequence_number + static_cast<std::int64_t>(i));
            }
            if (receipt.last_offset && i + 1 == numbers.size()) {
                text += fmt::format(",\"offset\":{}", *receipt.last_offset);
            }
            text += "}\n";
        }
        fmt::print("{}", text);
        std::fflush(stdout);
    }

    Producer& producer_;
    const SendOptions& options_;
    std::map<Where, Open> batches_;
};

// One sending, from the first event to the last line on stderr.
class Sending {
public:
    Sending(const SendOptions& options, const Remote& remote, double rate, EventInput& input,
            EventParts dress, Sender& sender, Interrupt& interrupt)
        : options_(options),
          remote_(remote),
          dress_(std::move(dress)),
          rate_(rate),
          input_(input),
          sender_(sender),
          interrupt_(interrupt),
          terminal_(terminal_of(stderr)) {}

    ExitCode run() {
        const Result<> result = send_all();
        clear_progress();
        if (!result.ok()) return failed(result.error());
        const double seconds = elapsed();
        if (!options_.quiet) {
            const std::string places = sender_.places.text();
            fmt::print(stderr, "sent {} event{}  {}  {:.1f} s  ({}/s)  0 failed{}{}\n",
                       with_commas(sender_.sent), sender_.sent == 1 ? "" : "s",
                       bytes_text(sender_.bytes), seconds, with_commas(per_second(seconds)),
                       places.empty() ? "" : "  ", places);
        }
        return interrupt_.requested() ? ExitCode::interrupted : ExitCode::done;
    }

private:
    Result<> send_all() {
        while (!interrupt_.requested()) {
            switch (input_.next()) {
                case EventInput::State::body: EK_TRY(send_one()); break;
                case EventInput::State::later:
                    EK_TRY(sender_.flush());
                    show_progress();
                    input_.wait(interrupt_);
                    break;
                case EventInput::State::ended: return sender_.flush();
                case EventInput::State::failed:
                    EK_TRY(sender_.flush());
                    input_failed_ = true;  // a file, not the hub
                    return input_.error();
            }
        }
        return sender_.flush();
    }

    Result<> send_one() {
        auto event = outgoing();
        if (!event.ok()) {
            EK_TRY(sender_.flush());
            return Error{event.error().code,
                         fmt::format("event {}: {}", input_.number(), event.error().detail)};
        }
        EK_TRY(sender_.add(*event));
        if (rate_ > 0) {
            const auto due =
                started_ + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
                               static_cast<double>(input_.number()) / rate_));
            if (due > clock_.now()) {
                EK_TRY(sender_.flush());
                show_progress();
                interrupt_.wait(due - clock_.now());
            }
        } else if (input_.number() % batch_events_max == 0) {
            show_progress();
            interrupt_.wait(Duration(0));
        }
        return {};
    }

    // What the input gives, dressed as the options say.
    Result<Outgoing> outgoing() const {
        Outgoing event;
        event.number = input_.number();
        event.partition = options_.partition;
        event.key = options_.key;
        const bool is_json = options_.format == "ndjson" || options_.format == "events" ||
                             !options_.key_field.empty();
        amqp::Buffer message;
        if (!is_json) {
            EventParts parts = dress_;
            parts.body = input_.body();
            event.body_bytes = parts.body.size();
            message = parts.message();
        } else {
            EK_TRY_ASSIGN(message, of_json(event));
        }
        event.section = producer::BatchAccess::in_batch(message);
        return event;
    }

    Result<amqp::Buffer> of_json(Outgoing& event) const {
        EK_TRY_ASSIGN(const auto json, parse_json(input_.body()));
        const bool is_event =
            options_.format == "events" || (options_.format == "ndjson" && is_event_json(json));
        if (!options_.key_field.empty()) {
            EK_TRY_ASSIGN(event.key, key_in(json, options_.key_field));
        }
        if (!is_event && options_.keep_partition) {
            return Error{
                ErrorCode::invalid_argument,
                "it is no event as 'evenkeel read -o json' prints it, and names no "
                "partition to keep; --format events takes events that are written by hand"};
        }
        if (!is_event) {
            EventParts parts = dress_;
            const bool has_type = !options_.content_type.empty();
            if (!has_type && options_.format == "ndjson") parts.set_content_type(json_type);
            parts.body = input_.body();
            event.body_bytes = parts.body.size();
            return parts.message();
        }
        EK_TRY_ASSIGN(auto given, event_from_json(json));
        if (event.key.empty()) event.key = given.partition_key;
        if (options_.keep_partition) {
            if (!given.partition) {
                return Error{ErrorCode::invalid_argument, "it has no 'partition' to keep"};
            }
            event.partition = given.partition;
        }
        const bool is_dressed = !options_.content_type.empty() || !dress_.properties.empty();
        if (!given.whole.empty()) {
            if (is_dressed) {
                return Error{ErrorCode::invalid_argument,
                             "--content-type and --property cannot change its 'amqp_base64'"};
            }
            event.body_bytes = given.whole.size();
            return std::move(given.whole);
        }
        if (!options_.content_type.empty()) given.parts.set_content_type(options_.content_type);
        for (const auto& property : dress_.properties) {
            given.parts.set_property(property.name, property.value);
        }
        event.body_bytes = given.parts.body.size();
        return given.parts.message();
    }

    ExitCode failed(const Error& error) {
        const std::string what = sender_.sent == 0
                                     ? std::string("nothing was sent")
                                     : fmt::format("only {} sent", plural(sender_.sent, "event"));
        const ExitCode code = input_failed_ ? fail(what, error) : fail_remote(what, error, remote_);
        return sender_.sent == 0 ? code : ExitCode::partly_done;
    }

    void show_progress() {
        if (options_.quiet || (!terminal_.is_terminal && !options_.progress)) return;
        const Instant now = clock_.now();
        const Duration interval =
            terminal_.is_terminal ? Duration(terminal_interval) : Duration(progress_interval);
        if (now - shown_at_ < interval) return;
        shown_at_ = now;
        const std::string all =
            options_.count > 0 ? " of " + with_commas(options_.count) : std::string();
        fmt::print(stderr, "{}sent {}{} events  {}  ({}/s){}", terminal_.is_terminal ? "\r" : "",
                   with_commas(sender_.sent), all, bytes_text(sender_.bytes),
                   with_commas(per_second(elapsed())), terminal_.is_terminal ? "\x1b[K" : "\n");
        std::fflush(stderr);
        progress_shown_ = true;
    }
    void clear_progress() {
        if (progress_shown_ && terminal_.is_terminal) fmt::print(stderr, "\r\x1b[K");
    }

    double elapsed() const {
        return std::chrono::duration<double>(clock_.now() - started_).count();
    }
    std::uint64_t per_second(double seconds) const {
        return static_cast<std::uint64_t>(static_cast<double>(sender_.sent) /
                                          std::max(seconds, 0.001));
    }

    const SendOptions& options_;
    const Remote& remote_;
    const EventParts dress_;
    const double rate_;
    EventInput& input_;
    Sender& sender_;
    Interrupt& interrupt_;
    const Terminal terminal_;
    const SystemClock clock_;
    const Instant started_ = clock_.now();
    Instant shown_at_ = started_;
    bool progress_shown_ = false;
    bool input_failed_ = false;
};

}  // namespace

Result<std::string> key_in(const boost::json::value& value, const std::string& field) {
    const auto* object = value.if_object();
    const auto* member = object ? object->if_contains(field) : nullptr;
    if (!member) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("it has no field '{}' for the key", field)};
    }
    if (const auto* text = member->if_string()) return std::string(*text);
    return boost::json::serialize(*member);
}

Result<EventParts::Named> property_of(std::string_view text) {
    const auto equals = text.find('=');
    const std::string_view left = text.substr(0, equals);
    // The last one: a name may have colons of its own, if a type follows it.
    const auto colon = left.rfind(':');
    const bool has_type = colon != std::string_view::npos;
    const std::string_view name = left.substr(0, colon);
    if (equals == std::string_view::npos || name.empty()) {
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("'{}' is no property; give NAME=VALUE or NAME:TYPE=VALUE", shown(text))};
    }
    if (!is_utf8(name)) {
        return Error{ErrorCode::invalid_argument, "the name of a property is not UTF-8"};
    }
    EventParts::Named property;
    property.name = name;
    const auto good = append_typed(has_type ? left.substr(colon + 1) : "string",
                                   text.substr(equals + 1), property.value);
    if (!good.ok()) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("property '{}' is {}", shown(name), good.error().detail)};
    }
    return property;
}

ExitCode send(const SendOptions& options) {
    Interrupt interrupt;
    const auto rate = parse_rate(options.rate);
    if (!rate) {
        return wrong_usage(fmt::format("'{}' is no rate", options.rate),
                           "--rate 100, --rate 2.5/s or --rate 600/m");
    }
    if (options.keep_partition && options.format != "ndjson" && options.format != "events") {
        return wrong_usage("--keep-partition needs events that name their partition",
                           "--ndjson for lines of 'evenkeel read -o json', or --format events");
    }
    auto dress = dress_of(options);
    if (!dress.ok()) return wrong_usage(dress.error().detail, "evenkeel send --help");
    auto files = options.files;
    if (files.empty()) files.emplace_back("-");
    EventInput input({options.bodies, files, options.format == "file", options.count});
    if (const auto good = input.check(); !good.ok()) {
        return fail("nothing was sent", good.error(), "name a file, or - for standard input");
    }
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const std::string what = fmt::format("nothing was sent to event hub '{}'", options.event_hub);
    const auto contact = first_contact(*remote, options.event_hub);
    if (!contact.ok()) return fail_remote(what, contact.error(), *remote);
    auto producer =
        Producer::open(client_options(*remote, options.event_hub, "evenkeel send", Patience::usual),
                       {.receipts = true});
    if (!producer.ok()) return fail_remote(what, producer.error(), *remote);
    Sender sender(**producer, options);
    return Sending(options, *remote, *rate, input, std::move(*dress), sender, interrupt).run();
}

}  // namespace evenkeel::cli
