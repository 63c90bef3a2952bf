#include "cli/text/event_view.h"

#include "base/utf8.h"

namespace evenkeel::cli {
namespace {

using namespace std::string_literals;

const EventPlace place{"eh1", 2};

Event an_event(std::string_view key, std::string& sections) {
    sections = std::string("\0\x53\x75\xa0\x05hello", 10);
    Event event;
    event.sequence_number = 3;
    event.offset = 192;
    event.enqueued_time_ms = 1000;
    event.partition_key = key;
    event.sections = std::as_bytes(std::span(sections));
    return event;
}

// Properties with a content type, and application properties of some types.
std::string dressed_sections() {
    std::string sections("\0\x53\x73\xc0\x0d\x07\x40\x40\x40\x40\x40\x40\xa3\x04text", 18);
    sections += std::string(
        "\0\x53\x74\xc1\x1c\x08\xa1\x01"
        "a\xa1\x01"
        "b\xa1\x01n\x54\x07\xa1\x01t\x41\xa1\x01"
        "d\x82"
        "\x3f\xf8\0\0\0\0\0\0",
        5 + 27 + 1);
    sections += std::string("\0\x53\x75\xa0\x01x", 6);
    return sections;
}

TEST(EventFormat, puts_the_parts_of_an_event_where_the_format_says) {
    std::string sections;
    const Event event = an_event("k", sections);

    EXPECT_EQ(formatted("%t %p/%s@%o %k=%v %%\\n", place, event), "eh1 2/3@192 k=hello %\n");
    EXPECT_EQ(formatted("%d", place, event), "1970-01-01T00:00:01.000Z");
    EXPECT_EQ(formatted("%d{strftime[%H:%M:%S}]}|", place, event), "00:00:01}|");
    EXPECT_EQ(formatted("%v{hex} %v{base64} %V", place, event), "68656c6c6f aGVsbG8= 5");
    EXPECT_EQ(formatted("100%", place, event), "100%");
    EXPECT_EQ(formatted("\\t\\r\\\\", place, event), "\t\r\\");
}

TEST(EventFormat, refuses_unknown_specifiers) {
    EXPECT_TRUE(check_format("%t %p %s %o %k %d %v %V %h %c %%").ok());
    EXPECT_TRUE(check_format("").ok());
    EXPECT_EQ(check_format("%z").error().detail, "'%z' is not a format specifier");
    EXPECT_FALSE(check_format("%v{octal}").ok());
}

TEST(EventJson, gives_text_as_text_and_other_bytes_in_base64) {
    std::string sections;
    Event event = an_event("", sections);
    EXPECT_EQ(as_json(place, event),
              R"({"event_hub":"eh1","partition":2,"sequence_number":3,"offset":192,)"
              R"("enqueued_at":"1970-01-01T00:00:01.000Z","partition_key":null,"body":"hello"})");

    sections = std::string("\0\x53\x75\xa0\x03\xff\x00\x01", 8);
    event.sections = std::as_bytes(std::span(sections));
    EXPECT_NE(as_json(place, event).find("\"body_base64\":\"/wAB\""), std::string::npos);
}

TEST(EventJson, is_valid_whatever_the_event_holds) {
    const std::string properties =
        "\xa1\1\xff\xa1\1\xfe"               // a name and a text that are no UTF-8
        "\xa1\1n\x82\x7f\xf8\0\0\0\0\0\0"s   // not a number
        "\xa1\1i\x82\xff\xf0\0\0\0\0\0\0"s;  // minus infinity
    std::string sections;
    Event event = an_event("k\xff", sections);
    sections = "\0\x53\x74\xc1"s + static_cast<char>(properties.size() + 1) + "\x06" + properties +
               "\0\x53\x75\xa0\x03\xed\xa0\x80"s;  // a surrogate
    event.sections = std::as_bytes(std::span(sections));

    const std::string text = as_json(place, event);

    EXPECT_TRUE(is_utf8(text));
    EXPECT_NE(text.find(R"("properties":{"�":"�","n":"nan","i":"-inf"})"), std::string::npos)
        << text;
    EXPECT_NE(text.find(R"("body_base64":"7aCA")"), std::string::npos) << text;
}

TEST(EventDetails, has_the_content_type_and_properties_as_json) {
    std::string sections;
    Event event = an_event("k", sections);
    sections = dressed_sections();
    event.sections = std::as_bytes(std::span(sections));

    EXPECT_EQ(details_of(event).content_type, "text");
    EXPECT_EQ(formatted("%c %h %v", place, event), "text a=\"b\",n=7,t=true,d=1.5 x");
    EXPECT_NE(as_json(place, event)
                  .find(R"("content_type":"text","properties":{"a":"b","n":7,"t":true,"d":1.5},)"
                        R"("body":"x")"),
              std::string::npos)
        << as_json(place, event);
}

TEST(EventHeadline, tells_control_characters_from_text) {
    std::string sections;
    const Event event = an_event("k\x1b[31m", sections);

    EXPECT_EQ(headline({}, place, event), "eh1/2 seq 3  1970-01-01 00:00:01.000  key=k?[31m  5 B");
}

}  // namespace
}  // namespace evenkeel::cli
