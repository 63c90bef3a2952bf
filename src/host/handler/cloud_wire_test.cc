#include "host/handler/cloud_wire.h"

#include <gtest/gtest.h>

#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

std::string field_of(const CloudRequest& request, std::string_view name) {
    for (const auto& field : request.fields) {
        if (field.name == name) return field.value;
    }
    return "(none)";
}

EventData an_event(std::string_view body, std::string_view content_type = {}) {
    EventData event;
    event.body = body;
    event.content_type = content_type;
    return event;
}

const EventBatchOptions place = {.first_sequence_number = 7,
                                 .enqueued_time = Timestamp(std::chrono::milliseconds(123)),
                                 .partition_key = "h\xc3\xb6me \"1\""};

TEST(CloudRequest, has_the_attributes_of_one_event_in_fields) {
    const GivenEvents given(a_function(Cardinality::one), {an_event("{\"t\":1}")}, place);

    const auto request = cloud_request(given.invocation());

    EXPECT_EQ(request.body, "{\"t\":1}");
    EXPECT_EQ(field_of(request, "Content-Type"), "application/json");
    EXPECT_EQ(field_of(request, "ce-specversion"), "1.0");
    EXPECT_EQ(field_of(request, "ce-id"), "homes/3/7");
    EXPECT_EQ(field_of(request, "ce-source"), "evenkeel://localhost/homes");
    EXPECT_EQ(field_of(request, "ce-type"), "evenkeel.event");
    EXPECT_EQ(field_of(request, "ce-time"), "1970-01-01T00:00:00.123Z");
    EXPECT_EQ(field_of(request, "ce-partitionkey"), "h%C3%B6me %221%22");
}

TEST(CloudRequest, has_many_events_as_one_batch) {
    const GivenEvents given(a_function(Cardinality::many),
                            {an_event("{\"t\":1}"), an_event("\xff")},
                            {.first_sequence_number = 7});

    const auto request = cloud_request(given.invocation());

    EXPECT_EQ(field_of(request, "Content-Type"),
              "application/cloudevents-batch+json; charset=utf-8");
    EXPECT_TRUE(request.body.starts_with("[{\"specversion\":\"1.0\",\"id\":\"homes/3/7\","))
        << request.body;
    EXPECT_NE(request.body.find("\"data\":{\"t\":1}},{"), std::string::npos) << request.body;
    EXPECT_TRUE(request.body.ends_with("\"data_base64\":\"/w==\"}]")) << request.body;
}

TEST(CloudRequest, passes_on_what_is_a_cloud_event_already) {
    const std::string whole = R"({"specversion":"1.0","id":"1","source":"/a","type":"b"})";
    const auto event = an_event(whole, "application/cloudevents+json; charset=utf-8");
    const GivenEvents one(a_function(Cardinality::one), {event});
    const GivenEvents many(a_function(Cardinality::many), {event});

    const auto request = cloud_request(one.invocation());

    EXPECT_EQ(request.body, whole);
    EXPECT_EQ(field_of(request, "Content-Type"), "application/cloudevents+json; charset=utf-8");
    EXPECT_EQ(field_of(request, "ce-id"), "(none)");
    EXPECT_EQ(cloud_request(many.invocation()).body, "[" + whole + "]");
}

TEST(CloudOutcome, follows_the_status) {
    Function function = a_function(Cardinality::one);

    EXPECT_TRUE(cloud_outcome(202, "", function).ok());
    EXPECT_EQ(cloud_outcome(429, "", function).error().code, ErrorCode::unavailable);
    EXPECT_EQ(cloud_outcome(503, "", function).error().code, ErrorCode::unavailable);
    for (const int status : {100, 301, 400, 404, 408, 500}) {
        EXPECT_EQ(cloud_outcome(status, "no", function).error().code, ErrorCode::handler_failed)
            << status;
    }
}

TEST(RetryAfter, is_in_seconds_and_has_a_limit) {
    EXPECT_EQ(retry_after(503, " 7 "), Duration(std::chrono::seconds(7)));
    EXPECT_EQ(retry_after(429, "0"), Duration(0));
    EXPECT_EQ(retry_after(429, "4000000000"), retry_after_max);
    EXPECT_EQ(retry_after(500, "7"), std::nullopt);
    for (const char* other : {"", "-1", "1.5", "soon", "Thu, 19 Nov 2026 04:00:00 GMT"}) {
        EXPECT_EQ(retry_after(503, other), std::nullopt) << other;
    }
}

TEST(CloudOutcome, has_the_answer_as_the_first_output) {
    Function function = a_function(Cardinality::one);
    EXPECT_TRUE(cloud_outcome(200, "dropped", function)->outputs.empty());
    function.outputs.push_back({.name = "alerts", .event_hub = "alerts", .connection = ""});

    const auto outcome = cloud_outcome(200, "{\"a\":1}", function);

    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->outputs, (std::vector<BoundOutput>{{"alerts", {"{\"a\":1}"}}}));
}

}  // namespace
}  // namespace evenkeel::host
