#include "door/amqp/events.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"
#include "door/door_fixture.h"
#include "support/seed.h"

namespace evenkeel::door {
namespace {

namespace kind = amqp::descriptor;

Buffer joined(const std::vector<Buffer>& parts) {
    Buffer all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}
Buffer section(std::uint64_t which, const Buffer& value) {
    Buffer bytes;
    append_section(bytes, which, value);
    return bytes;
}
Buffer bytes_of(ByteView view) {
    return {view.begin(), view.end()};
}
Buffer stored(const Incoming& incoming, std::size_t index = 0) {
    return bytes_of(incoming.events().at(index).body);
}
// What a reader gets of the stored bytes.
Buffer delivered(ByteView body, std::string_view key = {},
                 const std::optional<RuntimeMetric>& metric = std::nullopt) {
    commitlog::Record record{};
    record.sequence = {7};
    record.offset = {512};
    record.enqueued = WallTime{1'700'000'000'000};
    record.key = as_bytes(key);
    record.body = body;
    Buffer prefix;
    ByteView rest;
    encode_prefix(record, metric, prefix, rest);
    prefix.insert(prefix.end(), rest.begin(), rest.end());
    return prefix;
}

const Buffer properties = section(kind::properties, encoded([](Encoder& encoder) {
                                      const auto list = encoder.begin_list();
                                      encoder.string("id");
                                      encoder.end(list, 1);
                                  }));
const Buffer header =
    section(kind::header, encoded([](Encoder& encoder) { encoder.end(encoder.begin_list(), 0); }));

TEST(Event, of_the_usual_form_is_stored_as_the_very_bytes_that_came) {
    const Buffer message =
        joined({section(kind::delivery_annotations, a_map({{"d", a_long(1)}})),
                section(kind::message_annotations, a_map({{"user", a_string("x")}})), properties,
                section(kind::application_properties, a_map({{"p", a_long(5)}}, false)),
                a_data("one"), a_data("two"), section(kind::footer, a_map({}))});
    Incoming incoming;

    ASSERT_TRUE(incoming.decode(message, 0).ok());

    ASSERT_EQ(incoming.events().size(), 1u);
    EXPECT_EQ(stored(incoming), message);
    EXPECT_EQ(incoming.events()[0].body.data(), message.data());
}

TEST(Event, may_have_any_body_or_none) {
    for (const Buffer& body :
         {section(kind::value, a_string("text")), section(kind::value, a_map({{"a", a_long(1)}})),
          section(kind::sequence, encoded([](Encoder& encoder) {
                      const auto list = encoder.begin_list();
                      encoder.long_(1);
                      encoder.end(list, 1);
                  })),
          Buffer{}}) {
        const Buffer message = joined({properties, body});
        Incoming incoming;
        ASSERT_TRUE(incoming.decode(message, 0).ok());
        EXPECT_EQ(stored(incoming), message);
    }
}

TEST(Event, loses_its_header_and_nothing_else) {
    const Buffer message = joined({header, properties, a_data("x")});
    Incoming incoming;

    ASSERT_TRUE(incoming.decode(message, 0).ok());

    EXPECT_EQ(stored(incoming), joined({properties, a_data("x")}));
}

TEST(Event, with_sections_out_of_order_is_put_in_order) {
    const Buffer late = section(kind::delivery_annotations, a_map({{"d", a_long(1)}}));
    const Buffer message = joined({properties, a_data("x"), late, header});
    Incoming incoming;

    ASSERT_TRUE(incoming.decode(message, 0).ok());

    EXPECT_EQ(stored(incoming), joined({late, properties, a_data("x")}));
}

TEST(Event, does_not_keep_annotations_that_are_the_hubs_to_give) {
    // A key that is neither symbol nor string must survive the rewriting too.
    const Buffer annotations = encoded([](Encoder& encoder) {
        const auto map = encoder.begin_map();
        encoder.symbol("x-opt-sequence-number");
        encoder.long_(999);
        encoder.string("x-opt-offset");
        encoder.string("999");
        encoder.ulong(5);
        encoder.string("kept");
        encoder.symbol("mine");
        encoder.null();
        encoder.end(map, 8);
    });
    const Buffer sent = joined({section(kind::message_annotations, annotations), a_data("x")});
    Incoming incoming;

    ASSERT_TRUE(incoming.decode(sent, 0).ok());
    const Message message{delivered(stored(incoming))};

    EXPECT_EQ(message.number("x-opt-sequence-number"), 7);
    EXPECT_EQ(message.annotation("x-opt-offset"), "512");
    const ByteView all = message.section(kind::message_annotations);
    EXPECT_NE(as_text(all).find("kept"), std::string_view::npos);
    EXPECT_NE(as_text(all).find("mine"), std::string_view::npos);
    EXPECT_EQ(as_text(all).find("999"), std::string_view::npos);
}

TEST(Event, that_is_malformed_is_refused_whole) {
    const Buffer odd = encoded([](Encoder& encoder) {
        const auto map = encoder.begin_map();
        encoder.symbol("a");
        encoder.end(map, 1);
    });
    const Buffer trailing = encoded([](Encoder& encoder) {
        const auto map = encoder.begin_map();
        encoder.symbol("a");
        encoder.null();
        encoder.null();
        encoder.end(map, 2);
    });
    const Buffer claims_more = encoded([](Encoder& encoder) {
        const auto map = encoder.begin_map();
        encoder.symbol("a");
        encoder.null();
        encoder.end(map, 4'000'000);
    });
    for (const auto& bad :
         {section(kind::message_annotations, odd), section(kind::message_annotations, trailing),
          section(kind::message_annotations, claims_more), section(kind::delivery_annotations, odd),
          section(kind::message_annotations, a_string("x")), section(kind::data, a_string("x")),
          section(kind::properties, a_map({})), joined({properties, properties}),
          section(0x79, a_map({})), Buffer{std::byte{0}}, Buffer{std::byte{0x41}},
          Buffer(3, std::byte{0xff})}) {
        Incoming incoming;
        EXPECT_EQ(incoming.decode(joined({bad, a_data("x")}), 0).ok(), false);
        const auto batch = incoming.decode(a_batch({a_data("good"), bad}), amqp::batch_format);
        EXPECT_FALSE(batch.ok());
    }
}

// Each stopped an official reader that met it.
std::vector<Buffer> poison() {
    const auto raw = [](std::string_view bytes) { return bytes_of(as_bytes(bytes)); };
    using namespace std::string_view_literals;
    std::vector<Buffer> all;
    for (const auto value :
         {"\xc1\x04\x01\xa1\1k"sv,                                  // a name without a value
          "\xc1\x08\x02\xa1\1k\xc0\2\x09\x41"sv,                    // a list of more than it has
          "\xc1\x07\x02\xa1\1k\xa1\1\xff"sv,                        // text that is not UTF-8
          "\xc1\x06\x02\xa1\1\xff\x41\x41"sv,                       // a name that is not
          "\xc1\x0e\x02\xa1\1k\xf0\0\0\0\5\xff\xff\xff\xff\x40"sv,  // four billion nulls
          "\xc1\x05\x02\xa1\1k\x46"sv}) {                           // a type that there is not
        all.push_back(section(kind::application_properties, raw(value)));
    }
    all.push_back(section(kind::properties, raw("\xc0\5\1\xa1\2\xc3\x28"sv)));
    all.push_back(section(kind::message_annotations, raw("\xc1\7\2\xa3\1k\xa1\1\xff"sv)));
    all.push_back(section(kind::delivery_annotations, raw("\xc1\7\2\xa3\1k\xa1\1\xff"sv)));
    all.push_back(section(kind::footer, raw("\xc1\4\1\xa3\1k"sv)));
    all.push_back(section(kind::value, raw("\xa1\1\xff"sv)));
    all.push_back(section(kind::sequence, raw("\xc0\2\x05\x41"sv)));
    return all;
}

TEST(Event, that_a_reader_cannot_decode_is_refused) {
    for (const Buffer& bad : poison()) {
        Incoming incoming;

        EXPECT_FALSE(incoming.decode(joined({bad, a_data("x")}), 0).ok())
            << testing::PrintToString(bad);
        EXPECT_FALSE(
            incoming
                .decode(a_batch({a_data("good"), joined({bad, a_data("x")})}), amqp::batch_format)
                .ok())
            << testing::PrintToString(bad);
    }
}

TEST(Event, that_a_reader_cannot_decode_is_answered_by_decode_error) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    for (const Buffer& bad : poison()) {
        EXPECT_EQ(client.outcome(link, joined({bad, a_data("x")})), "amqp:decode-error");
        EXPECT_EQ(client.outcome(link, a_batch({a_data("good"), bad}), amqp::batch_format),
                  "amqp:decode-error");
    }

