#include "amqp/message.h"

#include <gtest/gtest.h>

#include "amqp/codec_fixture.h"
#include "amqp/performatives.h"

namespace evenkeel::amqp {
namespace {

Buffer a_map(std::string_view key, std::int64_t value) {
    return written([&](Encoder& to) {
        const auto map = to.begin_map();
        to.symbol(key);
        to.long_(value);
        to.end(map, 2);
    });
}

void section(Encoder& to, std::uint64_t kind, ByteView value) {
    to.descriptor(static_cast<std::uint8_t>(kind));
    to.bytes(value);
}

TEST(Message, is_taken_apart_into_its_sections) {
    const Buffer annotations = a_map("k", 1);
    const Buffer body = written([](Encoder& to) { to.binary(as_bytes("body")); });
    const Buffer message = written([&](Encoder& to) {
        section(to, descriptor::message_annotations, annotations);
        section(to, descriptor::data, body);
    });
    ByteView left = message;

    const auto first = next_section(left);
    const auto second = next_section(left);

    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->kind, descriptor::message_annotations);
    EXPECT_EQ(as_text(first->value), as_text(annotations));
    EXPECT_EQ(first->whole.size(), annotations.size() + 3);
    EXPECT_EQ(second->kind, descriptor::data);
    EXPECT_EQ(as_text(second->value), as_text(body));
    EXPECT_EQ(first->whole.size() + second->whole.size(), message.size());
    EXPECT_TRUE(left.empty());
}

TEST(Message, has_data_sections_of_the_usual_form_cut_off_as_they_are) {
    for (const std::size_t size : {3u, 255u, 256u, 70'000u}) {
        const std::string text(size, 'x');
        const Buffer message = written([&](Encoder& to) {
            section(to, descriptor::data,
                    written([&](Encoder& value) { value.binary(as_bytes(text)); }));
            section(to, descriptor::footer, a_map("k", 1));
        });
        ByteView left = message;

        const auto content = cut_usual_data(left);

        ASSERT_TRUE(content.has_value()) << size;
        EXPECT_EQ(as_text(*content), text);
        const auto next = next_section(left);
        EXPECT_EQ(next->kind, descriptor::footer);
    }
}

TEST(Message, of_another_form_is_not_cut) {
    const auto kept = [](const Buffer& bytes) {
        ByteView left = bytes;
        return !cut_usual_data(left) && left.size() == bytes.size();
    };
    const auto described = [](std::uint64_t kind) {
        return written([&](Encoder& to) {
            section(to, kind, written([](Encoder& value) { value.binary(as_bytes("12345")); }));
        });
    };
    EXPECT_FALSE(kept(described(descriptor::data)));
    EXPECT_TRUE(kept(described(descriptor::value)));
    EXPECT_TRUE(kept({}));
    EXPECT_TRUE(kept(written([](Encoder& to) {
        section(to, descriptor::data, written([](Encoder& value) { value.string("12345"); }));
    })));
    for (const std::uint8_t form : {code::binary8, code::binary32}) {
        Buffer cut = described(descriptor::data);
        cut[3] = std::byte{form};  // as binary32 its size reaches far beyond the end
        cut.pop_back();
        EXPECT_TRUE(kept(cut));
    }
}

TEST(Message, may_have_a_bare_map_as_its_annotations) {
    const Buffer message = a_map("x-opt-partition-key", 5);
    ByteView left = message;

    const auto found = next_section(left);

    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->kind, descriptor::message_annotations);
    EXPECT_EQ(found->whole.size(), message.size());
    EXPECT_EQ(integer_in(found->value, "x-opt-partition-key"), 5);
}

TEST(Message, has_nothing_but_sections) {
    const auto refused = [](const Buffer& bytes) {
        ByteView left = bytes;
        const bool is_refused = !next_section(left).ok();
        return is_refused && left.size() == bytes.size();
    };
    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused(written([](Encoder& to) { to.boolean(true); })));
    EXPECT_TRUE(refused(written([](Encoder& to) { to.descriptor(0x75); })));
    EXPECT_TRUE(refused(written([](Encoder& to) { section(to, 0x79, a_map("k", 1)); })));
    EXPECT_TRUE(refused(written([](Encoder& to) { section(to, 0x6f, a_map("k", 1)); })));
    Buffer cut = written([](Encoder& to) { section(to, 0x72, a_map("k", 1)); });
    cut.pop_back();
    EXPECT_TRUE(refused(cut));
}

