#include "host/app/host_json.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "base/spelling.h"
#include "base/text.h"
#include "base/time_text.h"

namespace evenkeel::host {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t batch_max = 100'000;
constexpr std::uint64_t int_max = std::numeric_limits<std::int32_t>::max();

const std::vector<std::string> sections = {"$schema",         "version",     "id",
                                           "functionTimeout", "retry",       "functions",
                                           "customHandler",   "httpWorker",  "extensions",
                                           "extensionBundle", "logging",     "aggregator",
                                           "healthMonitor",   "singleton",   "watchDirectories",
                                           "watchFiles",      "concurrency", "managedDependency",
                                           "telemetryMode",   "evenkeel",    "applicationInsights"};
const std::vector<std::string> event_hub_names = {"maxEventBatchSize",
                                                  "minEventBatchSize",
                                                  "maxWaitTime",
                                                  "batchCheckpointFrequency",
                                                  "prefetchCount",
                                                  "prefetchSizeInBytes",
                                                  "transportType",
                                                  "webProxy",
                                                  "customEndpointAddress",
                                                  "initialOffsetOptions",
                                                  "clientRetryOptions",
                                                  "trackLastEnqueuedEventProperties",
                                                  "partitionOwnershipExpirationInterval",
                                                  "loadBalancingUpdateInterval",
                                                  "targetUnprocessedEventThreshold",
                                                  "enableCheckpointing",
                                                  "eventProcessorOptions",
                                                  "partitionManagerOptions",
                                                  "loadBalancingStrategy"};
const std::vector<std::string> our_names = {"checkpoints", "strictJson", "base64Outputs",
                                            "deadLetterHub", "store"};

const std::vector<std::string> handler_names = {"description", "enableForwardingHttpRequest",
                                                "initializationTimeout"};
const std::vector<std::string> description_names = {"defaultExecutablePath", "workingDirectory",
                                                    "arguments", "defaultWorkerPath",
                                                    "workerArguments"};

void warn_of_unknown(const JsonPlace& place, const std::vector<std::string>& known,
                     std::vector<std::string>& warnings) {
    for (const auto& name : place.names()) {
        const auto is_it = [&](const std::string& word) { return equal_without_case(word, name); };
        if (std::any_of(known.begin(), known.end(), is_it)) continue;
        const std::string meant = nearest(name, known);
        warnings.push_back(fmt::format("{}: is not known and has no effect{}", place[name].where(),
                                       meant.empty() ? "" : fmt::format("; is it '{}'?", meant)));
    }
}

const std::vector<std::string> start_names = {"type", "enqueuedTimeUtc"};
const std::vector<std::string> old_names = {"enableReceiverRuntimeMetric", "maxBatchSize",
                                            "prefetchCount", "receiveTimeout",
                                            "invokeProcessorAfterReceiveTimeout"};

void warn_of_each(const JsonPlace& place, std::initializer_list<const char*> names,
                  std::string_view why, std::vector<std::string>& warnings) {
    for (const char* name : names) {
        if (place[name].exists()) {
            warnings.push_back(fmt::format("{}: {}", place[name].where(), why));
        }
    }
}

void warn_of_ineffective(const JsonPlace& hubs, std::vector<std::string>& warnings) {
    warn_of_each(hubs, {"webProxy", "customEndpointAddress"}, "is not supported and has no effect",
                 warnings);
    constexpr const char* own = "has no effect; the host has retries, leases and times of its own";
    warn_of_each(
        hubs,
        {"clientRetryOptions", "partitionOwnershipExpirationInterval",
         "loadBalancingUpdateInterval", "loadBalancingStrategy", "partitionManagerOptions"},
        own, warnings);
    const JsonPlace old = hubs["eventProcessorOptions"];
    warn_of_each(old, {"receiveTimeout", "invokeProcessorAfterReceiveTimeout"}, own, warnings);
    warn_of_unknown(old, old_names, warnings);
    warn_of_unknown(hubs["initialOffsetOptions"], start_names, warnings);
}

template <typename T>
Result<> read_whole(const JsonPlace& place, std::uint64_t min, std::uint64_t max, T& to) {
    if (!place.exists()) return {};
    EK_TRY_ASSIGN(const std::uint64_t number, place.number(min, max));
    to = static_cast<T>(number);
    return {};
}

Result<> read_truth(const JsonPlace& place, bool& to) {
    if (!place.exists()) return {};
    EK_TRY_ASSIGN(to, place.truth());
    return {};
}

Result<> read_start(const JsonPlace& place, HostOptions& options) {
    const JsonPlace type = place["type"];
    if (!type.exists()) return {};
    EK_TRY_ASSIGN(const auto text, type.text());
    if (text.empty()) return {};
    EK_TRY_ASSIGN(const std::size_t word, type.word({"fromStart", "fromEnd", "fromEnqueuedTime"}));
    if (word == 0) options.start = Position::earliest();
    if (word == 1) options.start = Position::latest();
    if (word != 2) return {};
    const JsonPlace time = place["enqueuedTimeUtc"];
    EK_TRY_ASSIGN(const auto when, time.text());
    const auto parsed = parse_wall_time(when);
    if (!parsed) return time.wrong("must be a time such as \"2026-03-02T09:14:00Z\"");
    options.start = Position::at_time(Timestamp(milliseconds(parsed->milliseconds)));
    return {};
}

Result<> read_event_hubs(const JsonPlace& hubs, HostOptions& options) {
    const JsonPlace old = hubs["eventProcessorOptions"];
    EK_TRY(read_truth(old["enableReceiverRuntimeMetric"], options.track_end));
    EK_TRY(read_whole(old["maxBatchSize"], 1, batch_max, options.max_batch));
    EK_TRY(read_whole(old["prefetchCount"], 0, int_max, options.prefetch_events));

    EK_TRY(read_whole(hubs["maxEventBatchSize"], 1, batch_max, options.max_batch));
    EK_TRY(read_whole(hubs["minEventBatchSize"], 1, batch_max, options.min_batch));
    if (options.min_batch > options.max_batch) {
        return hubs["minEventBatchSize"].wrong(fmt::format(
            "must not be larger than maxEventBatchSize, which is {}", options.max_batch));
    }
    if (const JsonPlace wait = hubs["maxWaitTime"]; wait.exists()) {
        EK_TRY_ASSIGN(options.max_wait, wait.time_span());
        if (options.max_wait < milliseconds(0) || options.max_wait > std::chrono::minutes(10)) {
            return wait.wrong("must be from \"00:00:00\" to \"00:10:00\"");
        }
    }
    EK_TRY(
        read_whole(hubs["batchCheckpointFrequency"], 1, int_max, options.checkpoint_every_batches));
    EK_TRY(read_truth(hubs["enableCheckpointing"], options.writes_checkpoints));
    EK_TRY(read_whole(hubs["prefetchCount"], 0, int_max, options.prefetch_events));
    if (const JsonPlace bytes = hubs["prefetchSizeInBytes"]; bytes.exists()) {
        EK_TRY_ASSIGN(options.prefetch_bytes, bytes.number(0, any));
    }
    EK_TRY(read_truth(hubs["trackLastEnqueuedEventProperties"], options.track_end));
    if (const JsonPlace type = hubs["transportType"]; type.exists()) {
        EK_TRY_ASSIGN(const std::size_t word, type.word({"amqpTcp", "amqpWebSockets"}));
        options.websockets = word == 1;
    }
    EK_TRY(read_start(hubs["initialOffsetOptions"], options));
    if (const JsonPlace target = hubs["targetUnprocessedEventThreshold"]; target.exists()) {
        EK_TRY_ASSIGN(options.target_unprocessed_threshold, target.number(1, int_max));
    }
    return {};
}

Result<CustomHandler> parse_custom_handler(const JsonPlace& place,
                                           std::vector<std::string>& warnings) {
    CustomHandler handler;
    const JsonPlace description = place["description"];
    warn_of_unknown(place, handler_names, warnings);
    warn_of_unknown(description, description_names, warnings);
    warn_of_each(place, {"enableForwardingHttpRequest"},
                 "has no effect; it is for HTTP triggers, which are not run", warnings);
    EK_TRY_ASSIGN(handler.executable, description["defaultExecutablePath"].text());
    if (handler.executable.empty()) {
        return description["defaultExecutablePath"].wrong("must name the program to run");
    }
    if (description["workingDirectory"].exists()) {
        EK_TRY_ASSIGN(handler.working_directory, description["workingDirectory"].text());
    }
    if (description["arguments"].exists()) {
        EK_TRY_ASSIGN(handler.arguments, description["arguments"].texts());
    }
    if (description["defaultWorkerPath"].exists()) {
        EK_TRY_ASSIGN(auto path, description["defaultWorkerPath"].text());
        if (!path.empty()) handler.arguments.push_back(std::move(path));
    }
    if (description["workerArguments"].exists()) {
        EK_TRY_ASSIGN(const auto more, description["workerArguments"].texts());
        handler.arguments.insert(handler.arguments.end(), more.begin(), more.end());
    }
    if (place["initializationTimeout"].exists()) {
        EK_TRY_ASSIGN(handler.initialization_timeout, place["initializationTimeout"].time_span());
    }
    return handler;
}

Result<> read_ours(const JsonPlace& ours, HostOptions& options) {
    if (ours["checkpoints"].exists()) {
        EK_TRY_ASSIGN(const std::size_t word,
                      ours["checkpoints"].word({"on_success", "functions"}));
        options.checkpoint_rule =
            word == 0 ? CheckpointRule::on_success : CheckpointRule::functions;
    }
    EK_TRY(read_truth(ours["strictJson"], options.strict_json));
    EK_TRY(read_truth(ours["base64Outputs"], options.base64_outputs));
    if (ours["deadLetterHub"].exists()) {
        EK_TRY_ASSIGN(options.dead_letter_hub, ours["deadLetterHub"].text());
    }
    if (ours["store"].exists()) {
        EK_TRY_ASSIGN(options.store, ours["store"].text());
    }
    return {};
}

Result<> read_timeout(const JsonPlace& place, HostOptions& options) {
    if (!place.exists()) return {};
    EK_TRY_ASSIGN(const auto text, place.text());
    if (text == "-1" || text == "-00:00:00.0010000") {
        options.function_timeout = std::nullopt;
        return {};
    }
    EK_TRY_ASSIGN(const auto timeout, place.time_span());
    if (timeout <= milliseconds(0)) {
        return place.wrong("must be a time such as \"00:10:00\", or \"-1\" for none");
    }
    options.function_timeout = timeout;
    return {};
}

}  // namespace

