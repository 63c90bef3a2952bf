#include "host/app/host_json.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

using namespace std::chrono_literals;

struct Parsed {
    Result<HostOptions> options;
    std::vector<std::string> warnings;
};
Parsed parsed(const std::string& text) {
    const auto file = JsonFile::parse("host.json", text);
    EXPECT_TRUE(file.ok()) << file.error().detail;
    std::vector<std::string> warnings;
    auto options = parse_host_json(*file, warnings);
    return {std::move(options), std::move(warnings)};
}
Parsed hubs(const std::string& members) {
    return parsed(R"({"version": "2.0", "extensions": {"eventHubs": {)" + members + "}}}");
}
std::string problem(const Parsed& given) {
    return given.options.ok() ? "none" : given.options.error().detail;
}

TEST(HostJson, has_the_defaults_of_the_extension) {
    const auto given = parsed(R"({"version": "2.0"})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    const HostOptions& options = *given.options;
    EXPECT_EQ(options.max_batch, 100u);
    EXPECT_EQ(options.min_batch, 1u);
    EXPECT_EQ(options.max_wait, 1min);
    EXPECT_EQ(options.checkpoint_every_batches, 1u);
    EXPECT_EQ(options.prefetch_events, 300u);
    EXPECT_EQ(options.start.kind, Position::Kind::earliest);
    EXPECT_EQ(options.function_timeout, 30min);
    EXPECT_TRUE(options.writes_checkpoints);
    EXPECT_EQ(options.checkpoint_rule, CheckpointRule::on_success);
    EXPECT_TRUE(given.warnings.empty());
}

TEST(HostJson, reads_every_option_of_event_hubs) {
    const auto given = hubs(R"("maxEventBatchSize": 50, "minEventBatchSize": 5,
        "maxWaitTime": "00:00:10", "batchCheckpointFrequency": 3, "prefetchCount": 10,
        "prefetchSizeInBytes": 1000, "transportType": "AmqpWebSockets",
        "trackLastEnqueuedEventProperties": true, "targetUnprocessedEventThreshold": 7,
        "enableCheckpointing": false,
        "initialOffsetOptions": {"type": "fromEnqueuedTime",
                                 "enqueuedTimeUtc": "2026-03-02T09:14:00Z"})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    const HostOptions& options = *given.options;
    EXPECT_EQ(options.max_batch, 50u);
    EXPECT_EQ(options.min_batch, 5u);
    EXPECT_EQ(options.max_wait, 10s);
    EXPECT_EQ(options.checkpoint_every_batches, 3u);
    EXPECT_EQ(options.prefetch_events, 10u);
    EXPECT_EQ(options.prefetch_bytes, 1000u);
    EXPECT_TRUE(options.websockets);
    EXPECT_TRUE(options.track_end);
    EXPECT_EQ(options.target_unprocessed_threshold, 7u);
    EXPECT_FALSE(options.writes_checkpoints);
    EXPECT_EQ(options.start.kind, Position::Kind::enqueued_time);
    EXPECT_TRUE(given.warnings.empty()) << given.warnings[0];
}

TEST(HostJson, lets_new_names_win_over_old_ones) {
    const auto given = hubs(R"("maxEventBatchSize": 9, "eventProcessorOptions":
        {"maxBatchSize": 5, "prefetchCount": 6, "enableReceiverRuntimeMetric": true})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    EXPECT_EQ(given.options->max_batch, 9u);
    EXPECT_EQ(given.options->prefetch_events, 6u);
    EXPECT_TRUE(given.options->track_end);
}

TEST(HostJson, warns_of_names_it_does_not_know) {
    const auto given = parsed(R"({"versions": "2.0",
        "extensions": {"eventHubs": {"maxBatchSze": 1, "webProxy": "http://p"}, "http": {}}})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    ASSERT_EQ(given.warnings.size(), 3u);
    EXPECT_EQ(given.warnings[0],
              "host.json:1: versions: is not known and has no effect; is it 'version'?");
    EXPECT_EQ(given.warnings[1],
              "host.json:2: extensions.eventHubs.maxBatchSze: is not known and has no effect");
}

TEST(HostJson, warns_of_each_option_that_has_no_effect) {
    const auto given = hubs(R"("clientRetryOptions": {"maximumRetries": 3},
        "partitionOwnershipExpirationInterval": "00:01:00",
        "loadBalancingUpdateInterval": "00:00:10", "loadBalancingStrategy": "greedy",
        "customEndpointAddress": "https://hub.example",
        "partitionManagerOptions": {"leaseDuration": "00:00:15"},
        "eventProcessorOptions": {"receiveTimeout": "00:00:30", "maxBatchSzie": 1},
        "initialOffsetOptions": {"type": "fromEnd", "enqueuedTimeUTC": "", "time": "x"})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    std::string all;
    for (const auto& warning : given.warnings) all += warning + "\n";
    EXPECT_EQ(given.warnings.size(), 9u) << all;
    for (const char* name : {"clientRetryOptions", "partitionOwnershipExpirationInterval",
                             "loadBalancingUpdateInterval", "loadBalancingStrategy",
                             "customEndpointAddress", "partitionManagerOptions", "receiveTimeout",
                             "maxBatchSzie", "initialOffsetOptions.time"}) {
        EXPECT_NE(all.find(std::string(name) + ": "), std::string::npos) << name << all;
    }
}

