#include "cli/text/event_view.h"

#include "base/time_point.h"

namespace evenkeel::cli {
namespace {

const EventPlace place{"eh1", 2};

Event an_event(std::string_view key, std::string& sections) {
    sections = std::string("\0\x53\x75\xa0\x05hello", 10);
    Event event;
    event.sequence_number = 3;
    event.offset = 192;
    event.enqueued_time = time_point({1000});
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

TEST(EventDetails, has_the_content_type_and_properties_as_json) {
    std::string sections;
    Event event = an_event("k", sections);
    sections = dressed_sections();
    event.sections = std::as_bytes(std::span(sections));

    EXPECT_EQ(details_of(event).content_type, "text");
    EXPECT_EQ(formatted("%c %h %v", place, event), "text a=\"b\",n=7,t=true,d=1.5 x");
}

TEST(EventHeadline, tells_control_characters_from_text) {
    std::string sections;
    const Event event = an_event("k\x1b[31m", sections);

    EXPECT_EQ(headline({}, place, event), "eh1/2 seq 3  1970-01-01 00:00:01.000  key=k?[31m  5 B");
}

}  // namespace
}  // namespace evenkeel::cli