Result<std::optional<RetryRule>> parse_retry(const JsonPlace& place) {
    if (!place.exists()) return std::optional<RetryRule>();
    RetryRule rule;
    EK_TRY_ASSIGN(const std::size_t strategy,
                  place["strategy"].word({"fixedDelay", "exponentialBackoff"}));
    rule.is_exponential = strategy == 1;
    EK_TRY_ASSIGN(const std::int64_t retries, place["maxRetryCount"].signed_number(-1));
    rule.retries_max.reset();
    if (retries >= 0) {
        rule.retries_max = static_cast<std::uint32_t>(std::min<std::int64_t>(retries, 1'000'000));
    }
    const auto read = [&](const char* name) -> Result<milliseconds> {
        EK_TRY_ASSIGN(const auto span, place[name].time_span());
        if (span < milliseconds(0)) return place[name].wrong("must not be negative");
        return span;
    };
    if (!rule.is_exponential) {
        EK_TRY_ASSIGN(rule.delay, read("delayInterval"));
        return std::optional(rule);
    }
    EK_TRY_ASSIGN(rule.delay, read("minimumInterval"));
    EK_TRY_ASSIGN(rule.delay_max, read("maximumInterval"));
    if (rule.delay > rule.delay_max) {
        return place["minimumInterval"].wrong("must not be larger than maximumInterval");
    }
    return std::optional(rule);
}