    EXPECT_EQ(world.stored("eh1", 0), 0u);
    EXPECT_EQ(client.outcome(link, a_data("good")), "") << "the link goes on";
}

TEST(Batch, whose_key_is_not_text_is_refused) {
    Incoming incoming;

    EXPECT_FALSE(incoming.decode(a_batch({a_data("x")}, "k\xff"), amqp::batch_format).ok());
}

TEST(Batch, is_one_event_for_each_data_section_in_order) {
    const Buffer batch = a_batch({a_data("1"), a_data("2"), a_data("3")}, "key");
    Incoming incoming;

    ASSERT_TRUE(incoming.decode(batch, amqp::batch_format).ok());

    ASSERT_EQ(incoming.events().size(), 3u);
    EXPECT_EQ(stored(incoming, 2), a_data("3"));
    EXPECT_EQ(incoming.key(), "key");
    for (const auto& event : incoming.events()) EXPECT_EQ(as_text(event.key), "key");
}

TEST(Batch, may_have_its_annotations_as_a_bare_map) {
    const Buffer bare = a_map({{"x-opt-partition-key", a_string("k")}});
    Incoming incoming;

    ASSERT_TRUE(incoming.decode(joined({bare, a_batch({a_data("1")})}), amqp::batch_format).ok());

    EXPECT_EQ(incoming.key(), "k");
    EXPECT_EQ(incoming.events().size(), 1u);
}

TEST(Batch, may_be_empty_and_takes_its_key_from_an_event_if_it_has_none) {
    const Buffer keyed =
        joined({section(kind::message_annotations, a_map({{"x-opt-partition-key", a_string("k")}})),
                a_data("1")});
    Incoming incoming;

    ASSERT_TRUE(incoming.decode({}, amqp::batch_format).ok());
    EXPECT_TRUE(incoming.events().empty());
    const Buffer batch = a_batch({keyed, a_data("2")});
    ASSERT_TRUE(incoming.decode(batch, amqp::batch_format).ok());
    EXPECT_EQ(incoming.key(), "k");
    EXPECT_EQ(stored(incoming, 0), a_data("1"));
}

TEST(Delivery, has_the_hubs_annotations_in_front_of_the_users) {
    const Buffer body = joined(
        {section(kind::message_annotations, a_map({{"user", a_string("x")}})), a_data("body")});

    const Message plain{delivered(a_data("body"))};
    const Message rich{delivered(body, "key")};

    EXPECT_EQ(plain.number("x-opt-sequence-number"), 7);
    EXPECT_EQ(plain.annotation("x-opt-offset"), "512");
    EXPECT_EQ(plain.number("x-opt-enqueued-time"), 1'700'000'000'000);
    EXPECT_EQ(plain.annotation("x-opt-partition-key"), "none");
    EXPECT_EQ(plain.text(), "body");
    EXPECT_EQ(rich.annotation("x-opt-partition-key"), "key");
    EXPECT_EQ(rich.annotation("user"), "x");
    EXPECT_EQ(rich.number("x-opt-sequence-number"), 7);
    EXPECT_EQ(rich.text(), "body");
}

TEST(Delivery, of_a_usual_event_says_the_same_from_one_picture) {
    const Buffer body = a_data("body");
    UsualPrefix usual(5);
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{9}, std::int64_t{1'234'567},
                                      std::numeric_limits<std::int64_t>::max(), std::int64_t{10}}) {
        commitlog::Record record{};
        record.sequence = {number};
        record.offset = {number};
        record.enqueued = WallTime{number};
        record.body = body;
        ASSERT_TRUE(UsualPrefix::suits(record));

        const ByteView prefix = usual.encode(record);
        const Message message{joined({bytes_of(prefix.subspan(5)), body})};

        EXPECT_EQ(message.number("x-opt-sequence-number"), number);
        EXPECT_EQ(message.annotation("x-opt-offset"), std::to_string(number));
        EXPECT_EQ(message.number("x-opt-enqueued-time"), number);
        EXPECT_EQ(message.text(), "body");
        Incoming again;
        EXPECT_TRUE(again.decode(message.bytes, 0).ok());
    }
}

