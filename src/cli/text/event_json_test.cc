#include "cli/text/event_json.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "amqp/performatives.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/random.h"
#include "base/utf8.h"
#include "cli/text/amqp_value.h"
#include "cli/text/exact_json.h"

namespace evenkeel::cli {
namespace {

using namespace std::string_literals;
using amqp::Buffer;

const EventPlace stored_place{"eh1", 2};

Event a_stored_event(std::string_view key, ByteView sections) {
    Event event;
    event.sequence_number = 3;
    event.offset = 192;
    event.enqueued_time = Timestamp(std::chrono::milliseconds(1000));
    event.partition_key = key;
    event.sections = sections;
    return event;
}

Buffer value_of(std::string_view type, std::string_view text) {
    Buffer bytes;
    EXPECT_TRUE(append_typed(type, text, bytes).ok()) << type;
    return bytes;
}

// As a hub of ours delivers it.
Buffer delivered(const Buffer& message, const std::vector<EventParts::Named>& annotations = {}) {
    Buffer bytes;
    amqp::Encoder encoder(bytes);
    encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::message_annotations));
    const auto map = encoder.begin_map();
    encoder.symbol("x-opt-sequence-number");
    encoder.long_(3);
    for (const auto& [name, value] : annotations) {
        encoder.symbol(name);
        encoder.bytes(value);
    }
    encoder.end(map, static_cast<std::uint32_t>(2 + 2 * annotations.size()));
    encoder.bytes(message);
    return bytes;
}

// What would be sent for the JSON of that event.
Result<GivenEvent> round_trip(const Buffer& sections, std::string_view key = {}) {
    const std::string text = as_json(stored_place, a_stored_event(key, sections));
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(text.find('\n'), std::string::npos) << "it is one line";
    EK_TRY_ASSIGN(const auto json, parse_json(text));
    EXPECT_TRUE(is_event_json(json));
    return event_from_json(json);
}

std::string problem(std::string_view text) {
    const auto json = parse_json(text);
    if (!json.ok()) return json.error().detail;
    const auto event = event_from_json(*json);
    return event.ok() ? "" : event.error().detail;
}

