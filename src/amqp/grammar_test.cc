#include "amqp/grammar.h"

#include <string>

#include <gtest/gtest.h>

#include "amqp/performatives.h"

namespace evenkeel::amqp {
namespace {

using namespace std::string_literals;

bool is_good(std::uint64_t kind, const std::string& value) {
    Grammar grammar;
    const Section section{kind, as_bytes(value), as_bytes(value)};
    const std::string_view fault = grammar.fault_of(section);
    return fault.empty();
}
bool is_value(const std::string& value) {
    return is_good(descriptor::value, value);
}
// A map8 of that many elements.
std::string map_of(char count, const std::string& elements) {
    return "\xc1"s + static_cast<char>(elements.size() + 1) + count + elements;
}
std::string list_of(char count, const std::string& elements) {
    return "\xc0"s + static_cast<char>(elements.size() + 1) + count + elements;
}
std::string array_of(const std::string& size_and_count, const std::string& rest) {
    return "\xf0"s + size_and_count + rest;
}

TEST(Grammar, allows_every_type_of_value) {
    for (const std::string& value : {"\x40"s,
                                     "\x41"s,
                                     "\x42"s,
                                     "\x43"s,
                                     "\x44"s,
                                     "\x45"s,
                                     "\x56\x01"s,
                                     "\x50\xff"s,
                                     "\x51\x80"s,
                                     "\x52\x01"s,
                                     "\x53\x01"s,
                                     "\x54\x01"s,
                                     "\x55\x01"s,
                                     "\x60\0\1"s,
                                     "\x61\0\1"s,
                                     "\x70\0\0\0\1"s,
                                     "\x71\0\0\0\1"s,
                                     "\x72\0\0\0\1"s,
                                     "\x73\0\x01\xf6\0"s,
                                     "\x74\0\0\0\1"s,
                                     "\x80"s + std::string(8, '\1'),
                                     "\x81"s + std::string(8, '\1'),
                                     "\x82"s + std::string(8, '\1'),
                                     "\x83"s + std::string(8, '\1'),
                                     "\x84"s + std::string(8, '\1'),
                                     "\x94"s + std::string(16, '\1'),
                                     "\x98"s + std::string(16, '\1'),
                                     "\xa0\2\xff\xff"s,
                                     "\xb0\0\0\0\1\xff"s,
                                     "\xa1\2\xc3\xa4"s,
                                     "\xb1\0\0\0\1x"s,
                                     "\xa3\1x"s,
                                     "\xb3\0\0\0\1x"s,
                                     list_of(2, "\x41\xa1\1x"),
                                     "\xd0\0\0\0\5\0\0\0\1\x41"s,
                                     map_of(2, "\xa1\1k\x41"),
                                     "\xd1\0\0\0\4\0\0\0\0"s,
                                     "\xe0\4\2\x50\1\2"s,
                                     "\xe0\2\2\x41"s,
                                     "\xe0\1\0"s,
                                     "\xe0\2\0\x50"s,
                                     "\0\x53\1\xa1\1x"s,
                                     "\0\xa3\1x\x45"s,
                                     "\xe0\7\2\0\x53\1\x50\1"s + "\2"s,
                                     "\xe0\x8\2\xe0\2\1\x41\2\1"s + "\x41"s}) {
        EXPECT_TRUE(is_value(value)) << testing::PrintToString(value);
    }
}

TEST(Grammar, refuses_values_that_are_cut_or_unknown_or_have_rests) {
    for (const std::string& value : {""s,
                                     "\x46"s,
                                     "\x3f"s,
                                     "\x57\1"s,
                                     "\x56\2"s,
                                     "\x50"s,
                                     "\x60\0"s,
                                     "\x70\0\0\0"s,
                                     "\x98"s + std::string(15, '\1'),
                                     "\xa0\2x"s,
                                     "\xb0\0\0\0\2x"s,
                                     "\xa0"s,
                                     "\xb0\0\0"s,
                                     "\x41\x41"s,
                                     "\xa1\1\xff"s,
                                     "\xb1\0\0\0\1\xff"s,
                                     "\xa3\1\xff"s,
                                     "\x73\0\0\xd8\0"s,
                                     "\x73\0\x11\0\0"s,
                                     "\xc0\0"s,
                                     list_of(3, "\x41\x41"),
                                     list_of(1, "\x41\x41"),
                                     map_of(1, "\x41"),
                                     map_of(3, "\x41\x41\x41"),
                                     map_of(4, "\x41\x41"),
                                     list_of(1, map_of(1, "\x41")),
                                     "\xd0\0\0\0\4\xff\xff\xff\xff"s,
                                     "\0\x53\1"s,
                                     "\0"s,
                                     "\xe0\4\3\x50\1\2"s,
                                     "\xe0\4\1\x50\1\2"s,
                                     "\xe0\1\1"s,
                                     "\xe0\3\1\x46\1"s}) {
        EXPECT_FALSE(is_value(value)) << testing::PrintToString(value);
    }
}

TEST(Grammar, bounds_nesting) {
    const auto nested = [](int depth) {
        std::string value = "\x45";
        for (int i = 0; i < depth; ++i) value = list_of(1, value);
        return value;
    };
    EXPECT_TRUE(is_value(nested(Grammar::nesting_max - 1)));
    EXPECT_FALSE(is_value(nested(Grammar::nesting_max)));

    std::string described = "\x41";
    for (int i = 0; i < 10'000; ++i) described = "\0\x53\1"s + described;
    EXPECT_FALSE(is_value(described));
    std::string array = "\xf0\0\1\x86\xa4\0\0\0\1"s;  // of 100,000 descriptors
    for (int i = 0; i < 33'333; ++i) array += "\0\x53\1"s;
    EXPECT_FALSE(is_value(array + "\x41"));
}

TEST(Grammar, bounds_elements_without_bytes) {
    EXPECT_TRUE(is_value(array_of("\0\0\0\5\0\0\4\0"s, "\x41")));
    EXPECT_FALSE(is_value(array_of("\0\0\0\5\0\0\4\1"s, "\x41")));
    EXPECT_FALSE(is_value(array_of("\0\0\0\5\xff\xff\xff\xff"s, "\x45")));
    EXPECT_FALSE(is_value(array_of("\0\0\0\x8\xff\xff\xff\xff"s, "\0\x53\1\x40"s)));

    // Over all sections of a message.
    const std::string half = array_of("\0\0\0\5\0\0\3\0"s, "\x41");
    Grammar grammar;
    const Section section{descriptor::value, as_bytes(half), as_bytes(half)};
    EXPECT_EQ(grammar.fault_of(section), "");
    EXPECT_NE(grammar.fault_of(section), "");
}

TEST(Grammar, knows_the_fields_of_properties) {
    const std::string all = list_of(13, "\xa1\1m\xa0\1u\xa1\1t\xa1\1s\xa1\1r\x53\5\xa3\1c\xa3\1e"s +
                                            "\x83\0\0\0\0\0\0\0\1\x40\xa1\1g\x52\1\x40"s);
    EXPECT_TRUE(is_good(descriptor::properties, all));
    EXPECT_TRUE(is_good(descriptor::properties, "\x45"));
    EXPECT_TRUE(is_good(descriptor::properties, "\x40"));
    EXPECT_TRUE(is_good(descriptor::properties, list_of(1, "\x98"s + std::string(16, '\1'))));
    for (const std::string& bad :
         {list_of(1, "\x41"), list_of(2, "\x40\xa1\1u"), list_of(4, "\x40\x40\x40\x54\1"),
          list_of(7, "\x40\x40\x40\x40\x40\x40\xa1\1c"), list_of(14, std::string(14, '\x40')),
          list_of(4, "\x40\x40\x40\xa1\1\xff"), map_of(0, "")}) {
        EXPECT_FALSE(is_good(descriptor::properties, bad)) << testing::PrintToString(bad);
    }
}

TEST(Grammar, knows_the_names_in_maps) {
    EXPECT_TRUE(is_good(descriptor::application_properties, map_of(2, "\xa1\1k\x45")));
    EXPECT_FALSE(is_good(descriptor::application_properties, map_of(2, "\xa3\1k\x45")));
    EXPECT_FALSE(is_good(descriptor::application_properties, map_of(2, "\x40\x45")));
    EXPECT_FALSE(is_good(descriptor::application_properties, map_of(2, "\xa1\1\xff\x45")));
    EXPECT_FALSE(is_good(descriptor::application_properties, map_of(1, "\xa1\1k")));
    for (const auto kind : {descriptor::message_annotations, descriptor::footer}) {
        EXPECT_TRUE(is_good(kind, map_of(4, "\xa3\1k\x45\x53\1\x40")));
        EXPECT_TRUE(is_good(kind, map_of(2, "\xa1\1k\x45")));
        EXPECT_FALSE(is_good(kind, map_of(2, "\x54\1\x45")));
    }
    EXPECT_FALSE(is_good(descriptor::message_annotations, "\x40"));
}

TEST(Grammar, has_a_binary_in_data_and_a_list_in_a_sequence) {
    EXPECT_TRUE(is_good(descriptor::data, "\xa0\1x"));
    EXPECT_TRUE(is_good(descriptor::data, "\x40"));
    EXPECT_FALSE(is_good(descriptor::data, "\xa1\1x"));
    EXPECT_TRUE(is_good(descriptor::sequence, list_of(1, "\x41")));
    EXPECT_FALSE(is_good(descriptor::sequence, "\xa0\1x"));
    EXPECT_TRUE(is_good(descriptor::header, list_of(1, "\x41")));
    EXPECT_FALSE(is_good(0x79, "\x40"s + "\x40"));
}

}  // namespace
}  // namespace evenkeel::amqp
