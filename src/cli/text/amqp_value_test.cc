#include "cli/text/amqp_value.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/hex.h"
#include "base/utf8.h"
#include "cli/text/exact_json.h"

namespace evenkeel::cli {
namespace {

using namespace std::string_literals;

std::string hex_of(std::string_view type, std::string_view text) {
    amqp::Buffer bytes;
    const auto good = append_typed(type, text, bytes);
    return good.ok() ? to_hex(bytes) : "error";
}

// Every type, with its smallest and largest values and those that texts get wrong.
struct Sample {
    std::string_view type;
    std::string_view text;
    std::string_view hex;
};
constexpr Sample samples[] = {
    {"null", "null", "40"},
    {"bool", "true", "41"},
    {"bool", "false", "42"},
    {"ubyte", "0", "5000"},
    {"ubyte", "255", "50ff"},
    {"ushort", "65535", "60ffff"},
    {"uint", "0", "43"},
    {"uint", "4294967295", "70ffffffff"},
    {"ulong", "0", "44"},
    {"ulong", "18446744073709551615", "80ffffffffffffffff"},
    {"byte", "-128", "5180"},
    {"short", "-32768", "618000"},
    {"int", "-2147483648", "7180000000"},
    {"int", "5", "5405"},
    {"long", "-9223372036854775808", "818000000000000000"},
    {"long", "9223372036854775807", "817fffffffffffffff"},
    {"float", "0.1", "723dcccccd"},
    {"float", "inf", "727f800000"},
    {"double", "0.1", "823fb999999999999a"},
    {"double", "1", "823ff0000000000000"},
    {"double", "-0", "828000000000000000"},
    {"double", "5e-324", "820000000000000001"},
    {"double", "1.7976931348623157e+308", "827fefffffffffffff"},
    {"double", "nan", "827ff8000000000000"},
    {"double", "-inf", "82fff0000000000000"},
    {"char", "a", "7300000061"},
    {"char", "\xc3\xa9", "73000000e9"},
    {"char", "\xe2\x82\xac", "73000020ac"},
    {"char", "\xf0\x9f\x98\x80", "730001f600"},
    {"timestamp", "0", "830000000000000000"},
    {"timestamp", "-9223372036854775808", "838000000000000000"},
    {"timestamp", "1772359200000", "830000019ca8d72d00"},
    {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "986ba7b8109dad11d180b400c04fd430c8"},
    {"binary", "", "a000"},
    {"binary", "/wAB", "a003ff0001"},
    {"string", "", "a100"},
    {"string", "\"\\\n\x1b[31m", "a108225c0a1b5b33316d"},
    {"symbol", "x", "a30178"},
    {"amqp", "dAAAAAE=", "7400000001"},  // decimal32
    {"amqp", "wAMBQUI=", "c003014142"},  // a list; what it holds is not looked into
};

TEST(AmqpValue, is_written_by_the_name_of_its_type) {
    for (const Sample& sample : samples) {
        EXPECT_EQ(hex_of(sample.type, sample.text), sample.hex)
            << sample.type << " " << sample.text;
    }
    EXPECT_EQ(hex_of("timestamp", "2026-03-01T10:00:00Z"), hex_of("timestamp", "1772359200000"));
}

TEST(AmqpValue, becomes_json_that_is_read_back_as_the_same_value) {
    for (const Sample& sample : samples) {
        amqp::Buffer bytes;
        ASSERT_TRUE(append_typed(sample.type, sample.text, bytes).ok());

        const TypedJson typed = typed_json(bytes);

        EXPECT_EQ(typed.type, sample.type);
        const auto json = parse_json(typed.json);
        ASSERT_TRUE(json.ok()) << typed.json;
        amqp::Buffer again;
        const auto good = append_typed(typed.is_usual ? "" : typed.type, *json, again);
        ASSERT_TRUE(good.ok()) << sample.type << " " << typed.json << " " << good.error().detail;
        EXPECT_EQ(to_hex(again), to_hex(bytes)) << sample.type << " " << typed.json;
    }
}

TEST(AmqpValue, is_refused_if_it_is_not_of_its_type) {
    const std::pair<std::string_view, std::string_view> bad[] = {
        {"null", "0"},
        {"bool", "yes"},
        {"bool", "1"},
        {"ubyte", "256"},
        {"ubyte", "-1"},
        {"ushort", "65536"},
        {"uint", "4294967296"},
        {"ulong", "-1"},
        {"byte", "128"},
        {"short", "40000"},
        {"int", "5.0"},
        {"int", ""},
        {"int", " 5"},
        {"int", "0x5"},
        {"long", "1e3"},
        {"float", "1e39"},
        {"double", "1,5"},
        {"double", ""},
        {"char", ""},
        {"char", "ab"},
        {"char", "\xff"},
        {"char", "\xed\xa0\x80"},
        {"timestamp", "soon"},
        {"uuid", "6ba7b810"},
        {"uuid", "6ba7b8109dad11d180b400c04fd430c8"},
        {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430cg"},
        {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8-"},
        {"uuid", "-ba7b810-9dad-11d1-80b4-00c04fd430c8"},
        {"binary", "x"},
        {"string", "\xff"},
        {"symbol", "\xc3"},
        {"amqp", ""},
        {"amqp", "QQ"},
        {"amqp", "QUI="},
        {"decimal32", "1"},
        {"", "x"},
        {"INT", "5"},
    };
    for (const auto& [type, text] : bad) EXPECT_EQ(hex_of(type, text), "error") << type << text;
    amqp::Buffer bytes;
    EXPECT_FALSE(append_typed("", boost::json::parse("[1]"), bytes).ok());
    EXPECT_FALSE(append_typed("int", boost::json::parse("{}"), bytes).ok());
    EXPECT_FALSE(append_typed("int", boost::json::parse("1.5"), bytes).ok());
    EXPECT_FALSE(append_typed("bool", boost::json::parse("1"), bytes).ok());
}

TEST(AmqpValue, is_valid_json_whatever_the_bytes_are) {
    const std::string odd[] = {"",
                               "\xa1\x05"s,
                               "\xa1\x01\xff"s,
                               "\x98\x01"s,
                               "\x82"s,
                               "\x73\xff\xff\xff\xff"s,
                               "\x82\x7f\xf8\0\0\0\0\0\1"s,
                               "\xc1\x01\x01"s,
                               "\0"s};
    for (const std::string& bytes : odd) {
        const TypedJson typed = typed_json(as_bytes(bytes));
        EXPECT_TRUE(is_utf8(typed.json));
        EXPECT_TRUE(parse_json(typed.json).ok()) << typed.json;
    }
}

}  // namespace
}  // namespace evenkeel::cli
