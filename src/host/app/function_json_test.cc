#include "host/app/function_json.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

using namespace std::chrono_literals;

const Environment hub_settings = {
    {"HUB", "Endpoint=sb://localhost;SharedAccessKeyName=n;SharedAccessKey=a2V5"},
    {"NAME", "homes"}};

struct Given {
    Result<std::optional<Function>> function;
    std::vector<std::string> warnings;
};
Given given_function(const std::string& text, const Environment& environment = hub_settings,
                     const HostOptions& options = {}) {
    const auto file = JsonFile::parse("f/function.json", text);
    EXPECT_TRUE(file.ok()) << file.error().detail;
    std::vector<std::string> warnings;
    const Settings settings(environment);
    auto function = parse_function("f", file->root(), settings, options, warnings);
    return {std::move(function), std::move(warnings)};
}
std::string with_trigger(const std::string& members, const std::string& more = "") {
    return R"({"bindings": [{"type": "eventHubTrigger", "direction": "in", "name": "events",
        "connection": "HUB")" +
           members + "}" + more + "}";
}

TEST(FunctionJson, reads_a_trigger_with_settings_in_its_names) {
    const auto given = given_function(with_trigger(
        R"(, "eventHubName": "%NAME%", "consumerGroup": "agg", "cardinality": "many",
            "dataType": "binary")",
        "]"));

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    const Function& function = **given.function;
    EXPECT_EQ(function.event_hub, "homes");
    EXPECT_EQ(function.consumer_group, "agg");
    EXPECT_EQ(function.cardinality, Cardinality::many);
    EXPECT_EQ(function.data_type, DataType::binary);
    EXPECT_EQ(function.max_batch, 100u);
    EXPECT_TRUE(function.connection.ends_with(";EntityPath=homes"));
    EXPECT_FALSE(function.disabled);
}

TEST(FunctionJson, reads_one_event_at_a_time_by_default) {
    const auto given = given_function(with_trigger(R"(, "path": "homes")", "]"));

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    EXPECT_EQ((*given.function)->cardinality, Cardinality::one);
    EXPECT_EQ((*given.function)->max_batch, 1u);
    EXPECT_EQ((*given.function)->consumer_group, "$Default");
}

TEST(FunctionJson, reads_outputs_a_retry_policy_and_a_command) {
    const auto given = given_function(with_trigger(
        R"(, "eventHubName": "homes")",
        R"(, {"type": "eventHub", "direction": "out", "name": "alerts", "eventHubName": "alerts",
              "connection": "HUB"}],
            "retry": {"strategy": "fixedDelay", "maxRetryCount": 3, "delayInterval": "00:00:05"},
            "evenkeel": {"command": "cat", "answers": "line"})"));

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    const Function& function = **given.function;
    ASSERT_EQ(function.outputs.size(), 1u);
    EXPECT_EQ(function.outputs[0].event_hub, "alerts");
    EXPECT_EQ(function.retry->delay, 5s);
    EXPECT_EQ(function.kind, Kind::command);
    EXPECT_TRUE(function.answers_lines);
    EXPECT_EQ(function.cardinality, Cardinality::many) << "the default of commands";
}

TEST(FunctionJson, is_disabled_in_the_file_by_a_setting_or_a_list) {
    const std::string hub = R"(, "eventHubName": "homes")";
    auto environment = hub_settings;
    environment["AzureWebJobs.f.Disabled"] = "true";

    EXPECT_TRUE((*given_function(with_trigger(hub, R"(], "disabled": true)")).function)->disabled);
    EXPECT_TRUE((*given_function(with_trigger(hub, "]"), environment).function)->disabled);
    EXPECT_TRUE((*given_function(with_trigger(hub, "]"), hub_settings,
                                 {.only = std::vector<std::string>{"other"}})
                      .function)
                    ->disabled);
    EXPECT_FALSE((*given_function(with_trigger(hub, "]"), hub_settings,
                                  {.only = std::vector<std::string>{"F"}})
                       .function)
                     ->disabled);
}

