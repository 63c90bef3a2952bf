#include "eventhubs/value.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::eventhubs {
namespace {

using namespace std::string_literals;

amqp::Buffer encoded(const Value& value) {
    amqp::Buffer bytes;
    amqp::Encoder encoder(bytes);
    append_value(value, encoder);
    return bytes;
}

template <typename T>
void expect_same(T value) {
    const auto bytes = encoded(Value(value));
    const Value found = decode_value(bytes);
    ASSERT_TRUE(std::holds_alternative<T>(found)) << found.index();
    EXPECT_EQ(std::get<T>(found), value);
}

TEST(Value, keeps_its_type_on_the_wire) {
    expect_same(true);
    expect_same(false);
    for (const int number : {-128, -1, 0, 1, 127}) {
        expect_same(static_cast<std::int8_t>(number));
        expect_same(static_cast<std::int16_t>(number * 256));
        expect_same(std::int32_t{number});
        expect_same(std::int64_t{number} << 40);
        expect_same(std::int64_t{number});
    }
    for (const unsigned number : {0u, 1u, 255u}) {
        expect_same(static_cast<std::uint8_t>(number));
        expect_same(static_cast<std::uint16_t>(number * 257));
        expect_same(std::uint32_t{number} << 24);
        expect_same(std::uint64_t{number} << 56);
    }
    expect_same(1.5f);
    expect_same(-2.25);
    expect_same(Timestamp(std::chrono::milliseconds(-5)));
    expect_same(std::string_view("käse"));
    expect_same(std::string_view(""));
    expect_same(Uuid{std::byte{1}, std::byte{2}});
    EXPECT_TRUE(decode_value(encoded({})).is_null());
}

TEST(Value, keeps_symbols_bytes_and_what_has_no_type_here) {
    const std::string list = "\xc0\x03\x01\x54\x07"s;

    const auto symbol = encoded(Symbol{"text/plain"});
    const auto bytes = encoded(as_bytes("raw"));
    const auto other = encoded(Encoded{as_bytes(list)});

    EXPECT_EQ(std::get<Symbol>(decode_value(symbol)).text, "text/plain");
    EXPECT_EQ(decode_value(symbol).text(), "text/plain");
    EXPECT_EQ(as_text(std::get<Bytes>(decode_value(bytes))), "raw");
    EXPECT_EQ(as_text(std::get<Encoded>(decode_value(other)).bytes), list);
}

TEST(Value, is_made_of_the_type_that_it_was_given) {
    EXPECT_TRUE(std::holds_alternative<std::int32_t>(Value(3)));
    EXPECT_TRUE(std::holds_alternative<std::string_view>(Value("text")));
    EXPECT_TRUE(std::holds_alternative<std::string_view>(Value("text"s)));
    EXPECT_TRUE(std::holds_alternative<double>(Value(1.0)));
    EXPECT_TRUE(std::holds_alternative<bool>(Value(true)));
    EXPECT_TRUE(Value().is_null());
}

TEST(Value, gives_numbers_that_fit) {
    EXPECT_EQ(Value(std::uint8_t{200}).integer(), 200);
    EXPECT_EQ(Value(std::int64_t{-7}).integer(), -7);
    EXPECT_EQ(Value(~std::uint64_t{0}).integer(), std::nullopt);
    EXPECT_EQ(Value(true).integer(), std::nullopt);
    EXPECT_EQ(Value("7").integer(), std::nullopt);
    EXPECT_EQ(Value(1.5f).number(), 1.5);
    EXPECT_EQ(Value(-3).number(), -3.0);
    EXPECT_EQ(Value("7").number(), std::nullopt);
    EXPECT_EQ(Value(7).text(), "");
}

TEST(Value, that_is_not_one_encoded_value_is_sent_as_null) {
    for (const auto& bad : {""s, "\xc0\x03\x01\x54"s, "\xa1\x01x\x40"s, "\x01"s}) {
        EXPECT_TRUE(decode_value(encoded(Encoded{as_bytes(bad)})).is_null());
    }
}

TEST(Value, stays_within_the_bytes_of_any_input) {
    Random random(test::test_seed());
    for (int round = 0; round < 200'000; ++round) {
        std::vector<std::byte> bytes(random.below(24));
        random.fill(bytes);
        const Value value = decode_value(bytes);
        Bytes found = as_bytes(value.text());
        if (const auto* const raw = std::get_if<Bytes>(&value)) found = *raw;
        if (const auto* const other = std::get_if<Encoded>(&value)) found = other->bytes;
        if (found.empty()) continue;
        ASSERT_GE(found.data(), bytes.data());
        ASSERT_LE(found.data() + found.size(), bytes.data() + bytes.size());
    }
}

}  // namespace
}  // namespace evenkeel::eventhubs
