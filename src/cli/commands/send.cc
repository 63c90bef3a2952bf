#include "cli/commands/send.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/text/event_input.h"
#include "cli/text/terminal.h"
#include "cli/text/units.h"
#include <evenkeel/producer.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t batch_events_max = 500;
// With many keys, those with little in them would pile up.
constexpr std::size_t batches_max = 1000;
constexpr auto progress_interval = std::chrono::seconds(10);  // where no terminal is
constexpr auto terminal_interval = std::chrono::milliseconds(250);

// What all events have, besides their body.
struct Dress {
    std::string content_type;
    std::vector<Property> properties;  // views of the options
};

Result<Dress> dress_of(const SendOptions& options) {
    Dress dress;
    dress.content_type = options.content_type;
    if (dress.content_type.empty() && options.format == "ndjson") {
        dress.content_type = "application/json";
    }
    for (const auto& text : options.properties) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is no property; give NAME=VALUE", text)};
        }
        const std::string_view all(text);
        dress.properties.push_back({all.substr(0, equals), all.substr(equals + 1)});
    }
    return dress;
}

// Collects events by key and sends whole batches.
class Sender {
public:
    Sender(Producer& producer, const SendOptions& options, Dress dress)
        : producer_(producer), options_(options), dress_(std::move(dress)) {}

    Result<> add(std::string_view body, const std::string& key) {
        auto found = batches_.find(key);
        if (found == batches_.end()) {
            EK_TRY_ASSIGN(auto batch, producer_.make_batch({options_.partition, key}));
            found = batches_.emplace(key, std::move(batch)).first;
        }
        const EventData event{
            .body = body, .content_type = dress_.content_type, .properties = dress_.properties};
        if (found->second.size() >= batch_events_max || !found->second.try_add(event)) {
            EK_TRY(send(found->second));
            if (!found->second.try_add(event)) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("an event of {} bytes is larger than the hub accepts ({})",
                                         body.size(), found->second.bytes_max())};
            }
        }
        bytes += body.size();
        if (batches_.size() > batches_max) return flush();
        return {};
    }
    Result<> flush() {
        for (auto& [key, batch] : batches_) EK_TRY(send(batch));
        batches_.clear();
        return {};
    }

    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;

private:
    Result<> send(SendBatch& batch) {
        if (batch.empty()) return {};
        EK_TRY(producer_.send(batch));
        sent += batch.size();
        batch.clear();
        return {};
    }

    Producer& producer_;
    const SendOptions& options_;
    const Dress dress_;
    std::map<std::string, SendBatch> batches_;
};

// One sending, from the first event to the last line on stderr.
class Sending {
public:
    Sending(const SendOptions& options, const Remote& remote, double rate, EventInput& input,
            Sender& sender, Interrupt& interrupt)
        : options_(options),
          remote_(remote),
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
            // Which partitions got them is the hub's to know.
            fmt::print(stderr, "sent {} event{}  {}  {:.1f} s  ({}/s)  0 failed\n",
                       with_commas(sender_.sent), sender_.sent == 1 ? "" : "s",
                       bytes_text(sender_.bytes), seconds, with_commas(per_second(seconds)));
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
                case EventInput::State::failed: EK_TRY(sender_.flush()); return input_.error();
            }
        }
        return sender_.flush();
    }

    Result<> send_one() {
        std::string key = options_.key;
        if (options_.format == "ndjson" || !options_.key_field.empty()) {
            auto found = key_in(input_.body(), options_.key_field);
            if (!found.ok()) {
                EK_TRY(sender_.flush());
                return Error{found.error().code,
                             fmt::format("event {}: {}", input_.number(), found.error().detail)};
            }
            if (!options_.key_field.empty()) key = std::move(*found);
        }
        EK_TRY(sender_.add(input_.body(), key));
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

    ExitCode failed(const Error& error) {
        const std::string what =
            sender_.sent == 0 ? std::string("nothing was sent")
                              : fmt::format("only {} events were sent", with_commas(sender_.sent));
        const ExitCode code = fail_remote(what, error, remote_);
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
    const double rate_;
    EventInput& input_;
    Sender& sender_;
    Interrupt& interrupt_;
    const Terminal terminal_;
    const SystemClock clock_;
    const Instant started_ = clock_.now();
    Instant shown_at_ = started_;
    bool progress_shown_ = false;
};

}  // namespace

Result<std::string> key_in(std::string_view body, const std::string& field) {
    boost::system::error_code error;
    const auto value = boost::json::parse({body.data(), body.size()}, error);
    if (error) return Error{ErrorCode::invalid_argument, "it is not JSON: " + error.message()};
    if (field.empty()) return std::string();
    const auto* object = value.if_object();
    const auto* member = object ? object->if_contains(field) : nullptr;
    if (!member) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("it has no field '{}' for the key", field)};
    }
    if (const auto* text = member->if_string()) return std::string(*text);
    return boost::json::serialize(*member);
}

ExitCode send(const SendOptions& options) {
    Interrupt interrupt;
    const auto rate = parse_rate(options.rate);
    if (!rate) {
        return wrong_usage(fmt::format("'{}' is no rate", options.rate),
                           "--rate 100, --rate 2.5/s or --rate 600/m");
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
    if (!remote.ok()) return fail("send", remote.error());
    const std::string what = fmt::format("nothing was sent to event hub '{}'", options.event_hub);
    const auto contact = first_contact(*remote, options.event_hub);
    if (!contact.ok()) return fail_remote(what, contact.error(), *remote);
    auto producer = Producer::open(
        client_options(*remote, options.event_hub, "evenkeel send", Patience::usual));
    if (!producer.ok()) return fail_remote(what, producer.error(), *remote);
    Sender sender(**producer, options, std::move(*dress));
    return Sending(options, *remote, *rate, input, sender, interrupt).run();
}

}  // namespace evenkeel::cli
