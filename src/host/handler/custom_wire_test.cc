#include "host/handler/custom_wire.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

std::string data_of(const GivenEvents& given, const HostOptions& options = {}) {
    const auto request =
        wire_request(given.invocation(), options, "guid", *parse_wall_time("2026-11-16"));
    if (!request.ok()) return request.error().detail;
    const std::string& body = request->body;
    return body.substr(0, body.find(",\"Metadata\""));
}
WireResponse json_answer(std::string body, int status = 200) {
    return {.status = status,
            .content_type = "application/json; charset=utf-8",
            .body = std::move(body)};
}
Function with_outputs(std::vector<EventHubOutput> outputs) {
    Function function = a_function(Cardinality::many);
    function.outputs = std::move(outputs);
    return function;
}
std::vector<std::string> bodies_of(const std::string& answer, const Function& function,
                                   const HostOptions& options = {}) {
    const auto outcome = wire_outcome(json_answer(answer), function, options);
    if (!outcome.ok()) return {outcome.error().detail};
    return outcome->outputs.empty() ? std::vector<std::string>{} : outcome->outputs[0].bodies;
}
const Function with_alerts = with_outputs({{.name = "alerts", .event_hub = "a", .connection = ""}});

TEST(CustomWire, encodes_strings_twice) {
    EXPECT_EQ(data_of({a_function(Cardinality::one), {{.body = "hello"}}}),
              R"({"Data":{"events":"\"hello\""})");
    EXPECT_EQ(data_of({a_function(Cardinality::one), {{.body = R"({"t":1})"}}}),
              R"({"Data":{"events":"\"{\\\"t\\\":1}\""})");
}