Result<HostOptions> parse_host_json(const JsonFile& file, std::vector<std::string>& warnings) {
    const JsonPlace root = file.root();
    if (!root.is_object()) return root.wrong("must be an object, such as {\"version\": \"2.0\"}");
    HostOptions options;
    warn_of_unknown(root, sections, warnings);
    const JsonPlace hubs = root["extensions"]["eventHubs"];
    if (hubs.exists()) {
        if (!hubs.is_object()) return hubs.wrong("must be an object");
        warn_of_unknown(hubs, event_hub_names, warnings);
        warn_of_ineffective(hubs, warnings);
        EK_TRY(read_event_hubs(hubs, options));
    }
    EK_TRY(read_timeout(root["functionTimeout"], options));
    EK_TRY_ASSIGN(options.retry, parse_retry(root["retry"]));
    if (root["functions"].exists()) {
        EK_TRY_ASSIGN(options.only, root["functions"].texts());
    }
    for (const char* name : {"httpWorker", "customHandler"}) {
        if (!root[name].exists()) continue;
        EK_TRY_ASSIGN(options.custom_handler, parse_custom_handler(root[name], warnings));
    }
    const JsonPlace ours = root["evenkeel"];
    warn_of_unknown(ours, our_names, warnings);
    EK_TRY(read_ours(ours, options));
    return options;
}

}  // namespace evenkeel::host
