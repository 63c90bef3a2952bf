#include "cli/send.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/result.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include <evenkeel/producer.h>

namespace evenkeel::cli {
namespace {

// Batches that wait for the hub; more of them only take memory.
constexpr std::size_t batch_events_max = 500;

class Input {
public:
    explicit Input(const SendOptions& options) : options_(options) {}
    ~Input() {
        if (file_ && file_ != stdin) std::fclose(file_);
        std::free(line_);
    }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    Result<> open() {
        if (!options_.bodies.empty()) return {};
        // Only read, line by line: the seam for durable files is not needed here.
        file_ = options_.file == "-"
                    ? stdin
                    : std::fopen(options_.file.c_str(), "r");  // tidy: allow file: only read
        if (!file_) {
            return Error{ErrorCode::not_found,
                         fmt::format("'{}' cannot be read; name a file, or - for standard input",
                                     options_.file)};
        }
        return {};
    }

    // The next event's body; none at the end.
    std::optional<std::string_view> next() {
        if (options_.count > 0 && given_ == options_.count) return std::nullopt;
        if (!options_.bodies.empty()) {
            const bool again = options_.count > 0;
            if (!again && given_ == options_.bodies.size()) return std::nullopt;
            return options_.bodies[given_++ % options_.bodies.size()];
        }
        const auto size = getline(&line_, &capacity_, file_);
        if (size < 0) return std::nullopt;
        ++given_;
        std::string_view text(line_, static_cast<std::size_t>(size));
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
        return text;
    }
    std::uint64_t number() const { return given_; }

private:
    const SendOptions& options_;
    std::FILE* file_ = nullptr;
    char* line_ = nullptr;
    std::size_t capacity_ = 0;
    std::uint64_t given_ = 0;
};

// The key of a line: the option's, or the value of its key field.
Result<std::string> key_of(const SendOptions& options, std::string_view body) {
    if (!options.ndjson && options.key_field.empty()) return options.key;
    boost::system::error_code error;
    const auto value = boost::json::parse({body.data(), body.size()}, error);
    if (error) return Error{ErrorCode::invalid_argument, "it is not JSON: " + error.message()};
    if (options.key_field.empty()) return options.key;
    const auto* object = value.if_object();
    const auto* field = object ? object->if_contains(options.key_field) : nullptr;
    if (!field) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("it has no field '{}' for the key", options.key_field)};
    }
    if (const auto* text = field->if_string()) return std::string(*text);
    return boost::json::serialize(*field);
}

// Collects events by key and sends whole batches.
class Sender {
public:
    Sender(Producer& producer, const SendOptions& options)
        : producer_(producer), options_(options) {}

    Result<> add(std::string_view body, const std::string& key) {
        auto found = batches_.find(key);
        if (found == batches_.end()) {
            EK_TRY_ASSIGN(auto batch, producer_.make_batch({options_.partition, key}));
            found = batches_.emplace(key, std::move(batch)).first;
        }
        if (found->second.size() >= batch_events_max || !found->second.try_add(body)) {
            EK_TRY(send(found->second));
            if (!found->second.try_add(body)) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("an event of {} bytes is larger than the hub takes ({})",
                                         body.size(), found->second.bytes_max())};
            }
        }
        bytes += body.size();
        // With many keys, those with little in them would pile up.
        if (batches_.size() > 1000) return flush();
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
    std::map<std::string, SendBatch> batches_;
};

}  // namespace

std::string default_connection() {
    for (const char* name : {"EVENKEEL_HUB", "EVENTHUB_CONNECTION_STRING"}) {
        if (const char* value = std::getenv(name); value && *value) return value;
    }
    return "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;"
           "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;";
}

ExitCode send(const SendOptions& options) {
    Interrupt interrupt;
    Input input(options);
    if (const auto opened = input.open(); !opened.ok()) return fail("send", opened.error());
    ClientOptions client;
    client.connection = options.connection.empty() ? default_connection() : options.connection;
    client.event_hub = options.event_hub;
    client.name = "evenkeel send";
    auto producer = Producer::open(client);
    if (!producer.ok()) {
        return fail(fmt::format("cannot send to event hub '{}'", options.event_hub),
                    producer.error(), "is a hub running? 'evenkeel dev' starts one");
    }
    const SystemClock clock;
    const Instant started = clock.now();
    Sender sender(**producer, options);
    bool interrupted = false;
    while (const auto body = input.next()) {
        const auto key = key_of(options, *body);
        if (!key.ok()) {
            (void)sender.flush();
            return fail(
                fmt::format("line {} was not sent, {} before it were", input.number(), sender.sent),
                key.error());
        }
        if (const auto added = sender.add(*body, *key); !added.ok()) {
            return fail(fmt::format("{} events were sent, then", sender.sent), added.error());
        }
        if (options.rate > 0) {
            const auto due =
                started + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
                              static_cast<double>(input.number()) / options.rate));
            if (due > clock.now()) {
                if (const auto flushed = sender.flush(); !flushed.ok()) {
                    return fail(fmt::format("{} events were sent, then", sender.sent),
                                flushed.error());
                }
                interrupted = interrupt.wait(due - clock.now());
            }
        } else if (input.number() % 1000 == 0) {
            interrupted = interrupt.wait(Duration(0));
        }
        if (interrupted) break;
    }
    if (const auto flushed = sender.flush(); !flushed.ok()) {
        return fail(fmt::format("{} events were sent, then", sender.sent), flushed.error());
    }
    const double seconds = std::chrono::duration<double>(clock.now() - started).count();
    if (!options.quiet) {
        fmt::print(stderr, "sent {} events  {}  {:.1f} s  ({}/s)  0 failed\n",
                   with_commas(sender.sent), bytes_text(sender.bytes), seconds,
                   with_commas(static_cast<std::uint64_t>(static_cast<double>(sender.sent) /
                                                          std::max(seconds, 0.001))));
    }
    return interrupted ? ExitCode::interrupted : ExitCode::done;
}

}  // namespace evenkeel::cli