TEST(CustomWire, encodes_arrays_as_a_text) {
    const std::vector<EventData> two = {{.body = R"({"t":1})"}, {.body = R"({"t":2})"}};

    EXPECT_EQ(data_of({a_function(Cardinality::many), two}),
              R"({"Data":{"events":"[{\"t\":1},{\"t\":2}]"})");
    EXPECT_EQ(data_of({a_function(Cardinality::many, DataType::text), two}),
              R"({"Data":{"events":"[\"{\\\"t\\\":1}\",\"{\\\"t\\\":2}\"]"})");
    EXPECT_EQ(data_of({a_function(Cardinality::many, DataType::binary), {{.body = "hi"}}}),
              R"({"Data":{"events":"[\"aGk=\"]"})");
    EXPECT_EQ(data_of({a_function(Cardinality::one, DataType::binary), {{.body = "hi"}}}),
              R"({"Data":{"events":"aGk="})");
}

TEST(CustomWire, passes_a_body_that_is_not_json_as_text) {
    const GivenEvents given(a_function(Cardinality::many), {{.body = "{\"t\":1}"}, {.body = "x"}});

    EXPECT_EQ(data_of(given), R"({"Data":{"events":"[{\"t\":1},\"x\"]"})");
    EXPECT_NE(data_of(given, {.strict_json = true}).find("not JSON"), std::string::npos);
}

TEST(CustomWire, has_the_metadata_of_azure) {
    GivenEvents given(a_function(Cardinality::many), {{.body = "1"}}, {.first_sequence_number = 7});
    given.function().retry = RetryRule{.retries_max = 3};

    const auto request = wire_request(given.invocation(1), {}, "a-guid",
                                      *parse_wall_time("2026-11-16T18:00:01.234Z"));

    ASSERT_TRUE(request.ok());
    for (const char* part :
         {R"("PartitionContext":{"IsCheckpointingAfterInvocation":true,)",
          R"("PartitionKeyArray":"[null]")", R"("SequenceNumberArray":"[7]")",
          R"("sys":{"MethodName":"many","UtcNow":"2026-11-16T18:00:01.2340000Z",)"
          R"("RandGuid":"a-guid"})",
          R"("RetryContext":{"RetryCount":1,"MaxRetryCount":3,"Exception":null,"State":{}}}})"}) {
        EXPECT_NE(request->body.find(part), std::string::npos) << part << "\n" << request->body;
    }
}

// The whole request, byte for byte.
TEST(CustomWire, asks_as_azure_does) {
    const Property room{"room", std::string_view("k2")};
    const EventBatchOptions from_azure{
        .first_sequence_number = 7,
        .enqueued_time = Timestamp(
            std::chrono::milliseconds(parse_wall_time("2026-11-16T18:00:00.120Z")->milliseconds)),
        .partition_key = "home-1"};
    const GivenEvents many(a_function(Cardinality::many),
                           {{.body = R"({"t":1})", .properties = {&room, 1}}, {.body = "\xc3\xa4"}},
                           from_azure);
    const GivenEvents one(a_function(Cardinality::one), {{.body = "\xc3\xa4\n"}}, from_azure);
    const auto now = *parse_wall_time("2026-11-16T18:00:01.234Z");

    EXPECT_EQ(wire_request(many.invocation(), {}, "a-guid", now)->body,
              R"({"Data":{"events":"[{\"t\":1},\")"
              "\xc3\xa4"
              R"(\"]"},"Metadata":{"PartitionContext":{"IsCheckpointingAfterInvocation":true,)"
              R"("FullyQualifiedNamespace":"localhost","EventHubName":"homes",)"
              R"("ConsumerGroup":"agg","PartitionId":"3"},"PartitionKeyArray":"[\"home-1\",)"
              R"(\"home-1\"]","OffsetArray":"[\"0\",\"34\"]","SequenceNumberArray":"[7,8]",)"
              R"("EnqueuedTimeUtcArray":"[\"2026-11-16T18:00:00.12\",)"
              R"(\"2026-11-16T18:00:00.12\"]","PropertiesArray":"[{\"room\":\"k2\"},{}]",)"
              R"("SystemPropertiesArray":"[{\"x-opt-sequence-number\":7,\"x-opt-offset\":\"0\",)"
              R"(\"x-opt-enqueued-time\":\"2026-11-16T18:00:00.12\",)"
              R"(\"x-opt-partition-key\":\"home-1\",\"SequenceNumber\":7,\"Offset\":0,)"
              R"(\"PartitionKey\":\"home-1\",\"EnqueuedTimeUtc\":\"2026-11-16T18:00:00.12\"},)"
              R"({\"x-opt-sequence-number\":8,\"x-opt-offset\":\"34\",)"
              R"(\"x-opt-enqueued-time\":\"2026-11-16T18:00:00.12\",)"
              R"(\"x-opt-partition-key\":\"home-1\",\"SequenceNumber\":8,\"Offset\":34,)"
              R"(\"PartitionKey\":\"home-1\",\"EnqueuedTimeUtc\":\"2026-11-16T18:00:00.12\"}]",)"
              R"("sys":{"MethodName":"many","UtcNow":"2026-11-16T18:00:01.2340000Z",)"
              R"("RandGuid":"a-guid"}}})");
    EXPECT_EQ(wire_request(one.invocation(), {}, "a-guid", now)->body,
              R"({"Data":{"events":"\")"
              "\xc3\xa4"
              R"(\\n\""},"Metadata":{"PartitionContext":{"IsCheckpointingAfterInvocation":true,)"
              R"("FullyQualifiedNamespace":"localhost","EventHubName":"homes",)"
              R"("ConsumerGroup":"agg","PartitionId":"3"},"PartitionKey":"\"home-1\"",)"
              R"("Offset":"\"0\"","SequenceNumber":"7","EnqueuedTimeUtc":"2026-11-16T18:00:00",)"
              R"("Properties":{},"SystemProperties":{"x-opt-sequence-number":7,)"
              R"("x-opt-offset":"0","x-opt-enqueued-time":"2026-11-16T18:00:00.12",)"
              R"("x-opt-partition-key":"home-1","SequenceNumber":7,"Offset":0,)"
              R"("PartitionKey":"home-1","EnqueuedTimeUtc":"2026-11-16T18:00:00.12"},)"
              R"("sys":{"MethodName":"many","UtcNow":"2026-11-16T18:00:01.2340000Z",)"
              R"("RandGuid":"a-guid"}}})");
}

TEST(CustomWire, writes_the_time_of_one_event_in_whole_seconds) {
    const GivenEvents given(a_function(Cardinality::one), {{.body = "1"}},
                            {.enqueued_time = Timestamp(std::chrono::milliseconds(
                                 parse_wall_time("2026-11-16T18:00:00.123Z")->milliseconds))});

    const auto request = wire_request(given.invocation(), {}, "g", {});

    ASSERT_TRUE(request.ok());
    EXPECT_NE(request->body.find(R"("EnqueuedTimeUtc":"2026-11-16T18:00:00",)"), std::string::npos)
        << request->body;
    EXPECT_NE(request->body.find(R"("SequenceNumber":"0")"), std::string::npos);
}

TEST(CustomAnswer, may_be_empty) {
    for (const char* body : {"", "null", " \n", "{}"}) {
        const auto outcome = wire_outcome(json_answer(body), with_alerts, {});
        ASSERT_TRUE(outcome.ok()) << body;
        EXPECT_TRUE(outcome->outputs.empty());
    }
    EXPECT_TRUE(wire_outcome({.status = 202}, with_alerts, {}).ok());
}

TEST(CustomAnswer, must_be_json_with_a_good_status) {
    EXPECT_FALSE(wire_outcome(json_answer("{}", 500), with_alerts, {}).ok());
    EXPECT_FALSE(wire_outcome(json_answer("{", 200), with_alerts, {}).ok());
    EXPECT_FALSE(wire_outcome(json_answer("[1]", 200), with_alerts, {}).ok());
    EXPECT_FALSE(
        wire_outcome({.status = 200, .content_type = "text/plain", .body = "{}"}, with_alerts, {})
            .ok());
}

TEST(CustomAnswer, has_outputs_that_are_base64_decoded) {
    EXPECT_EQ(bodies_of(R"({"outputs": {"Alerts": "test"}})", with_alerts),
              (std::vector<std::string>{"\xb5\xeb\x2d"}));
    EXPECT_EQ(
        bodies_of(R"({"outputs": {"alerts": "test"}})", with_alerts, {.base64_outputs = false}),
        (std::vector<std::string>{"test"}));
    EXPECT_EQ(bodies_of(R"({"Outputs": {"alerts": "no base64"}})", with_alerts),
              (std::vector<std::string>{"no base64"}));
}

TEST(CustomAnswer, tells_that_an_output_was_decoded) {
    const auto is_told = [](const std::string& output, const HostOptions& options = {}) {
        const auto outcome = wire_outcome(json_answer(R"({"Outputs": {"alerts": )" + output + "}}"),
                                          with_alerts, options);
        return outcome.ok() && outcome->has_decoded_base64;
    };

    EXPECT_TRUE(is_told(R"("test")"));
    EXPECT_FALSE(is_told(R"("")"));
    EXPECT_FALSE(is_told(R"("no base64")"));
    EXPECT_FALSE(is_told(R"(["test"])"));
    EXPECT_FALSE(is_told(R"("test")", {.base64_outputs = false}));
}

TEST(CustomAnswer, makes_one_event_of_each_element) {
    EXPECT_EQ(bodies_of(R"({"Outputs": {"alerts": ["a", {"n": 1.10}, 3]}})", with_alerts),
              (std::vector<std::string>{"a", R"({"n": 1.10})", "3"}));
    EXPECT_EQ(bodies_of(R"({"Outputs": {"alerts": {"n": 1}}})", with_alerts),
              (std::vector<std::string>{R"({"n": 1})"}));
    EXPECT_EQ(bodies_of(R"({"Outputs": {"alerts": null, "other": 1}})", with_alerts),
              (std::vector<std::string>{}));
}

// Each element was looked for from the beginning: a minute, and four times that for twice as many.
TEST(CustomAnswer, may_be_a_long_list) {
    std::string list = "{\"n\": 1.10}";
    for (int n = 1; n < 20'000; ++n) list += ", {\"n\": 1.10}";

    const auto bodies = bodies_of(R"({"Outputs": {"alerts": [)" + list + "]}}", with_alerts);

    EXPECT_EQ(bodies, std::vector<std::string>(20'000, "{\"n\": 1.10}"));
}

TEST(CustomAnswer, may_be_deep) {
    const std::string deep = std::string(40, '[') + std::string(40, ']');

    EXPECT_EQ(bodies_of(R"({"Outputs": {"alerts": {"n": )" + deep + "}}}", with_alerts),
              (std::vector<std::string>{R"({"n": )" + deep + "}"}));
}

TEST(CustomAnswer, may_have_outputs_in_its_return_value) {
    const Function returns =
        with_outputs({{.name = "$return", .event_hub = "a", .connection = ""}});

    EXPECT_EQ(bodies_of(R"({"ReturnValue": "x y"})", returns), (std::vector<std::string>{"x y"}));
    EXPECT_EQ(bodies_of(R"({"ReturnValue": {"alerts": "x y"}})", with_alerts),
              (std::vector<std::string>{"x y"}));
    EXPECT_EQ(bodies_of(R"({"ReturnValue": "x y"})", with_alerts), (std::vector<std::string>{}));
}

}  // namespace
}  // namespace evenkeel::host