TEST(Map, gives_integers_and_texts_by_key_whatever_their_encoding) {
    const Buffer map = written([](Encoder& to) {
        const auto open = to.begin_map();
        to.ulong(7);  // a key that is no text is passed over
        to.string("x");
        to.string("number");
        to.uint(70'000);
        to.symbol("text");
        to.symbol("value");
        to.symbol("nothing");
        to.null();
        to.end(open, 8);
    });
    EXPECT_EQ(integer_in(map, "number"), 70'000);
    EXPECT_EQ(text_in(map, "text"), "value");
    EXPECT_FALSE(integer_in(map, "text"));
    EXPECT_FALSE(text_in(map, "number"));
    EXPECT_FALSE(text_in(map, "nothing"));
    EXPECT_FALSE(integer_in(map, "missing"));
    EXPECT_FALSE(integer_in({}, "missing"));
}

TEST(Map, that_ends_before_its_count_is_malformed_and_ends_the_visit) {
    // Found by reading: the loop over the remaining pairs never ended.
    const Buffer map = {std::byte{0xc1}, std::byte{5},   std::byte{4},  std::byte{0xa3},
                        std::byte{2},    std::byte{'a'}, std::byte{'b'}};
    int visits = 0;

    EXPECT_FALSE(for_each_pair(map, [&](std::string_view, ByteView) { ++visits; }));

    EXPECT_EQ(visits, 0);
}

Buffer a_request(ByteView message_id, std::string_view reply_to) {
    return written([&](Encoder& to) {
        to.descriptor(static_cast<std::uint8_t>(descriptor::properties));
        const auto list = to.begin_list();
        to.bytes(message_id);
        for (int i = 0; i < 3; ++i) to.null();
        to.string(reply_to);
        to.end(list, 5);
        section(to, descriptor::application_properties, a_map("version", 2));
        to.descriptor(static_cast<std::uint8_t>(descriptor::value));
        to.string("token");
    });
}

TEST(Request, has_an_id_of_any_type_a_reply_address_properties_and_a_text) {
    for (const auto& id :
         {written([](Encoder& to) { to.string("id"); }),
          written([](Encoder& to) { to.ulong(300); }), written([](Encoder& to) { to.uuid({}); })}) {
        const Buffer message = a_request(id, "me");

        const auto request = decode_request(message);

        ASSERT_TRUE(request.ok());
        EXPECT_EQ(as_text(request->message_id), as_text(id));
        EXPECT_EQ(request->reply_to, "me");
        EXPECT_EQ(integer_in(request->properties, "version"), 2);
        EXPECT_EQ(request->text, "token");
    }
}

TEST(Request, may_have_no_properties_and_another_body) {
    const Buffer message = written([](Encoder& to) {
        to.descriptor(static_cast<std::uint8_t>(descriptor::value));
        to.null();
    });

    const auto request = decode_request(message);

    ASSERT_TRUE(request.ok());
    EXPECT_TRUE(request->message_id.empty());
    EXPECT_EQ(request->text, "");
    EXPECT_TRUE(decode_request({}).ok());
}

TEST(Request, is_refused_if_malformed) {
    EXPECT_FALSE(decode_request(as_bytes("hello")).ok());
    const Buffer not_a_list = written([](Encoder& to) {
        to.descriptor(static_cast<std::uint8_t>(descriptor::properties));
        to.boolean(true);
    });
    EXPECT_FALSE(decode_request(not_a_list).ok());
}

TEST(Response, echoes_the_id_with_its_type_and_carries_properties_and_body) {
    const Buffer id = written([](Encoder& to) { to.ulong(300); });
    const Buffer properties = a_map("status-code", 202);
    const Buffer body = a_map("name", 1);
    Buffer message;

    encode_response(id, properties, body, message);

    ByteView left = message;
    const auto first = next_section(left);
    const auto second = next_section(left);
    const auto third = next_section(left);
    ASSERT_TRUE(first.ok() && second.ok() && third.ok());
    EXPECT_EQ(first->kind, descriptor::properties);
    Decoder decoder(first->value);
    auto fields = decoder.list();
    EXPECT_EQ(fields->remaining(), 13u);
    for (int i = 0; i < 5; ++i) fields->value();
    EXPECT_EQ(as_text(fields->value()), as_text(id));
    EXPECT_EQ(second->kind, descriptor::application_properties);
    EXPECT_EQ(integer_in(second->value, "status-code"), 202);
    EXPECT_EQ(third->kind, descriptor::value);
    EXPECT_EQ(as_text(third->value), as_text(body));
}

TEST(Response, without_id_and_body_leaves_them_out) {
    Buffer message;
    encode_response({}, a_map("status-code", 200), {}, message);

    ByteView left = message;
    ASSERT_TRUE(next_section(left).ok());
    ASSERT_TRUE(next_section(left).ok());
    EXPECT_TRUE(left.empty());
}

}  // namespace
}  // namespace evenkeel::amqp