TEST(FunctionJson, needs_no_settings_if_it_is_disabled) {
    const auto given =
        given_function(with_trigger(R"(, "eventHubName": "%GONE%", "consumerGroup": "agg")",
                                    R"(, {"type": "eventHub", "direction": "out", "name": "alerts",
                           "eventHubName": "alerts", "connection": "OTHER"}],
                         "evenkeel": {"command": ""})"),
                       {{"AzureWebJobs.f.Disabled", "1"}});

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    ASSERT_TRUE(given.function->has_value());
    EXPECT_TRUE((*given.function)->disabled);
    EXPECT_EQ((*given.function)->event_hub, "%GONE%") << "for lists";
    EXPECT_EQ((*given.function)->consumer_group, "agg");
}

TEST(FunctionJson, needs_no_settings_with_another_trigger) {
    const auto given = given_function(R"({"bindings": [
        {"type": "eventHub", "direction": "out", "name": "alerts", "eventHubName": "alerts",
         "connection": "OTHER"}, {"type": "httpTrigger", "name": "req"}]})",
                                      {});

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    EXPECT_FALSE(given.function->has_value());
    EXPECT_EQ(given.warnings.size(), 1u);
}

TEST(FunctionJson, names_file_line_and_what_is_allowed) {
    const auto problem = [](const std::string& members) {
        return given_function(with_trigger(members, "]")).function.error().detail;
    };

    EXPECT_EQ(problem(R"(, "eventHubName": "homes",
  "cardinality": "few")"),
              "f/function.json:3: bindings[0].cardinality: must be \"one\" or \"many\"");
    EXPECT_NE(problem("").find("eventHubName: is missing; it must name an event hub"),
              std::string::npos);
    EXPECT_NE(problem(R"(, "eventHubName": "%GONE%")").find("'GONE'"), std::string::npos);
    EXPECT_NE(problem(R"(, "eventHubName": "a b")").find("eventHubName"), std::string::npos);
}

TEST(FunctionJson, is_no_function_of_ours_with_another_trigger) {
    const auto given = given_function(R"({"bindings": [{"type": "httpTrigger", "name": "req"}]})");

    ASSERT_TRUE(given.function.ok());
    EXPECT_FALSE(given.function->has_value());
    ASSERT_EQ(given.warnings.size(), 1u);
    EXPECT_NE(given.warnings[0].find("httpTrigger"), std::string::npos);
}

TEST(FunctionJson, warns_of_a_connection_string_in_place_of_a_name) {
    const auto given = given_function(R"({"bindings": [{"type": "eventHubTrigger", "name": "e",
        "eventHubName": "homes",
        "connection": "Endpoint=sb://localhost;SharedAccessKeyName=n;SharedAccessKey=a2V5"}]})");

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    ASSERT_EQ(given.warnings.size(), 1u);
    EXPECT_EQ(given.warnings[0].find("a2V5"), std::string::npos);
}

TEST(FunctionJson, names_the_address_of_a_receiver_of_cloud_events) {
    const auto of = [](const std::string& url) {
        return given_function(with_trigger(R"(, "eventHubName": "homes")",
                                           R"(], "evenkeel": {"url": ")" + url + "\"}"));
    };

    const auto given = of("https://functions.example/events");
    const auto wrong = of("functions.example");

    ASSERT_TRUE(given.function.ok()) << given.function.error().detail;
    EXPECT_EQ((*given.function)->kind, Kind::cloud_events);
    EXPECT_EQ((*given.function)->url, "https://functions.example/events");
    EXPECT_EQ((*given.function)->cardinality, Cardinality::one);
    ASSERT_FALSE(wrong.function.ok());
    EXPECT_NE(wrong.function.error().detail.find("must be an address such as"), std::string::npos);
}

TEST(FunctionJson, warns_of_outputs_that_a_command_cannot_write) {
    const std::string output = R"(}, {"type": "eventHub", "direction": "out", "name": "alerts",
        "eventHubName": "alerts", "connection": "HUB")";
    const auto command = given_function(with_trigger(R"(, "eventHubName": "homes")" + output,
                                                     R"(], "evenkeel": {"command": "cat"})"));
    const auto cloud = given_function(with_trigger(
        R"(, "eventHubName": "homes")" + output, R"(], "evenkeel": {"url": "http://localhost/"})"));

    ASSERT_TRUE(command.function.ok()) << command.function.error().detail;
    ASSERT_EQ(command.warnings.size(), 1u);
    EXPECT_TRUE(command.warnings[0].starts_with("f/function.json:1: bindings: outputs"))
        << command.warnings[0];
    EXPECT_TRUE(cloud.warnings.empty());
}

}  // namespace
}  // namespace evenkeel::host
