#include "eventhubs/sections.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::eventhubs {
namespace {

using namespace std::string_literals;

std::string wrapped(std::string_view body) {
    std::string sections;
    append_data_section(body, sections);
    return sections;
}

std::string_view unwrapped(std::string_view sections) {
    return as_text(first_data_section(as_bytes(sections)));
}

TEST(DataSection, gives_back_bodies_of_every_size) {
    for (std::size_t size = 0; size <= 70'000; size += size < 600 ? 1 : 997) {
        const std::string body(size, static_cast<char>('a' + size % 26));
        const std::string sections = wrapped(body);
        ASSERT_EQ(sections.size(), data_section_bytes(size));
        ASSERT_EQ(unwrapped(sections), body) << size;
    }
}

TEST(DataSection, is_encoded_as_amqp_says) {
    EXPECT_EQ(wrapped("hi"), "\x00\x53\x75\xa0\x02hi"s);
    EXPECT_EQ(wrapped(std::string(256, 'x')).substr(0, 8), "\x00\x53\x75\xb0\x00\x00\x01\x00"s);
}

TEST(DataSection, is_found_behind_other_sections) {
    const std::string header = "\x00\x53\x70\xc0\x02\x01\x41"s;
    const std::string annotations = "\x00\x53\x72\xc1\x05\x02\xa3\x01k\x41"s;
    const std::string properties = "\x00\x53\x73\xd0\x00\x00\x00\x05\x00\x00\x00\x01\x40"s;
    const std::string no_properties = "\x00\x53\x73\x45"s;
    const std::string application =
        "\x00\x80\x00\x00\x00\x00\x00\x00\x00\x74\xd1\x00\x00\x00\x04\x00\x00\x00\x00"s;

    for (const auto& front : {header, annotations, properties, no_properties, application,
                              header + annotations + properties + application}) {
        EXPECT_EQ(unwrapped(front + wrapped("body")), "body");
    }
}

TEST(DataSection, is_found_by_its_full_descriptor_too) {
    EXPECT_EQ(unwrapped("\x00\x80\x00\x00\x00\x00\x00\x00\x00\x75\xa0\x01x"s), "x");
    EXPECT_EQ(unwrapped("\x00\xa3\x10"
                        "amqp:data:binary\xa0\x01x"s),
              "x");
}

TEST(DataSection, is_not_taken_from_other_descriptors) {
    EXPECT_EQ(unwrapped("\x00\x80\x01\x00\x00\x00\x00\x00\x00\x75\xa0\x01x"s), "");
    EXPECT_EQ(unwrapped("\x00\xa3\x01u\xa0\x01x"s), "");
}

TEST(DataSection, is_the_first_of_several) {
    EXPECT_EQ(unwrapped(wrapped("one") + wrapped("two")), "one");
}

TEST(DataSection, is_empty_where_the_body_is_a_value) {
    EXPECT_EQ(unwrapped("\x00\x53\x77\xa1\x02hi"s), "");
    EXPECT_EQ(unwrapped("\x00\x53\x75\xa1\x02hi"s), "");
}

TEST(DataSection, cut_anywhere_gives_nothing) {
    const std::string sections = "\x00\x53\x72\xc1\x05\x02\xa3\x01k\x41"s + wrapped("body");
    for (std::size_t size = 0; size < sections.size(); ++size) {
        EXPECT_EQ(unwrapped(std::string(sections, 0, size)), "") << size;
    }
}

TEST(DataSection, stays_within_the_bytes_of_any_input) {
    Random random(test::test_seed());
    for (int round = 0; round < 200'000; ++round) {
        std::vector<std::byte> bytes(random.below(40));
        random.fill(bytes);
        // Half of them begin as sections do, to get further in.
        if (bytes.size() > 2 && random.chance(1, 2)) {
            bytes[0] = std::byte{0};
            bytes[1] = std::byte{0x53};
            bytes[2] = static_cast<std::byte>(0x70 + random.below(9));
        }
        const ByteView found = first_data_section(bytes);
        if (found.empty()) continue;
        ASSERT_GE(found.data(), bytes.data());
        ASSERT_LE(found.data() + found.size(), bytes.data() + bytes.size());
    }
}

}  // namespace
}  // namespace evenkeel::eventhubs
