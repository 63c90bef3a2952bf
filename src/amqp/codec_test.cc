#include "amqp/codec.h"

#include <gtest/gtest.h>

#include "amqp/codec_fixture.h"
#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::amqp {
namespace {

template <typename Read>
auto read(const Buffer& bytes, Read read) {
    Decoder decoder(bytes);
    auto value = (decoder.*read)();
    EXPECT_FALSE(decoder.failed());
    EXPECT_TRUE(decoder.at_end());
    EXPECT_EQ(encoded_bytes(bytes), bytes.size());
    return value;
}

template <typename Read>
bool fails(const Buffer& bytes, Read read) {
    Decoder decoder(bytes);
    const auto value = (decoder.*read)();
    return decoder.failed() && !value;
}

TEST(Decoder, reads_each_number_in_every_legal_encoding) {
    EXPECT_EQ(read(bytes_of(0x41), &Decoder::boolean), true);
    EXPECT_EQ(read(bytes_of(0x42), &Decoder::boolean), false);
    EXPECT_EQ(read(bytes_of(0x56, 1), &Decoder::boolean), true);
    EXPECT_EQ(read(bytes_of(0x56, 0), &Decoder::boolean), false);
    EXPECT_EQ(read(bytes_of(0x50, 200), &Decoder::ubyte), 200);
    EXPECT_EQ(read(bytes_of(0x60, 1, 2), &Decoder::ushort), 0x102);
    EXPECT_EQ(read(bytes_of(0x43), &Decoder::uint), 0u);
    EXPECT_EQ(read(bytes_of(0x52, 7), &Decoder::uint), 7u);
    EXPECT_EQ(read(bytes_of(0x70, 1, 2, 3, 4), &Decoder::uint), 0x1020304u);
    EXPECT_EQ(read(bytes_of(0x44), &Decoder::ulong), 0u);
    EXPECT_EQ(read(bytes_of(0x53, 7), &Decoder::ulong), 7u);
    EXPECT_EQ(read(bytes_of(0x80, 1, 2, 3, 4, 5, 6, 7, 8), &Decoder::ulong), 0x102030405060708u);
}

TEST(Decoder, reads_any_integer_that_fits_64_signed_bits) {
    EXPECT_EQ(read(bytes_of(0x51, 0xff), &Decoder::integer), -1);
    EXPECT_EQ(read(bytes_of(0x61, 0xff, 0xfe), &Decoder::integer), -2);
    EXPECT_EQ(read(bytes_of(0x71, 0xff, 0xff, 0xff, 0xfd), &Decoder::integer), -3);
    EXPECT_EQ(read(bytes_of(0x54, 0xfc), &Decoder::integer), -4);
    EXPECT_EQ(read(bytes_of(0x81, 255, 255, 255, 255, 255, 255, 255, 0xfb), &Decoder::integer), -5);
    EXPECT_EQ(read(bytes_of(0x55, 0xfa), &Decoder::integer), -6);
    EXPECT_EQ(read(bytes_of(0x83, 0, 0, 0, 0, 0, 0, 1, 0), &Decoder::integer), 256);
    for (const auto& zero :
         {bytes_of(0x43), bytes_of(0x44), bytes_of(0x50, 0), bytes_of(0x60, 0, 0),
          bytes_of(0x52, 0), bytes_of(0x53, 0), bytes_of(0x70, 0, 0, 0, 0)}) {
        EXPECT_EQ(read(zero, &Decoder::integer), 0);
    }
    EXPECT_EQ(read(bytes_of(0x80, 0x7f, 255, 255, 255, 255, 255, 255, 255), &Decoder::integer),
              INT64_MAX);

    EXPECT_TRUE(fails(bytes_of(0x80, 0x80, 0, 0, 0, 0, 0, 0, 0), &Decoder::integer));
    EXPECT_TRUE(fails(bytes_of(0x72, 0, 0, 0, 0), &Decoder::integer));
}

TEST(Decoder, reads_texts_with_short_and_long_lengths) {
    EXPECT_EQ(as_text(*read(bytes_of(0xa0, 1, 'a'), &Decoder::binary)), "a");
    EXPECT_EQ(as_text(*read(bytes_of(0xb0, 0, 0, 0, 1, 'a'), &Decoder::binary)), "a");
    EXPECT_EQ(read(bytes_of(0xa1, 2, 'a', 'b'), &Decoder::string), "ab");
    EXPECT_EQ(read(bytes_of(0xb1, 0, 0, 0, 2, 'a', 'b'), &Decoder::string), "ab");
    EXPECT_EQ(read(bytes_of(0xa3, 2, 'a', 'b'), &Decoder::symbol), "ab");
    EXPECT_EQ(read(bytes_of(0xb3, 0, 0, 0, 2, 'a', 'b'), &Decoder::symbol), "ab");
    EXPECT_EQ(read(bytes_of(0xa1, 0), &Decoder::string), "");
    EXPECT_EQ(read(bytes_of(0xa1, 1, 's'), &Decoder::text), "s");
    EXPECT_EQ(read(bytes_of(0xb3, 0, 0, 0, 1, 's'), &Decoder::text), "s");
}

TEST(Decoder, reads_null_as_no_value_of_any_type) {
    const auto null = bytes_of(0x40);
    EXPECT_FALSE(read(null, &Decoder::boolean));
    EXPECT_FALSE(read(null, &Decoder::ubyte));
    EXPECT_FALSE(read(null, &Decoder::ushort));
    EXPECT_FALSE(read(null, &Decoder::uint));
    EXPECT_FALSE(read(null, &Decoder::ulong));
    EXPECT_FALSE(read(null, &Decoder::integer));
    EXPECT_FALSE(read(null, &Decoder::binary));
    EXPECT_FALSE(read(null, &Decoder::string));
    EXPECT_FALSE(read(null, &Decoder::symbol));
    EXPECT_FALSE(read(null, &Decoder::text));
    EXPECT_FALSE(read(null, &Decoder::list));
    EXPECT_FALSE(read(null, &Decoder::map));
    EXPECT_TRUE(read(null, &Decoder::symbols).empty());
}

TEST(Decoder, fails_on_another_type_and_stays_failed) {
    EXPECT_TRUE(fails(bytes_of(0x56, 2), &Decoder::boolean));
    EXPECT_TRUE(fails(bytes_of(0x43), &Decoder::boolean));
    EXPECT_TRUE(fails(bytes_of(0x60, 0, 1), &Decoder::ubyte));
    EXPECT_TRUE(fails(bytes_of(0x50, 1), &Decoder::ushort));
    EXPECT_TRUE(fails(bytes_of(0x53, 1), &Decoder::uint));
    EXPECT_TRUE(fails(bytes_of(0x52, 1), &Decoder::ulong));
    EXPECT_TRUE(fails(bytes_of(0xa1, 1, 'a'), &Decoder::binary));
    EXPECT_TRUE(fails(bytes_of(0xa3, 1, 'a'), &Decoder::string));
    EXPECT_TRUE(fails(bytes_of(0xa1, 1, 'a'), &Decoder::symbol));
    EXPECT_TRUE(fails(bytes_of(0xc1, 1, 0), &Decoder::list));
    EXPECT_TRUE(fails(bytes_of(0x45), &Decoder::map));

    const auto bytes = bytes_of(0x60, 0, 1, 0x43);
    Decoder decoder(bytes);
    decoder.ubyte();
    EXPECT_FALSE(decoder.uint());
    EXPECT_TRUE(decoder.value().empty());
    EXPECT_EQ(decoder.peek(), code::null);
}

// A length never leads out of the bytes that are there.
TEST(Decoder, never_reads_over_the_end_whatever_a_length_says) {
    for (const int format : {0xa0, 0xa1, 0xa3, 0xc0, 0xc1, 0xe0}) {
        for (int length = 0; length < 256; ++length) {
            const auto bytes = bytes_of(format, length, 0, 0);
            const std::size_t expected = length <= 2 ? 2 + static_cast<std::size_t>(length) : 0;
            EXPECT_EQ(encoded_bytes(bytes), expected);
            Decoder decoder(bytes);
            EXPECT_EQ(decoder.value().size(), expected);
            EXPECT_EQ(decoder.failed(), length > 2);
        }
    }
    for (const int format : {0xb0, 0xb1, 0xb3, 0xd0, 0xd1, 0xf0}) {
        for (const std::uint32_t length :
             {0u, 1u, 2u, 3u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu, 0xfffffffbu}) {
            const auto bytes =
                bytes_of(format, length >> 24, length >> 16, length >> 8, length, 0, 0);
            EXPECT_EQ(encoded_bytes(bytes), length <= 2 ? 5 + length : 0);
            for (auto read : {&Decoder::list, &Decoder::map}) {
                Decoder decoder(bytes);
                (decoder.*read)();
                EXPECT_TRUE(decoder.failed());  // too short for a count of four bytes
            }
            Decoder decoder(bytes);
            decoder.symbols();
            EXPECT_TRUE(decoder.failed() || format == 0xb3);
        }
    }
}

TEST(Decoder, fails_on_every_cut_of_every_kind_of_value) {
    const std::vector<Buffer> values = {
        bytes_of(0x56, 1),
        bytes_of(0x70, 1, 2, 3, 4),
        bytes_of(0x80, 1, 2, 3, 4, 5, 6, 7, 8),
        bytes_of(0x98, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16),
        bytes_of(0xa1, 2, 'a', 'b'),
        bytes_of(0xb1, 0, 0, 0, 2, 'a', 'b'),
        bytes_of(0xc0, 3, 2, 0x43, 0x43),
        bytes_of(0xd1, 0, 0, 0, 6, 0, 0, 0, 2, 0x43, 0x43),
        bytes_of(0xe0, 4, 2, 0x50, 1, 2),
        bytes_of(0x00, 0x53, 0x24, 0x45),
        bytes_of(0x00, 0xa3, 1, 'x', 0xa1, 1, 'y'),
    };
    for (const auto& value : values) {
        EXPECT_EQ(encoded_bytes(value), value.size());
        for (std::size_t size = 0; size < value.size(); ++size) {
            EXPECT_EQ(encoded_bytes(ByteView(value).first(size)), 0u);
        }
    }
}

TEST(Decoder, knows_the_width_of_all_primitives) {
    const std::pair<int, std::size_t> widths[] = {
        {0x40, 1}, {0x41, 1}, {0x42, 1}, {0x43, 1}, {0x44, 1},  {0x45, 1}, {0x50, 2},
        {0x51, 2}, {0x52, 2}, {0x53, 2}, {0x54, 2}, {0x55, 2},  {0x56, 2}, {0x60, 3},
        {0x61, 3}, {0x70, 5}, {0x71, 5}, {0x72, 5}, {0x73, 5},  {0x74, 5}, {0x80, 9},
        {0x81, 9}, {0x82, 9}, {0x83, 9}, {0x84, 9}, {0x94, 17}, {0x98, 17}};
    for (const auto& [format, size] : widths) {
        Buffer bytes(32);
        bytes[0] = static_cast<std::byte>(format);
        EXPECT_EQ(encoded_bytes(bytes), size) << format;
    }
    for (int format = 0x01; format < 0x40; ++format) {
        EXPECT_EQ(encoded_bytes(bytes_of(format, 0, 0, 0, 0, 0)), 0u);
    }
}

TEST(Decoder, reads_lists_of_all_three_forms) {
    for (const auto& bytes : {bytes_of(0xc0, 4, 2, 0x52, 5, 0x41),
                              bytes_of(0xd0, 0, 0, 0, 7, 0, 0, 0, 2, 0x52, 5, 0x41)}) {
        auto list = read(bytes, &Decoder::list);
        ASSERT_TRUE(list);
        EXPECT_EQ(list->remaining(), 2u);
        EXPECT_EQ(list->uint(), 5u);
        EXPECT_EQ(list->boolean(), true);
        EXPECT_EQ(list->remaining(), 0u);
    }
    EXPECT_EQ(read(bytes_of(0x45), &Decoder::list)->remaining(), 0u);
}

TEST(Decoder, reads_missing_trailing_elements_as_null) {
    const auto bytes = bytes_of(0xc0, 2, 1, 0x41, 0x43, 0x43);
    Decoder decoder(bytes);
    auto list = decoder.list();

    EXPECT_EQ(list->boolean(), true);
    EXPECT_FALSE(list->uint());
    EXPECT_FALSE(list->string());
    EXPECT_FALSE(list->list());
    EXPECT_FALSE(list->descriptor());
    EXPECT_TRUE(list->symbols().empty());
    EXPECT_TRUE(list->value().empty());
    EXPECT_EQ(list->peek(), code::null);
    EXPECT_FALSE(list->failed());
    EXPECT_EQ(decoder.rest().size(), 2u);
}

// Counts up to 2^32-1 with tiny bodies.
TEST(Decoder, refuses_more_elements_than_bytes) {
    EXPECT_TRUE(fails(bytes_of(0xc0, 1, 1), &Decoder::list));
    EXPECT_TRUE(fails(bytes_of(0xc0, 2, 255, 0x40), &Decoder::list));
    EXPECT_TRUE(fails(bytes_of(0xd0, 0, 0, 0, 5, 255, 255, 255, 255, 0x40), &Decoder::list));
    EXPECT_TRUE(fails(bytes_of(0xd1, 0, 0, 0, 5, 255, 255, 255, 254, 0x40), &Decoder::map));
    EXPECT_TRUE(fails(bytes_of(0xc1, 2, 1, 0x40), &Decoder::map)) << "a key without value";
    EXPECT_TRUE(fails(bytes_of(0xc0, 0), &Decoder::list)) << "no room for the count";
}

TEST(Decoder, fails_when_a_list_ends_before_its_count) {
    // Four elements are announced in four bytes, and the first takes them all.
    const auto bytes = bytes_of(0xc1, 5, 4, 0xa3, 2, 'a', 'b');
    Decoder decoder(bytes);
    auto map = decoder.map();
    ASSERT_TRUE(map);
    EXPECT_EQ(map->text(), "ab");

    EXPECT_TRUE(map->value().empty());

    EXPECT_TRUE(map->failed()) << "or a loop over what remains would never end";
}

TEST(Decoder, reads_arrays_of_symbols_and_single_ones) {
    using Views = std::vector<std::string_view>;
    EXPECT_EQ(read(bytes_of(0xa3, 1, 'x'), &Decoder::symbols), Views{"x"});
    EXPECT_EQ(read(bytes_of(0xe0, 6, 2, 0xa3, 1, 'a', 1, 'b'), &Decoder::symbols),
              (Views{"a", "b"}));
    EXPECT_EQ(read(bytes_of(0xf0, 0, 0, 0, 15, 0, 0, 0, 2, 0xb3, 0, 0, 0, 1, 'a', 0, 0, 0, 1, 'b'),
                   &Decoder::symbols),
              (Views{"a", "b"}));
    EXPECT_EQ(read(bytes_of(0xe0, 2, 0, 0xa3), &Decoder::symbols), Views{});

    for (const auto& bytes : {bytes_of(0xe0, 4, 1, 0xa1, 1, 'a'),         // of strings
                              bytes_of(0xe0, 4, 2, 0xa3, 1, 'a'),         // one is missing
                              bytes_of(0xe0, 1, 0),                       // no constructor
                              bytes_of(0xe0, 4, 1, 0xa3, 9, 'a'),         // one is too long
                              bytes_of(0xf0, 0, 0, 0, 4, 0, 0, 0, 0)}) {  // no constructor
        Decoder decoder(bytes);
        decoder.symbols();
        EXPECT_TRUE(decoder.failed());
    }
}

// AMQP-5: elements that take no bytes, or one, must not take memory.
TEST(Decoder, refuses_arrays_that_expand_in_memory) {
    Buffer nulls = bytes_of(0xf0, 0, 0, 0, 5, 255, 255, 255, 255, 0x40);
    Decoder of_nulls(nulls);
    EXPECT_TRUE(of_nulls.symbols().empty());
    EXPECT_TRUE(of_nulls.failed());
    EXPECT_EQ(encoded_bytes(nulls), nulls.size()) << "it may be passed over";

    Buffer empty = bytes_of(0xf0, 0, 0, 4, 5, 0, 0, 4, 0, 0xa3);
    empty.resize(empty.size() + 1024);
    Decoder of_empty(empty);
    EXPECT_TRUE(of_empty.symbols().empty());
    EXPECT_TRUE(of_empty.failed());
}

TEST(Decoder, reads_descriptors_as_numbers_and_as_names) {
    for (const auto& bytes : {bytes_of(0x00, 0x53, 0x24, 0x45),
                              bytes_of(0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x24, 0x45)}) {
        Decoder decoder(bytes);
        EXPECT_EQ(decoder.descriptor(), 0x24u);
        EXPECT_TRUE(decoder.list());
    }
    const auto named = [](std::string_view name) {
        const auto bytes = written([&](Encoder& encoder) {
            encoder.bytes(bytes_of(0x00));
            encoder.symbol(name);
            encoder.bytes(bytes_of(0x45));
        });
        Decoder decoder(bytes);
        const auto found = decoder.descriptor();
        EXPECT_TRUE(decoder.list());
        return found;
    };
    EXPECT_EQ(named("amqp:accepted:list"), 0x24u);
    EXPECT_EQ(named("amqp:amqp-value:*"), 0x77u);
    EXPECT_EQ(named("apache.org:selector-filter:string"), 0u);
}

TEST(Decoder, refuses_descriptors_that_are_neither) {
    EXPECT_TRUE(fails(bytes_of(0x00, 0x40, 0x45), &Decoder::descriptor));
    EXPECT_TRUE(fails(bytes_of(0x00, 0xa1, 1, 'a', 0x45), &Decoder::descriptor));
    EXPECT_TRUE(fails(bytes_of(0x00, 0xa3, 5, 'a', 0x45), &Decoder::descriptor));
    EXPECT_TRUE(fails(bytes_of(0x00), &Decoder::descriptor));
    EXPECT_TRUE(fails(bytes_of(0x45), &Decoder::descriptor));
}

TEST(Decoder, counts_a_described_value_as_one_element) {
    const auto bytes = bytes_of(0xc0, 6, 2, 0x00, 0x53, 0x24, 0x45, 0x41);
    Decoder decoder(bytes);
    auto list = decoder.list();

    EXPECT_EQ(list->descriptor(), 0x24u);
    EXPECT_EQ(list->remaining(), 2u);
    EXPECT_TRUE(list->list());
    EXPECT_EQ(list->boolean(), true);
    EXPECT_EQ(list->remaining(), 0u);
}

TEST(Decoder, passes_over_nested_described_values_but_not_bombs) {
    Buffer nested;
    for (int i = 0; i < 4; ++i) Encoder(nested).descriptor(1);
    Encoder(nested).boolean(true);
    EXPECT_EQ(encoded_bytes(nested), nested.size());

    Buffer described_descriptor = bytes_of(0x00, 0x00, 0x53, 1, 0x53, 2, 0x41);
    EXPECT_EQ(encoded_bytes(described_descriptor), described_descriptor.size());

    const Buffer bomb(100'000);  // all zeros: a descriptor of a descriptor of ...
    EXPECT_EQ(encoded_bytes(bomb), 0u);

    // Lists in lists are passed over by their size alone, however deep.
    Buffer deep = bytes_of(0x45);
    for (int i = 0; i < 1000; ++i) {
        Buffer outer;
        Encoder encoder(outer);
        const auto open = encoder.begin_list();
        encoder.bytes(deep);
        encoder.end(open, 1);
        deep = std::move(outer);
    }
    EXPECT_EQ(encoded_bytes(deep), deep.size());
}

TEST(Encoder, writes_the_shortest_form) {
    EXPECT_EQ(written([](Encoder& to) { to.uint(0); }), bytes_of(0x43));
    EXPECT_EQ(written([](Encoder& to) { to.uint(255); }), bytes_of(0x52, 255));
    EXPECT_EQ(written([](Encoder& to) { to.uint(256); }), bytes_of(0x70, 0, 0, 1, 0));
    EXPECT_EQ(written([](Encoder& to) { to.ulong(0); }), bytes_of(0x44));
    EXPECT_EQ(written([](Encoder& to) { to.ulong(255); }), bytes_of(0x53, 255));
    EXPECT_EQ(written([](Encoder& to) { to.ulong(256); }), bytes_of(0x80, 0, 0, 0, 0, 0, 0, 1, 0));
    EXPECT_EQ(written([](Encoder& to) { to.int_(-128); }), bytes_of(0x54, 0x80));
    EXPECT_EQ(written([](Encoder& to) { to.int_(128); }), bytes_of(0x71, 0, 0, 0, 128));
    EXPECT_EQ(written([](Encoder& to) { to.long_(127); }), bytes_of(0x55, 127));
    EXPECT_EQ(written([](Encoder& to) { to.long_(-129); }),
              bytes_of(0x81, 255, 255, 255, 255, 255, 255, 255, 127));
    EXPECT_EQ(written([](Encoder& to) { to.string(std::string(255, 'x')); }).size(), 257u);
    EXPECT_EQ(written([](Encoder& to) { to.string(std::string(256, 'x')); }).size(), 261u);
    EXPECT_EQ(written([](Encoder& to) { to.descriptor(0x14); }), bytes_of(0x00, 0x53, 0x14));
}

TEST(Encoder, writes_what_the_decoder_reads) {
    Random random(test::test_seed());
    for (int round = 0; round < 500; ++round) {
        const std::uint64_t number = random.next() >> random.below(64);
        const std::string text(random.below(400), 'x');
        Buffer bytes;
        Encoder to(bytes);
        const auto open = to.begin_list();
        to.boolean(number & 1);
        to.ubyte(static_cast<std::uint8_t>(number));
        to.ushort(static_cast<std::uint16_t>(number));
        to.uint(static_cast<std::uint32_t>(number));
        to.ulong(number);
        to.int_(static_cast<std::int32_t>(number));
        to.long_(static_cast<std::int64_t>(number));
        to.timestamp(static_cast<std::int64_t>(number));
        to.uuid({});
        to.binary(as_bytes(text));
        to.string(text);
        to.symbol(text);
        to.symbols({text, "", "b"});
        to.strings({text});
        to.null();
        to.end(open, 15);

        Decoder decoder(bytes);
        auto from = decoder.list();
        ASSERT_TRUE(from);
        EXPECT_EQ(from->boolean(), (number & 1) != 0);
        EXPECT_EQ(from->ubyte(), static_cast<std::uint8_t>(number));
        EXPECT_EQ(from->ushort(), static_cast<std::uint16_t>(number));
        EXPECT_EQ(from->uint(), static_cast<std::uint32_t>(number));
        EXPECT_EQ(from->ulong(), number);
        EXPECT_EQ(from->integer(), static_cast<std::int32_t>(number));
        EXPECT_EQ(from->integer(), static_cast<std::int64_t>(number));
        EXPECT_EQ(from->integer(), static_cast<std::int64_t>(number));
        EXPECT_EQ(from->value().size(), 17u);
        EXPECT_EQ(as_text(*from->binary()), text);
        EXPECT_EQ(from->string(), text);
        EXPECT_EQ(from->symbol(), text);
        EXPECT_EQ(from->symbols(), (std::vector<std::string_view>{text, "", "b"}));
        EXPECT_EQ(from->value().size(), 10 + 4 + text.size());
        EXPECT_FALSE(from->uint());
        EXPECT_EQ(from->remaining(), 0u);
        EXPECT_FALSE(from->failed());
    }
}

}  // namespace
}  // namespace evenkeel::amqp