TEST(Delivery, is_not_usual_with_a_key_or_annotations) {
    commitlog::Record record{};
    EXPECT_TRUE(UsualPrefix::suits(record)) << "an event of no sections at all";
    record.key = as_bytes("key");
    EXPECT_FALSE(UsualPrefix::suits(record));
    record.key = {};
    for (const auto which : {kind::delivery_annotations, kind::message_annotations}) {
        const Buffer body = joined({section(which, a_map({{"a", a_long(1)}})), a_data("body")});
        record.body = body;
        EXPECT_FALSE(UsualPrefix::suits(record));
    }
}

TEST(Delivery, merges_the_runtime_metric_into_delivery_annotations) {
    const Buffer body =
        joined({section(kind::delivery_annotations, a_map({{"d", a_long(1)}})), a_data("body")});
    const RuntimeMetric metric{{9}, {1024}, WallTime{5}, WallTime{6}};

    const Message with{delivered(body, "", metric)};
    const Message without{delivered(body)};

    const ByteView annotations = with.section(kind::delivery_annotations);
    EXPECT_EQ(amqp::integer_in(annotations, "last_enqueued_sequence_number"), 9);
    EXPECT_EQ(amqp::text_in(annotations, "last_enqueued_offset"), "1024");
    EXPECT_EQ(amqp::integer_in(annotations, "last_enqueued_time_utc"), 5);
    EXPECT_EQ(amqp::integer_in(annotations, "runtime_info_retrieval_time_utc"), 6);
    EXPECT_EQ(amqp::integer_in(annotations, "d"), 1);
    EXPECT_EQ(amqp::integer_in(without.section(kind::delivery_annotations), "d"), 1);
    EXPECT_EQ(without.number("x-opt-sequence-number"), 7);
}

TEST(Event, of_random_changes_is_delivered_whole_or_refused) {
    Random random(test::test_seed());
    const Buffer good =
        joined({header, section(kind::delivery_annotations, a_map({{"d", a_long(1)}})),
                section(kind::message_annotations, a_map({{"x-opt-partition-key", a_string("k")}})),
                properties, a_data("body")});
    for (int i = 0; i < 20'000; ++i) {
        Buffer message = good;
        for (std::uint64_t changes = random.below(3) + 1; changes > 0; --changes) {
            message[random.below(message.size())] = static_cast<std::byte>(random.next());
        }
        Incoming incoming;
        if (!incoming.decode(message, 0).ok()) continue;
        const Buffer out = delivered(stored(incoming), incoming.key());
        Incoming again;  // what readers get is itself well formed
        EXPECT_TRUE(again.decode(out, 0).ok());
    }
}

}  // namespace
}  // namespace evenkeel::door
