#include "amqp/performatives.h"

#include <gtest/gtest.h>

#include "amqp/codec_fixture.h"

namespace evenkeel::amqp {
namespace {

template <typename Body>
Body decoded(ByteView bytes) {
    auto result = decode_performative(bytes);
    EXPECT_TRUE(result.ok());
    EXPECT_TRUE(bytes.empty());
    return std::get<Body>(std::move(*result));
}

bool is_refused(ByteView bytes) {
    const auto before = bytes.size();
    const auto result = decode_performative(bytes);
    return !result.ok() && result.error().code == ErrorCode::corrupt && bytes.size() == before;
}

// A described list as bytes: its elements, encoded one by one.
struct Fields {
    std::uint64_t kind = 0;
    std::vector<Buffer> elements;
};

Fields fields_of(ByteView bytes) {
    Decoder decoder(bytes);
    Fields fields;
    fields.kind = *decoder.descriptor();
    auto list = decoder.list();
    while (list->remaining() > 0) {
        const ByteView value = list->value();
        fields.elements.emplace_back(value.begin(), value.end());
    }
    return fields;
}

Buffer encoded_fields(const Fields& fields) {
    Buffer bytes;
    Encoder encoder(bytes);
    encoder.descriptor(static_cast<std::uint8_t>(fields.kind));
    if (fields.elements.empty()) {
        encoder.bytes(std::vector<std::byte>{std::byte{code::list0}});
        return bytes;
    }
    const auto list = encoder.begin_list();
    for (const auto& element : fields.elements) encoder.bytes(element);
    encoder.end(list, static_cast<std::uint32_t>(fields.elements.size()));
    return bytes;
}

Buffer a_map() {
    Buffer bytes;
    Encoder encoder(bytes);
    const auto map = encoder.begin_map();
    encoder.symbol("key");
    encoder.long_(7);
    encoder.end(map, 2);
    return bytes;
}

Attach full_attach() {
    Attach attach;
    attach.name = "name";
    attach.handle = 7;
    attach.role = Role::receiver;
    attach.sender_settle = SenderSettle::settled;
    attach.receiver_settle = ReceiverSettle::second;
    attach.source = terminus(descriptor::source, "from");
    attach.target = terminus(descriptor::target, "to");
    attach.initial_delivery_count = 4;
    attach.max_message_bytes = 1 << 20;
    attach.offered_capabilities = {"a"};
    attach.desired_capabilities = {"b", "c"};
    attach.properties = a_map();
    return attach;
}

TEST(Performatives, survive_a_round_trip) {
    const auto open = decoded<Open>(encoded(Open{"container", "host", 4096, 17, 30'000, a_map()}));
    EXPECT_EQ(open.container, "container");
    EXPECT_EQ(open.hostname, "host");
    EXPECT_EQ(open.max_frame_bytes, 4096u);
    EXPECT_EQ(open.channel_max, 17);
    EXPECT_EQ(open.idle_timeout_ms, 30'000u);
    EXPECT_EQ(open.properties, a_map());

    const auto begin = decoded<Begin>(encoded(Begin{3, 0xfffffffd, 5, 6, 7}));
    EXPECT_EQ(begin.remote_channel, 3);
    EXPECT_EQ(begin.next_outgoing_id, 0xfffffffd);
    EXPECT_EQ(begin.incoming_window, 5u);
    EXPECT_EQ(begin.outgoing_window, 6u);
    EXPECT_EQ(begin.handle_max, 7u);

    const auto flow = decoded<Flow>(encoded(Flow{1, 2, 3, 4, 5, 6, 7, 8, true, true}));
    EXPECT_EQ(flow.next_incoming_id, 1u);
    EXPECT_EQ(flow.incoming_window, 2u);
    EXPECT_EQ(flow.next_outgoing_id, 3u);
    EXPECT_EQ(flow.outgoing_window, 4u);
    EXPECT_EQ(flow.handle, 5u);
    EXPECT_EQ(flow.delivery_count, 6u);
    EXPECT_EQ(flow.link_credit, 7u);
    EXPECT_EQ(flow.available, 8u);
    EXPECT_TRUE(flow.drain);
    EXPECT_TRUE(flow.echo);

    const auto transfer_bytes =
        encoded(Transfer{1, 2, as_bytes("tag"), 0x80013700, true, true, true});
    const auto transfer = decoded<Transfer>(transfer_bytes);
    EXPECT_EQ(transfer.handle, 1u);
    EXPECT_EQ(transfer.delivery_id, 2u);
    EXPECT_EQ(as_text(transfer.delivery_tag), "tag");
    EXPECT_EQ(transfer.message_format, 0x80013700);
    EXPECT_EQ(transfer.settled, true);
    EXPECT_TRUE(transfer.more);
    EXPECT_TRUE(transfer.aborted);

    const auto detach = decoded<Detach>(encoded(Detach{9, true, Condition{"amqp:x", "why"}}));
    EXPECT_EQ(detach.handle, 9u);
    EXPECT_TRUE(detach.closed);
    EXPECT_EQ(detach.error->name, "amqp:x");
    EXPECT_EQ(detach.error->description, "why");
    EXPECT_EQ(decoded<End>(encoded(End{Condition{"e", ""}})).error->name, "e");
    EXPECT_EQ(decoded<Close>(encoded(Close{Condition{"c", ""}})).error->name, "c");
    EXPECT_FALSE(decoded<Close>(encoded(Close{})).error);
}

TEST(Performatives, of_sasl_survive_a_round_trip) {
    EXPECT_EQ(decoded<SaslMechanisms>(encoded(SaslMechanisms{{"A", "B"}})).mechanisms,
              (std::vector<std::string>{"A", "B"}));
    const std::string nul_prefixed("\0key", 4);
    const auto init = decoded<SaslInit>(encoded(SaslInit{"PLAIN", nul_prefixed, "host"}));
    EXPECT_EQ(init.mechanism, "PLAIN");
    EXPECT_EQ(init.response, nul_prefixed);
    EXPECT_EQ(init.hostname, "host");
    EXPECT_EQ(decoded<SaslOutcome>(encoded(SaslOutcome{0})).code, 0);
    EXPECT_EQ(decoded<SaslOutcome>(encoded(SaslOutcome{1})).code, 1);
}

TEST(Performatives, attach_survives_a_round_trip) {
    const auto attach = decoded<Attach>(encoded(full_attach()));

    EXPECT_EQ(attach.name, "name");
    EXPECT_EQ(attach.handle, 7u);
    EXPECT_EQ(attach.role, Role::receiver);
    EXPECT_EQ(attach.sender_settle, SenderSettle::settled);
    EXPECT_EQ(attach.receiver_settle, ReceiverSettle::second);
    EXPECT_EQ(attach.source.address, "from");
    EXPECT_EQ(attach.target.address, "to");
    EXPECT_EQ(attach.initial_delivery_count, 4u);
    EXPECT_EQ(attach.max_message_bytes, 1u << 20);
    EXPECT_EQ(attach.offered_capabilities, (std::vector<std::string>{"a"}));
    EXPECT_EQ(attach.desired_capabilities, (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(attach.properties, a_map());
    EXPECT_EQ(encoded(attach), encoded(full_attach()));
}

TEST(Performatives, disposition_carries_every_state) {
    using Kind = DeliveryState::Kind;
    for (const auto kind :
         {Kind::none, Kind::accepted, Kind::rejected, Kind::released, Kind::modified}) {
        DeliveryState state{kind, std::nullopt};
        if (kind == Kind::rejected) state.error = Condition{"amqp:y", "no"};
        const auto got =
            decoded<Disposition>(encoded(Disposition{Role::receiver, 1, 5, true, state}));
        EXPECT_EQ(got.role, Role::receiver);
        EXPECT_EQ(got.first, 1u);
        EXPECT_EQ(got.last, 5u);
        EXPECT_TRUE(got.settled);
        EXPECT_EQ(got.state.kind, kind);
        EXPECT_EQ(got.state.error.has_value(), kind == Kind::rejected);
    }
}

TEST(Performatives, accepted_carries_a_receipt_only_if_it_is_given) {
    DeliveryState state{DeliveryState::Kind::accepted};
    const Buffer plain = encoded(Disposition{Role::receiver, 1, 1, true, state});
    EXPECT_EQ(fields_of(fields_of(plain).elements[4]).elements.size(), 0u);
    EXPECT_FALSE(decoded<Disposition>(plain).state.receipt);

    state.receipt = Receipt{3, 17, 19, 4096};
    const auto got =
        decoded<Disposition>(encoded(Disposition{Role::receiver, 1, 1, true, state})).state;

    EXPECT_EQ(got.kind, DeliveryState::Kind::accepted);
    ASSERT_TRUE(got.receipt);
    EXPECT_EQ(got.receipt->partition, 3u);
    EXPECT_EQ(got.receipt->first_sequence_number, 17);
    EXPECT_EQ(got.receipt->last_sequence_number, 19);
    EXPECT_EQ(got.receipt->last_offset, 4096);
}

TEST(Performatives, accepted_with_other_fields_is_just_accepted) {
    Buffer bytes;
    Encoder encoder(bytes);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::disposition));
    const auto fields = encoder.begin_list();
    encoder.boolean(true);
    encoder.uint(1);
    encoder.uint(1);
    encoder.boolean(true);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::accepted));
    const auto inner = encoder.begin_list();
    for (int i = 0; i < 4; ++i) encoder.string("odd");
    encoder.end(inner, 4);
    encoder.end(fields, 5);

    const auto got = decoded<Disposition>(bytes);

    EXPECT_EQ(got.state.kind, DeliveryState::Kind::accepted);
    EXPECT_FALSE(got.state.receipt);
}

TEST(Performatives, are_written_with_all_their_fields_and_a_compact_descriptor) {
    const Condition error{"amqp:x", "why"};
    const auto expect = [](const Buffer& bytes, std::uint64_t kind, std::size_t count) {
        EXPECT_EQ(bytes[0], std::byte{0x00});
        EXPECT_EQ(bytes[1], std::byte{0x53});
        EXPECT_EQ(std::to_integer<std::uint64_t>(bytes[2]), kind);
        EXPECT_EQ(fields_of(bytes).elements.size(), count);
    };
    expect(encoded(Open{}), descriptor::open, 10);
    expect(encoded(Begin{}), descriptor::begin, 8);
    expect(encoded(Attach{}), descriptor::attach, 14);
    expect(encoded(Flow{}), descriptor::flow, 11);
    expect(encoded(Transfer{}), descriptor::transfer, 11);
    expect(encoded(Disposition{}), descriptor::disposition, 6);
    expect(encoded(Detach{}), descriptor::detach, 3);
    expect(encoded(End{}), descriptor::end, 1);
    expect(encoded(Close{}), descriptor::close, 1);
    expect(fields_of(encoded(Close{error})).elements[0], descriptor::error, 3);
    expect(terminus(descriptor::source, "a").encoded, descriptor::source, 11);
    expect(terminus(descriptor::target, "").encoded, descriptor::target, 7);
    const auto state = [](DeliveryState::Kind kind) {
        return fields_of(encoded(Disposition{Role::receiver, 0, 0, true, {kind, {}}})).elements[4];
    };
    expect(state(DeliveryState::Kind::rejected), descriptor::rejected, 1);
    expect(state(DeliveryState::Kind::modified), descriptor::modified, 3);
}

// Each cut either means the defaults, or is refused because a mandatory field is gone.
TEST(Performatives, are_read_at_every_legal_cut_of_trailing_fields) {
    const std::pair<Buffer, std::size_t> bodies[] = {
        {encoded(Open{"c", "h", 512, 1, 2, a_map()}), 0},
        {encoded(Begin{1, 2, 3, 4, 5}), 4},
        {encoded(full_attach()), 3},
        {encoded(Flow{1, 2, 3, 4, 5, 6, 7, 8, true, true}), 4},
        {encoded(Transfer{1, 2, as_bytes("t"), 0, true, true, true}), 1},
        {encoded(Disposition{Role::receiver, 1, 2, true, {}}), 2},
        {encoded(Detach{1, true, Condition{"a", "b"}}), 1},
        {encoded(End{Condition{"a", "b"}}), 0},
        {encoded(Close{Condition{"a", "b"}}), 0},
        {encoded(SaslInit{"A", "r", "h"}), 1},
        {encoded(SaslOutcome{0}), 0},
    };
    for (const auto& [bytes, mandatory] : bodies) {
        Fields fields = fields_of(bytes);
        while (true) {
            const Buffer cut = encoded_fields(fields);
            ByteView left = cut;
            EXPECT_EQ(decode_performative(left).ok(), fields.elements.size() >= mandatory)
                << fields.kind << " with " << fields.elements.size();
            if (fields.elements.empty()) break;
            fields.elements.pop_back();
        }
    }
}

TEST(Performatives, have_their_defaults_for_fields_that_are_null_or_missing) {
    for (const std::size_t given : {3u, 14u}) {
        Fields fields = fields_of(encoded(full_attach()));
        fields.elements.resize(3);
        fields.elements.resize(given, Buffer{std::byte{code::null}});
        const auto attach = decoded<Attach>(encoded_fields(fields));
        EXPECT_EQ(attach.sender_settle, SenderSettle::mixed);
        EXPECT_EQ(attach.receiver_settle, ReceiverSettle::first);
        EXPECT_FALSE(attach.source.present);
        EXPECT_FALSE(attach.target.present);
        EXPECT_FALSE(attach.initial_delivery_count);
        EXPECT_EQ(attach.max_message_bytes, 0u);
        EXPECT_TRUE(attach.properties.empty());
    }
    const auto open = decoded<Open>(encoded_fields(Fields{descriptor::open, {}}));
    EXPECT_EQ(open.max_frame_bytes, 0xffffffffu);
    EXPECT_EQ(open.channel_max, 0xffff);
    EXPECT_EQ(open.idle_timeout_ms, 0u);
    const auto transfer = decoded<Transfer>(
        encoded_fields(Fields{descriptor::transfer, {Buffer{std::byte{code::uint0}}}}));
    EXPECT_FALSE(transfer.delivery_id);
    EXPECT_FALSE(transfer.message_format);
    EXPECT_FALSE(transfer.settled);
    EXPECT_FALSE(transfer.more);
}

TEST(Performatives, echo_a_terminus_with_all_fields) {
    Fields source{descriptor::source, {}};
    Buffer address;
    Encoder(address).string("hub");
    source.elements = {address};
    Fields fields = fields_of(encoded(full_attach()));
    fields.elements[5] = encoded_fields(source);

    const auto attach = decoded<Attach>(encoded_fields(fields));

    EXPECT_EQ(attach.source.address, "hub");
    EXPECT_EQ(attach.source.encoded, terminus(descriptor::source, "hub").encoded);
}

TEST(Performatives, read_address_filter_and_dynamic_of_a_terminus) {
    Fields source = fields_of(terminus(descriptor::source, "hub").encoded);
    source.elements[4] = Buffer{std::byte{code::boolean_true}};
    source.elements[7] = a_map();
    Fields fields = fields_of(encoded(full_attach()));
    fields.elements[5] = encoded_fields(source);

    const auto attach = decoded<Attach>(encoded_fields(fields));

    EXPECT_TRUE(attach.source.dynamic);
    EXPECT_EQ(attach.source.filter, a_map());
}

TEST(Performatives, take_a_coordinator_as_no_target) {
    Fields coordinator{0x30, {Buffer{std::byte{code::null}}}};
    Fields fields = fields_of(encoded(full_attach()));
    fields.elements[6] = encoded_fields(coordinator);

    EXPECT_FALSE(decoded<Attach>(encoded_fields(fields)).target.present);
}

TEST(Performatives, are_read_by_symbolic_descriptors) {
    Buffer bytes{std::byte{0x00}};
    Encoder encoder(bytes);
    encoder.symbol("amqp:close:list");
    encoder.bytes(std::vector<std::byte>{std::byte{code::list0}});

    EXPECT_FALSE(decoded<Close>(bytes).error);
}

TEST(Performatives, leave_the_payload_of_a_transfer) {
    Buffer bytes = encoded(Transfer{});
    Encoder(bytes).bytes(as_bytes("payload"));
    ByteView body = bytes;

    ASSERT_TRUE(decode_performative(body).ok());

    EXPECT_EQ(as_text(body), "payload");
}

TEST(Performatives, are_refused_if_malformed) {
    EXPECT_TRUE(is_refused({}));
    EXPECT_TRUE(is_refused(as_bytes("GET / HTTP/1.1")));
    EXPECT_TRUE(is_refused(encoded_fields(Fields{0x30, {}}))) << "unknown";
    EXPECT_TRUE(is_refused(encoded_fields(Fields{0x42, {}}))) << "challenges are not used";
    const Buffer null_list{std::byte{0}, std::byte{0x53}, std::byte{0x10}, std::byte{0x40}};
    EXPECT_TRUE(is_refused(null_list));
    // Each field of each performative as something that it never is: a float.
    const Buffer a_float{std::byte{0x72}, std::byte{}, std::byte{}, std::byte{}, std::byte{}};
    Fields fields = fields_of(encoded(full_attach()));
    for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 9u, 10u, 11u, 12u, 13u}) {
        Fields wrong = fields;
        wrong.elements[i] = a_float;
        EXPECT_TRUE(is_refused(encoded_fields(wrong))) << i;
    }
    fields.elements[3] = Buffer{std::byte{code::ubyte}, std::byte{3}};
    EXPECT_TRUE(is_refused(encoded_fields(fields))) << "no such settle mode";
}

TEST(Performatives, are_refused_at_every_cut_of_their_bytes) {
    const Buffer bytes = encoded(full_attach());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_TRUE(is_refused(ByteView(bytes).first(size)));
    }
}

TEST(UsualTransfer, reads_what_the_general_way_reads) {
    const Buffer tag(4, std::byte{7});
    for (const auto id : {0u, 5u, 300u, 0xffffffffu}) {
        for (const bool more : {false, true}) {
            for (const auto settled : {std::optional<bool>(), std::optional(true)}) {
                Transfer transfer;
                transfer.handle = id % 3;
                transfer.delivery_id = id;
                transfer.delivery_tag = tag;
                transfer.message_format = id;
                transfer.settled = settled;
                transfer.more = more;
                Buffer body = encoded(transfer);
                // As most peers write it: a list8. Ours has a list32 in its place.
                body[3] = std::byte{code::list8};
                body[4] = static_cast<std::byte>(body.size() - 12 + 1);
                body[5] = body[11];
                body.erase(body.begin() + 6, body.begin() + 12);
                const std::size_t without_payload = body.size();
                body.resize(body.size() + 3, std::byte{0xee});
                ByteView usual_rest = body;
                ByteView general_rest = body;

                const auto usual = decode_usual_transfer(usual_rest);
                const auto general = decode_performative(general_rest);

                ASSERT_TRUE(usual.has_value());
                ASSERT_TRUE(general.ok());
                EXPECT_EQ(encoded(*usual), encoded(std::get<Transfer>(*general)));
                EXPECT_EQ(usual_rest.size(), 3u);
                EXPECT_EQ(general_rest.size(), 3u);
                // Nothing that is cut short is taken.
                for (std::size_t size = 0; size < without_payload; ++size) {
                    ByteView cut = ByteView(body).first(size);
                    EXPECT_FALSE(decode_usual_transfer(cut).has_value()) << size;
                    EXPECT_EQ(cut.size(), size);
                }
            }
        }
    }
}

TEST(UsualTransfer, takes_no_field_that_the_general_way_refuses) {
    // Handle 0, then nulls; one of the eleven is something else, or missing.
    for (std::size_t field = 1; field < 11; ++field) {
        for (const int wrong : {0x6d, 0x56, 0xa0, 0x00}) {
            Buffer body = {std::byte{0},  std::byte{0x53}, std::byte{0x14},       std::byte{0xc0},
                           std::byte{12}, std::byte{11},   std::byte{code::uint0}};
            body.resize(body.size() + 10, std::byte{code::null});
            body[6 + field] = static_cast<std::byte>(wrong);
            ByteView usual_rest = body;
            ByteView general_rest = body;
            const bool usual = decode_usual_transfer(usual_rest).has_value();
            EXPECT_TRUE(!usual || decode_performative(general_rest).ok()) << field << " " << wrong;
        }
    }
    Buffer cut = {std::byte{0}, std::byte{0x53}, std::byte{0x14},       std::byte{0xc0},
                  std::byte{2}, std::byte{11},   std::byte{code::uint0}};
    ByteView rest = cut;
    EXPECT_FALSE(decode_usual_transfer(rest).has_value()) << "eleven fields, and one is there";
}

TEST(UsualTransfer, of_fixed_size_decodes_like_the_general_decoder) {
    const std::string_view picture(
        "\0\x53\x14\xc0\x1a\x0b\x52\x07\x70\0\0\1\2\xa0\4\0\0\1\2\x70\x80\x01\x37\0\x41\x42\x40"
        "\x40\x40\x40\x41",
        31);
    Buffer body(as_bytes(picture).begin(), as_bytes(picture).end());
    body.resize(body.size() + 5, std::byte{0xee});
    std::size_t taken = 0;
    for (std::size_t at = 0; at < picture.size(); ++at) {
        const std::byte before = body[at];
        for (int value = 0; value < 256; ++value) {
            body[at] = static_cast<std::byte>(value);
            ByteView usual_rest = body;
            ByteView general_rest = body;

            const auto usual = decode_usual_transfer(usual_rest);

            if (!usual) continue;
            ++taken;
            const auto general = decode_performative(general_rest);
            ASSERT_TRUE(general.ok()) << at << " " << value;
            EXPECT_EQ(encoded(*usual), encoded(std::get<Transfer>(*general))) << at << " " << value;
            EXPECT_EQ(usual_rest.size(), general_rest.size());
        }
        body[at] = before;
    }
    EXPECT_GE(taken, 31u + 13 * 255) << "its numbers may be any";
    for (std::size_t size = 0; size < picture.size(); ++size) {
        ByteView cut = ByteView(body).first(size);
        EXPECT_FALSE(decode_usual_transfer(cut).has_value()) << size;
    }
}

TEST(UsualTransfer, leaves_what_is_rare_to_the_general_way) {
    Transfer aborted;
    aborted.delivery_id = 1;
    aborted.aborted = true;
    const Buffer bytes = encoded(aborted);
    const Buffer flow = encoded(Flow{});
    for (const ByteView body : {ByteView(bytes), ByteView(flow), ByteView()}) {
        ByteView rest = body;
        EXPECT_FALSE(decode_usual_transfer(rest).has_value());
        EXPECT_EQ(rest.size(), body.size());
    }
}

}  // namespace
}  // namespace evenkeel::amqp