EventParts full_parts() {
    EventParts parts;
    const std::pair<std::string_view, std::string_view> fields[] = {
        {"string", "id-1"},
        {"binary", "/wAB"},
        {"string", "to"},
        {"string", "subject"},
        {"string", "reply"},
        {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
        {"symbol", "text/plain"},
        {"symbol", "gzip"},
        {"timestamp", "1772359200123"},
        {"timestamp", "-1"},
        {"string", "group"},
        {"uint", "7"},
        {"string", "back"}};
    for (std::size_t i = 0; i < EventParts::fields_max; ++i) {
        parts.fields[i] = value_of(fields[i].first, fields[i].second);
    }
    const std::pair<std::string_view, std::string_view> properties[] = {
        {"null", ""},
        {"bool", "true"},
        {"ubyte", "1"},
        {"ushort", "2"},
        {"uint", "3"},
        {"ulong", "4"},
        {"byte", "-5"},
        {"short", "-6"},
        {"int", "-7"},
        {"long", "-8"},
        {"float", "0.1"},
        {"double", "0.1"},
        {"double", "2"},
        {"double", "nan"},
        {"char", "\xc3\xa9"},
        {"timestamp", "9"},
        {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
        {"binary", "/wAB"},
        {"string", "\x1b[0m"},
        {"symbol", "s"},
        {"amqp", "dAAAAAE="},
        {"amqp", "wQUCoQFhQQ=="},  // a map
    };
    int number = 0;
    for (const auto& [type, text] : properties) {
        parts.properties.push_back(
            {std::string(type) + "\n" + std::to_string(number++), value_of(type, text)});
    }
    parts.body = "hello";
    return parts;
}

TEST(EventJson, gives_text_as_text_and_other_bytes_in_base64) {
    EventParts parts;
    parts.body = "hello";
    EXPECT_EQ(as_json(stored_place, a_stored_event("", parts.message())),
              R"({"event_hub":"eh1","partition":2,"sequence_number":3,"offset":192,)"
              R"("enqueued_at":"1970-01-01T00:00:01.000Z","partition_key":null,"body":"hello"})");

    parts.body = "\xff\0\1"s;
    EXPECT_NE(
        as_json(stored_place, a_stored_event("", parts.message())).find(R"("body_base64":"/wAB"})"),
        std::string::npos);
}

TEST(EventJson, names_the_types_that_json_does_not_have) {
    EventParts parts;
    parts.set_content_type("text");
    parts.set_property("a", value_of("string", "b"));
    parts.set_property("n", value_of("int", "7"));
    parts.set_property("l", value_of("long", "8"));
    parts.set_property("t", value_of("timestamp", "9"));
    EXPECT_NE(as_json(stored_place, a_stored_event("k", parts.message()))
                  .find(R"("partition_key":"k","content_type":"text",)"
                        R"("properties":{"a":"b","n":7,"l":8,"t":9},)"
                        R"("property_types":{"n":"int","t":"timestamp"},"body":""})"),
              std::string::npos)
        << as_json(stored_place, a_stored_event("k", parts.message()));
}

TEST(EventJson, gives_back_every_field_and_type) {
    const EventParts parts = full_parts();
    const Buffer message = parts.message();

    const auto given = round_trip(delivered(message), "key \xe2\x82\xac");

    ASSERT_TRUE(given.ok()) << given.error().detail;
    EXPECT_TRUE(given->whole.empty()) << "the members say all of it";
    EXPECT_EQ(to_hex(given->parts.message()), to_hex(message));
    EXPECT_EQ(given->partition_key, "key \xe2\x82\xac");
    EXPECT_EQ(given->partition, 2u);
}

TEST(EventJson, gives_back_bodies_of_any_bytes) {
    Random random(7);
    std::string noise(1 << 20, '\0');
    random.fill(std::as_writable_bytes(std::span(noise)));
    for (const std::string& body :
         {""s, "\0\1\x1b\x7f\r\n\t\"\\"s, "\xed\xa0\x80"s, "\xc3\xa9"s, "{\"a\":1}"s, noise}) {
        EventParts parts;
        parts.body = body;
        const auto given = round_trip(delivered(parts.message()));
        ASSERT_TRUE(given.ok()) << given.error().detail;
        EXPECT_EQ(given->parts.body, body);
    }
}

TEST(EventJson, gives_back_messages_of_other_shapes_whole) {
    const std::string shapes[] = {
        "\0\x53\x77\xa1\x05hello"s,                                        // a value
        "\0\x53\x76\xc0\x05\x02\xa1\1a\x41"s,                              // a sequence
        "\0\x53\x75\xa0\1a\0\x53\x75\xa0\1b"s,                             // two data sections
        "\0\x53\x75\xa0\1a\0\x53\x78\xc1\x06\x02\xa3\1f\xa1\1g"s,          // a footer
        "\0\x53\x74\xc1\x09\x04\xa1\1n\x41\xa1\1n\x42\0\x53\x75\xa0\1a"s,  // one name twice
        "\0\x53\x74\xc1\x05\x02\xa3\1n\x41\0\x53\x75\xa0\1a"s,  // a name that is a symbol
    };
    for (const std::string& shape : shapes) {
        const ByteView bytes = as_bytes(shape);
        const Buffer message(bytes.begin(), bytes.end());
        const auto given = round_trip(delivered(message));
        if (!given.ok()) {
            EXPECT_NE(given.error().detail.find("valid AMQP"), std::string::npos)
                << to_hex(bytes) << given.error().detail;
            continue;
        }
        EXPECT_EQ(to_hex(given->whole), to_hex(message));
    }
    const auto own =
        round_trip(delivered(full_parts().message(), {{"x-opt-mine", value_of("int", "1")}}));
    ASSERT_TRUE(own.ok()) << own.error().detail;
    EXPECT_NE(as_text(own->whole).find("x-opt-mine"), std::string_view::npos);
    EXPECT_EQ(as_text(own->whole).find("x-opt-sequence-number"), std::string_view::npos);
}

TEST(EventJson, shows_a_body_that_is_a_value) {
    const std::string shape = "\0\x53\x77\x54\x07"s;
    const std::string text = as_json(stored_place, a_stored_event("", as_bytes(shape)));
    EXPECT_NE(text.find(R"("body_value":7,"body_type":"int","body":"","amqp_base64":)"),
              std::string::npos)
        << text;
}

TEST(EventJson, is_valid_whatever_the_event_holds) {
    const std::string properties =
        "\xa1\1\xff\xa1\1\xfe"               // a name and a text that are no UTF-8
        "\xa1\1n\x82\x7f\xf8\0\0\0\0\0\0"s   // not a number
        "\xa1\1i\x82\xff\xf0\0\0\0\0\0\0"s;  // minus infinity
    std::string sections = "\0\x53\x74\xc1"s;
    sections += static_cast<char>(properties.size() + 1);
    sections += '\x06';
    sections += properties;
    sections += "\0\x53\x75\xa0\x03\xed\xa0\x80"s;

    const std::string text = as_json(stored_place, a_stored_event("k\xff", as_bytes(sections)));

    EXPECT_TRUE(is_utf8(text));
    EXPECT_TRUE(parse_json(text).ok()) << text;
    EXPECT_NE(text.find(R"("properties":{"�":"�","n":"nan","i":"-inf"})"), std::string::npos)
        << text;
    EXPECT_NE(text.find(R"("body_base64":"7aCA")"), std::string::npos) << text;
    Random random(11);
    for (int i = 0; i < 20'000; ++i) {
        std::string noise = sections;
        noise[random.below(noise.size())] = static_cast<char>(random.next());
        noise.resize(random.below(noise.size()) + 1);
        const std::string odd = as_json(stored_place, a_stored_event("", as_bytes(noise)));
        ASSERT_TRUE(parse_json(odd).ok()) << odd;
    }
}

TEST(EventLine, is_an_event_only_if_it_says_where_it_was_stored) {
    EXPECT_FALSE(is_event_json(*parse_json(R"({"body":"x","partition_key":"k"})")));
    EXPECT_FALSE(is_event_json(*parse_json("[1]")));
    EXPECT_TRUE(is_event_json(
        *parse_json(R"({"event_hub":"e","partition":0,"sequence_number":1,"offset":2,)"
                    R"("enqueued_at":"","body":""})")));
}

TEST(EventLine, says_which_member_is_wrong) {
    EXPECT_EQ(problem(R"({"body":"x","properties":{"n":5},"property_types":{"n":"int"}})"), "");
    EXPECT_EQ(problem("[]"), "it is not a JSON object");
    EXPECT_EQ(problem("{}"), "'body' is missing");
    EXPECT_EQ(problem(R"({"body":5})"), "'body' is not a string; JSON in it is a string as well");
    EXPECT_EQ(problem(R"({"body":"","body_base64":""})"),
              "'body' is given twice, also as 'body_base64'");
    EXPECT_EQ(problem(R"({"body_base64":"x"})"), "'body_base64' is not base64");
    EXPECT_EQ(problem(R"({"body":"","props":{}})"),
              "'props' is not a member of an event; see 'evenkeel send --help'");
    EXPECT_EQ(problem(R"({"body":"","properties":[]})"), "'properties' is no object");
    EXPECT_EQ(problem(R"({"body":"","properties":{"a":[1]}})"),
              "property 'a' is a list or object, which is no value of a property");
    EXPECT_EQ(problem(R"({"body":"","properties":{"a":300},"property_types":{"a":"ubyte"}})"),
              "property 'a' is not of type ubyte: a whole number from 0 to 255 is needed");
    EXPECT_EQ(problem(R"({"body":"","property_types":{"a":"int"}})"),
              "'property_types' is naming the property 'a', which is not there");
    EXPECT_EQ(problem(R"({"body":"","partition":-1})"),
              "'partition' is not the number of a partition");
    EXPECT_EQ(problem(R"({"body":"","message_id":"x","message_id_type":"int"})"),
              "'message_id_type' is not string, ulong, uuid or binary");
    EXPECT_EQ(
        problem(R"({"body":"","group_sequence":"x"})"),
        "'group_sequence' is not of type uint: a whole number from 0 to 4294967295 is needed");
    EXPECT_EQ(problem(R"({"amqp_base64":"QUI="})"), "'amqp_base64' is not an AMQP message");
    EXPECT_NE(problem(R"({"body":"","partition_key":")" + std::string(200, 'k') + "\"}"), "");
}

}  // namespace
}  // namespace evenkeel::cli
