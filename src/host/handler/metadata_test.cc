#include "host/handler/metadata.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

Timestamp at(std::string_view text) {
    return Timestamp(std::chrono::milliseconds(parse_wall_time(text)->milliseconds));
}
std::string value_of(const Invocation& invocation, std::string_view name, TimeStyle style) {
    for (const auto& [known, value] : metadata_of(invocation, style)) {
        if (known == name) return value;
    }
    return "none";
}

TEST(Metadata, has_an_entry_for_each_of_many_events) {
    const Property room{"room", std::string_view("k2")};
    const GivenEvents given(a_function(Cardinality::many),
                            {{.body = "1", .properties = {&room, 1}}, {.body = "2"}},
                            {.first_sequence_number = 7,
                             .enqueued_time = at("2026-11-16T18:00:00.120Z"),
                             .partition_key = "home-1"});
    const auto invocation = given.invocation();

    EXPECT_EQ(value_of(invocation, "PartitionContext", TimeStyle::bare),
              R"({"IsCheckpointingAfterInvocation":true,"FullyQualifiedNamespace":"localhost",)"
              R"("EventHubName":"homes","ConsumerGroup":"agg","PartitionId":"3"})");
    EXPECT_EQ(value_of(invocation, "SequenceNumberArray", TimeStyle::bare), "[7,8]");
    EXPECT_EQ(value_of(invocation, "PartitionKeyArray", TimeStyle::bare), R"(["home-1","home-1"])");
    EXPECT_EQ(value_of(invocation, "PropertiesArray", TimeStyle::bare), R"([{"room":"k2"},{}])");
}

TEST(Metadata, writes_times_without_z_for_custom_handlers_only) {
    const GivenEvents given(a_function(Cardinality::many), {{.body = "1"}},
                            {.enqueued_time = at("2026-11-16T18:00:00.120Z")});
    const auto invocation = given.invocation();

    EXPECT_EQ(value_of(invocation, "EnqueuedTimeUtcArray", TimeStyle::bare),
              R"(["2026-11-16T18:00:00.12"])");
    EXPECT_EQ(value_of(invocation, "EnqueuedTimeUtcArray", TimeStyle::utc),
              R"(["2026-11-16T18:00:00.120Z"])");
    EXPECT_NE(value_of(invocation, "SystemPropertiesArray", TimeStyle::utc)
                  .find(R"("EnqueuedTimeUtc":"2026-11-16T18:00:00.120Z")"),
              std::string::npos);
}

TEST(Metadata, has_the_time_of_each_event) {
    const EventBatch first = EventBatch::of({{.body = "1"}, {.body = "2"}},
                                            {.enqueued_time = at("2026-11-16T18:00:00.120Z")});
    const EventBatch next =
        EventBatch::of({{.body = "3"}}, {.enqueued_time = at("2026-11-16T18:00:01Z")});
    std::vector<Event> all(first.events().begin(), first.events().end());
    all.push_back(next.events()[0]);
    const Function many = a_function(Cardinality::many);
    const Invocation invocation{.function = many, .id = "1", .host_name = "h", .events = all};

    EXPECT_EQ(value_of(invocation, "EnqueuedTimeUtcArray", TimeStyle::bare),
              R"(["2026-11-16T18:00:00.12","2026-11-16T18:00:00.12","2026-11-16T18:00:01"])");
}

TEST(Metadata, cuts_zeros_off_a_bare_time) {
    EXPECT_EQ(bare_time(at("2026-11-16T18:00:00.123Z")), "2026-11-16T18:00:00.123");
    EXPECT_EQ(bare_time(at("2026-11-16T18:00:10.000Z")), "2026-11-16T18:00:10");
}

TEST(Metadata, of_one_event_has_plain_names) {
    const GivenEvents given(
        a_function(Cardinality::one),
        {{.body = "1", .content_type = "text/plain", .message_id = std::string_view("m-1")}},
        {.first_sequence_number = 7, .enqueued_time = at("2026-11-16T18:00:00.120Z")});
    const auto invocation = given.invocation();

    EXPECT_EQ(value_of(invocation, "SequenceNumber", TimeStyle::bare), "7");
    EXPECT_EQ(value_of(invocation, "EnqueuedTimeUtc", TimeStyle::bare), R"("2026-11-16T18:00:00")");
    EXPECT_EQ(value_of(invocation, "PartitionKey", TimeStyle::bare), "none");
    const std::string system = value_of(invocation, "SystemProperties", TimeStyle::bare);
    for (const char* part : {R"("x-opt-sequence-number":7)", R"("message-id":"m-1")",
                             R"("content-type":"text/plain")", R"("SequenceNumber":7)"}) {
        EXPECT_NE(system.find(part), std::string::npos) << part << " in " << system;
    }
}

TEST(QuotedText, is_json_whatever_bytes_it_has) {
    EXPECT_EQ(quoted("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
    EXPECT_EQ(quoted("h\xc3\xb6\xc3\xa4\"\"\\x\xff"),
              "\"h\xc3\xb6\xc3\xa4\\\"\\\"\\\\x\xef\xbf\xbd\"");
    EXPECT_EQ(quoted(""), "\"\"");
}

}  // namespace
}  // namespace evenkeel::host