TEST(HostJson, refuses_values_that_azure_refuses) {
    EXPECT_EQ(problem(hubs(R"("maxEventBatchSize": 0)")),
              "host.json:1: extensions.eventHubs.maxEventBatchSize: must be a whole number from 1 "
              "to 100000");
    EXPECT_NE(problem(hubs(R"("minEventBatchSize": 200)")).find("not be larger than"),
              std::string::npos);
    EXPECT_NE(problem(hubs(R"("maxWaitTime": "00:11:00")")).find("00:10:00"), std::string::npos);
    EXPECT_NE(problem(hubs(R"("initialOffsetOptions": {"type": "fromEnqueuedTime"})"))
                  .find("enqueuedTimeUtc: is missing"),
              std::string::npos);
    EXPECT_NE(problem(hubs(R"("targetUnprocessedEventThreshold": 0)")).find("1"),
              std::string::npos);
}

TEST(HostJson, has_no_timeout_for_minus_one) {
    EXPECT_EQ(parsed(R"({"functionTimeout": "-1"})").options->function_timeout, std::nullopt);
    EXPECT_EQ(parsed(R"({"functionTimeout": "00:05:00"})").options->function_timeout, 5min);
    EXPECT_FALSE(parsed(R"({"functionTimeout": "00:00:00"})").options.ok());
}

TEST(HostJson, reads_custom_handlers_old_and_new) {
    const auto given = parsed(R"({"customHandler": {"description": {
        "defaultExecutablePath": "handler", "arguments": ["--x"], "defaultWorkerPath": "w.js"}}})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    ASSERT_TRUE(given.options->custom_handler);
    EXPECT_EQ(given.options->custom_handler->executable, "handler");
    EXPECT_EQ(given.options->custom_handler->arguments, (std::vector<std::string>{"--x", "w.js"}));
    EXPECT_TRUE(parsed(R"({"httpWorker": {"description": {"defaultExecutablePath": "h"}}})")
                    .options->custom_handler);
    EXPECT_FALSE(parsed(R"({"customHandler": {}})").options.ok());
}

TEST(HostJson, reads_our_own_section) {
    const auto given = parsed(R"({"evenkeel": {"checkpoints": "functions", "strictJson": true,
        "base64Outputs": false, "deadLetterHub": "failed", "store": "memory:"}})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    EXPECT_EQ(given.options->checkpoint_rule, CheckpointRule::functions);
    EXPECT_TRUE(given.options->strict_json);
    EXPECT_FALSE(given.options->base64_outputs);
    EXPECT_EQ(given.options->dead_letter_hub, "failed");
    EXPECT_EQ(given.options->store, "memory:");
}

TEST(RetryPolicyJson, has_all_members_of_its_strategy) {
    const auto retry = [](const std::string& text) {
        return parsed("{\"retry\": " + text + "}").options;
    };

    EXPECT_EQ(retry(R"({"strategy": "fixedDelay", "maxRetryCount": 3,
                        "delayInterval": "00:00:05"})")
                  ->retry,
              (RetryRule{.is_exponential = false, .retries_max = 3, .delay = 5s}));
    EXPECT_EQ(
        retry(R"({"strategy": "exponential_backoff", "maxRetryCount": "-1",
                        "minimumInterval": "00:00:04", "maximumInterval": "00:15:00"})")
            ->retry,
        (RetryRule{
            .is_exponential = true, .retries_max = std::nullopt, .delay = 4s, .delay_max = 15min}));
    EXPECT_FALSE(retry(R"({"strategy": "fixedDelay", "maxRetryCount": 3})").ok());
    EXPECT_FALSE(retry(R"({"strategy": "fixedDelay", "delayInterval": "00:00:05"})").ok());
    EXPECT_FALSE(retry(R"({"strategy": "fixedDelay", "maxRetryCount": -2,
                           "delayInterval": "00:00:05"})")
                     .ok());
    EXPECT_FALSE(retry(R"({"strategy": "exponentialBackoff", "maxRetryCount": 3,
                           "minimumInterval": "00:00:05", "maximumInterval": "00:00:04"})")
                     .ok());
}

TEST(HostJson, warns_of_what_it_does_not_know_of_a_custom_handler) {
    const auto given = parsed(R"({"customHandler": {"enableForwardingHttpRequest": true,
        "initialisationTimeout": "00:00:01",
        "description": {"defaultExecutablePath": "a", "argument": []}}})");

    ASSERT_TRUE(given.options.ok()) << problem(given);
    ASSERT_EQ(given.warnings.size(), 3u);
    EXPECT_NE(given.warnings[0].find("is it 'initializationTimeout'?"), std::string::npos);
    EXPECT_NE(given.warnings[1].find("is it 'arguments'?"), std::string::npos);
    EXPECT_NE(given.warnings[2].find("HTTP triggers"), std::string::npos) << given.warnings[2];
}

}  // namespace
}  // namespace evenkeel::host
