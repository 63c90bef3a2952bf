#include "amqp/performatives.h"

#include <fmt/core.h>

namespace evenkeel::amqp {
namespace {

constexpr std::uint32_t receipt_fields = 4;

constexpr std::uint32_t terminus_fields(std::uint64_t kind) {
    return kind == descriptor::source ? 11 : 7;
}

Buffer copied(ByteView bytes) {
    return {bytes.begin(), bytes.end()};
}

std::string copied(std::optional<std::string_view> text) {
    return text ? std::string(*text) : std::string();
}

std::vector<std::string> copied(const std::vector<std::string_view>& texts) {
    return {texts.begin(), texts.end()};
}

// A map that is passed on as it is; null is no map.
Buffer read_map(Decoder& fields) {
    if (fields.peek() == code::null) {
        fields.value();
        return {};
    }
    if (fields.peek() != code::map8 && fields.peek() != code::map32) fields.fail();
    return copied(fields.value());
}

std::optional<Condition> read_condition(Decoder& fields) {
    if (fields.peek() == code::null) {
        fields.value();
        return std::nullopt;
    }
    if (fields.descriptor() != descriptor::error) fields.fail();
    auto inner = fields.list();
    if (!inner) {
        fields.fail();
        return std::nullopt;
    }
    Condition condition;
    condition.name = copied(inner->symbol());
    condition.description = copied(inner->string());
    if (inner->failed()) fields.fail();
    return condition;
}

// A list of 11 or 7 fields, whatever the peer left out: it is echoed, and clients index blindly.
Buffer with_all_fields(Decoder fields, std::uint64_t kind) {
    Buffer all;
    Encoder encoder(all);
    encoder.descriptor(static_cast<std::uint8_t>(kind));
    const auto list = encoder.begin_list();
    const std::uint32_t count = terminus_fields(kind);
    for (std::uint32_t i = 0; i < count; ++i) {
        const ByteView field = fields.value();
        field.empty() ? encoder.null() : encoder.bytes(field);
    }
    encoder.end(list, count);
    return all;
}

Terminus read_terminus(Decoder& fields, std::uint64_t kind) {
    Terminus terminus;
    if (fields.peek() == code::null) {
        fields.value();
        return terminus;
    }
    Decoder decoder(fields.value());
    const auto found = decoder.descriptor();
    auto inner = found == kind ? decoder.list() : std::nullopt;
    if (!inner) {
        // A coordinator or something unknown: the door refuses it by its missing address.
        if (decoder.failed()) fields.fail();
        return terminus;
    }
    terminus.present = true;
    terminus.encoded = with_all_fields(*inner, kind);
    terminus.address = copied(inner->string());
    inner->value();  // durable
    inner->value();  // expiry policy
    inner->value();  // timeout
    terminus.dynamic = inner->boolean().value_or(false);
    inner->value();  // dynamic node properties
    if (kind == descriptor::source) {
        inner->value();  // distribution mode
        terminus.filter = read_map(*inner);
    }
    if (inner->failed()) fields.fail();
    return terminus;
}

// None if it is not there, or is something else: whoever did not ask for it does not mind.
std::optional<Receipt> read_receipt(Decoder fields) {
    if (fields.remaining() < receipt_fields) return std::nullopt;
    const auto partition = fields.uint();
    const auto first = fields.integer();
    const auto last = fields.integer();
    const auto offset = fields.integer();
    if (fields.failed() || !partition || !first || !last || !offset) return std::nullopt;
    return Receipt{*partition, *first, *last, *offset};
}

DeliveryState read_state(Decoder& fields) {
    DeliveryState state;
    if (fields.peek() == code::null) {
        fields.value();
        return state;
    }
    const auto kind = fields.descriptor();
    auto inner = fields.list();
    if (!kind || !inner) {
        fields.fail();
        return state;
    }
    using Kind = DeliveryState::Kind;
    switch (*kind) {
        case descriptor::received: state.kind = Kind::received; break;
        case descriptor::accepted:
            state.kind = Kind::accepted;
            state.receipt = read_receipt(*inner);
            break;
        case descriptor::rejected:
            state.kind = Kind::rejected;
            state.error = read_condition(*inner);
            break;
        case descriptor::released: state.kind = Kind::released; break;
        case descriptor::modified: state.kind = Kind::modified; break;
        default: break;  // a transactional or unknown state says nothing to us
    }
    if (inner->failed()) fields.fail();
    return state;
}

// A field that must be there.
template <typename T>
T required(Decoder& fields, const std::optional<T>& value) {
    if (!value) fields.fail();
    return value.value_or(T{});
}

Open read_open(Decoder& fields) {
    Open open;
    open.container = copied(fields.string());
    if (const auto hostname = fields.string()) open.hostname = std::string(*hostname);
    open.max_frame_bytes = fields.uint().value_or(0xffffffff);
    open.channel_max = fields.ushort().value_or(0xffff);
    open.idle_timeout_ms = fields.uint().value_or(0);
    fields.value();  // outgoing locales
    fields.value();  // incoming locales
    fields.value();  // offered capabilities
    fields.value();  // desired capabilities
    open.properties = read_map(fields);
    return open;
}

Begin read_begin(Decoder& fields) {
    Begin begin;
    begin.remote_channel = fields.ushort();
    begin.next_outgoing_id = required(fields, fields.uint());
    begin.incoming_window = required(fields, fields.uint());
    begin.outgoing_window = required(fields, fields.uint());
    begin.handle_max = fields.uint().value_or(0xffffffff);
    return begin;
}

Attach read_attach(Decoder& fields) {
    Attach attach;
    attach.name = std::string(required(fields, fields.string()));
    attach.handle = required(fields, fields.uint());
    attach.role = required(fields, fields.boolean()) ? Role::receiver : Role::sender;
    const auto sender_settle = fields.ubyte().value_or(2);
    const auto receiver_settle = fields.ubyte().value_or(0);
    if (sender_settle > 2 || receiver_settle > 1) fields.fail();
    attach.sender_settle = static_cast<SenderSettle>(sender_settle);
    attach.receiver_settle = static_cast<ReceiverSettle>(receiver_settle);
    attach.source = read_terminus(fields, descriptor::source);
    attach.target = read_terminus(fields, descriptor::target);
    fields.value();  // unsettled: links are not resumed
    fields.value();  // incomplete unsettled
    attach.initial_delivery_count = fields.uint();
    attach.max_message_bytes = fields.ulong().value_or(0);
    attach.offered_capabilities = copied(fields.symbols());
    attach.desired_capabilities = copied(fields.symbols());
    attach.properties = read_map(fields);
    return attach;
}

Flow read_flow(Decoder& fields) {
    Flow flow;
    flow.next_incoming_id = fields.uint();
    flow.incoming_window = required(fields, fields.uint());
    flow.next_outgoing_id = required(fields, fields.uint());
    flow.outgoing_window = required(fields, fields.uint());
    flow.handle = fields.uint();
    flow.delivery_count = fields.uint();
    flow.link_credit = fields.uint();
    flow.available = fields.uint();
    flow.drain = fields.boolean().value_or(false);
    flow.echo = fields.boolean().value_or(false);
    return flow;
}

Transfer read_transfer(Decoder& fields) {
    Transfer transfer;
    transfer.handle = required(fields, fields.uint());
    transfer.delivery_id = fields.uint();
    transfer.delivery_tag = fields.binary().value_or(ByteView());
    transfer.message_format = fields.uint();
    transfer.settled = fields.boolean();
    transfer.more = fields.boolean().value_or(false);
    fields.ubyte();    // receiver settle mode
    fields.value();    // state
    fields.boolean();  // resume: links are not resumed
    transfer.aborted = fields.boolean().value_or(false);
    return transfer;
}

Disposition read_disposition(Decoder& fields) {
    Disposition disposition;
    disposition.role = required(fields, fields.boolean()) ? Role::receiver : Role::sender;
    disposition.first = required(fields, fields.uint());
    disposition.last = fields.uint();
    disposition.settled = fields.boolean().value_or(false);
    disposition.state = read_state(fields);
    return disposition;
}

Detach read_detach(Decoder& fields) {
    Detach detach;
    detach.handle = required(fields, fields.uint());
    detach.closed = fields.boolean().value_or(false);
    detach.error = read_condition(fields);
    return detach;
}

SaslInit read_sasl_init(Decoder& fields) {
    SaslInit init;
    init.mechanism = std::string(required(fields, fields.symbol()));
    if (const auto response = fields.binary()) init.response = std::string(as_text(*response));
    init.hostname = copied(fields.string());
    return init;
}

std::optional<Performative> read_fields(std::uint64_t kind, Decoder& fields) {
    switch (kind) {
        case descriptor::open: return read_open(fields);
        case descriptor::begin: return read_begin(fields);
        case descriptor::attach: return read_attach(fields);
        case descriptor::flow: return read_flow(fields);
        case descriptor::transfer: return read_transfer(fields);
        case descriptor::disposition: return read_disposition(fields);
        case descriptor::detach: return read_detach(fields);
        case descriptor::end: return End{read_condition(fields)};
        case descriptor::close: return Close{read_condition(fields)};
        case descriptor::sasl_mechanisms: return SaslMechanisms{copied(fields.symbols())};
        case descriptor::sasl_init: return read_sasl_init(fields);
        case descriptor::sasl_outcome: return SaslOutcome{fields.ubyte().value_or(1)};
        default: return std::nullopt;
    }
}

// Writes a performative: its descriptor, and a list of exactly `count` fields.
template <typename Fields>
void write(Buffer& to, std::uint64_t kind, std::uint32_t count, Fields fields) {
    Encoder encoder(to);
    encoder.descriptor(static_cast<std::uint8_t>(kind));
    const auto list = encoder.begin_list();
    fields(encoder);
    encoder.end(list, count);
}

void write_map(Encoder& encoder, const Buffer& map) {
    map.empty() ? encoder.null() : encoder.bytes(map);
}

void write_symbols(Encoder& encoder, const std::vector<std::string>& symbols) {
    symbols.empty() ? encoder.null() : encoder.symbols(symbols);
}

void write_condition(Encoder& encoder, const std::optional<Condition>& condition) {
    if (!condition) return encoder.null();
    write(encoder.buffer(), descriptor::error, 3, [&](Encoder& fields) {
        fields.symbol(condition->name);
        fields.string(condition->description);
        fields.null();  // info
    });
}

void write_state(Encoder& encoder, const DeliveryState& state) {
    using Kind = DeliveryState::Kind;
    const auto simple = [&](std::uint64_t kind, std::uint32_t count) {
        write(encoder.buffer(), kind, count, [&](Encoder& fields) {
            for (std::uint32_t i = 0; i < count; ++i) fields.null();
        });
    };
    switch (state.kind) {
        case Kind::none:
        case Kind::received: return encoder.null();
        case Kind::accepted:
            if (!state.receipt) return simple(descriptor::accepted, 0);
            return write(encoder.buffer(), descriptor::accepted, receipt_fields,
                         [&](Encoder& fields) {
                             fields.uint(state.receipt->partition);
                             fields.long_(state.receipt->first_sequence_number);
                             fields.long_(state.receipt->last_sequence_number);
                             fields.long_(state.receipt->last_offset);
                         });
        case Kind::released: return simple(descriptor::released, 0);
        case Kind::modified: return simple(descriptor::modified, 3);
        case Kind::rejected:
            return write(encoder.buffer(), descriptor::rejected, 1,
                         [&](Encoder& fields) { write_condition(fields, state.error); });
    }
}

void write_terminus(Encoder& encoder, const Terminus& terminus) {
    terminus.present ? encoder.bytes(terminus.encoded) : encoder.null();
}

}  // namespace

// One pass over a few bytes: calls would cost more than what they do.
#define EK_INLINE __attribute__((always_inline))

namespace {

// The picture that Link::write_head() paints: all fields, each of fixed size.
std::optional<Transfer> decode_pictured_transfer(ByteView& body) {
    constexpr std::size_t bytes = 31;
    if (body.size() < bytes) return std::nullopt;
    const std::byte* const at = body.data();
    const auto is = [at](std::size_t place, std::uint8_t code)
                        EK_INLINE { return at[place] == std::byte{code}; };
    // "00 53 14 c0 1a 0b 52", then "40 40 40 40" behind the booleans.
    const bool pictured =
        load<std::uint32_t>(at) == 0xc0145300 && load<std::uint16_t>(at + 4) == 0x0b1a &&
        is(6, code::small_uint) && is(8, code::uint) && load<std::uint16_t>(at + 13) == 0x04a0 &&
        is(19, code::uint) && (is(24, code::boolean_true) || is(24, code::boolean_false)) &&
        is(25, code::boolean_false) && load<std::uint32_t>(at + 26) == 0x40404040 &&
        (is(30, code::boolean_true) || is(30, code::boolean_false));
    if (!pictured) return std::nullopt;
    Transfer transfer;
    transfer.handle = std::to_integer<std::uint32_t>(at[7]);
    transfer.delivery_id = __builtin_bswap32(load<std::uint32_t>(at + 9));
    transfer.delivery_tag = {at + 15, 4};
    transfer.message_format = __builtin_bswap32(load<std::uint32_t>(at + 20));
    transfer.settled = is(24, code::boolean_true);
    body = body.subspan(bytes);
    return transfer;
}

}  // namespace

// A list8 with numbers in any of their three forms, a binary8 as tag, plain booleans or nulls, and
// nothing but nulls and false where a transfer says something rare.
std::optional<Transfer> decode_usual_transfer(ByteView& body) {
    if (auto transfer = decode_pictured_transfer(body)) return transfer;
    constexpr std::size_t head = 6;  // descriptor, list8, its size and count
    if (body.size() < head || body[0] != std::byte{0} || body[1] != std::byte{code::small_ulong} ||
        body[2] != std::byte{descriptor::transfer} || body[3] != std::byte{code::list8}) {
        return std::nullopt;
    }
    const auto size = std::to_integer<std::size_t>(body[4]);
    auto count = std::to_integer<std::size_t>(body[5]);
    if (size < 1 || body.size() < head - 1 + size) return std::nullopt;
    const std::byte* at = body.data() + head;
    const std::byte* const end = body.data() + head - 1 + size;
    bool usual = true;
    const auto format = [&]() EK_INLINE -> std::uint8_t {
        if (count == 0) return code::null;
        --count;
        if (at == end) usual = false;
        return usual ? std::to_integer<std::uint8_t>(*at++) : code::null;
    };
    const auto uint = [&]() EK_INLINE -> std::optional<std::uint32_t> {
        switch (format()) {
            case code::uint0: return 0;
            case code::small_uint:
                if (end - at < 1) break;
                return std::to_integer<std::uint32_t>(*at++);
            case code::uint:
                if (end - at < 4) break;
                at += 4;
                return __builtin_bswap32(load<std::uint32_t>(at - 4));
            case code::null: return std::nullopt;
            default: break;
        }
        usual = false;
        return std::nullopt;
    };
    const auto boolean = [&]() EK_INLINE -> std::optional<bool> {
        const std::uint8_t form = format();
        if (form == code::boolean_true) return true;
        if (form == code::boolean_false) return false;
        usual = usual && form == code::null;
        return std::nullopt;
    };
    Transfer transfer;
    const auto handle = uint();
    if (!handle) return std::nullopt;
    transfer.handle = *handle;
    transfer.delivery_id = uint();
    if (const std::uint8_t form = format(); form == code::binary8 && at != end) {
        const auto length = std::to_integer<std::size_t>(*at++);
        if (static_cast<std::size_t>(end - at) < length) return std::nullopt;
        transfer.delivery_tag = {at, length};
        at += length;
    } else if (form != code::null) {
        return std::nullopt;
    }
    transfer.message_format = uint();
    transfer.settled = boolean();
    transfer.more = boolean().value_or(false);
    const bool mode = format() != code::null;
    const bool state = format() != code::null;
    const bool resume = boolean().value_or(false);
    const bool aborted = boolean().value_or(false);
    boolean();  // batchable
    if (mode || state || resume || aborted) return std::nullopt;
    if (!usual || count > 0) return std::nullopt;
    body = body.subspan(head - 1 + size);
    return transfer;
}

Result<Performative> decode_performative(ByteView& body) {
    Decoder decoder(body);
    const auto kind = decoder.descriptor();
    auto fields = decoder.list();
    if (!kind || !fields) {
        return Error{ErrorCode::corrupt, "a frame does not begin with a described list"};
    }
    auto performative = read_fields(*kind, *fields);
    if (!performative) {
        return Error{ErrorCode::corrupt,
                     fmt::format("no performative has descriptor {:#x}", *kind)};
    }
    if (fields->failed()) {
        return Error{ErrorCode::corrupt,
                     fmt::format("a field of performative {:#x} is malformed or missing", *kind)};
    }
    body = decoder.rest();
    return std::move(*performative);
}

void encode(const Open& open, Buffer& to) {
    write(to, descriptor::open, 10, [&](Encoder& fields) {
        fields.string(open.container);
        open.hostname ? fields.string(*open.hostname) : fields.null();
        fields.uint(open.max_frame_bytes);
        fields.ushort(open.channel_max);
        open.idle_timeout_ms ? fields.uint(open.idle_timeout_ms) : fields.null();
        for (int i = 0; i < 4; ++i) fields.null();  // locales, capabilities
        write_map(fields, open.properties);
    });
}

void encode(const Begin& begin, Buffer& to) {
    write(to, descriptor::begin, 8, [&](Encoder& fields) {
        fields.optional(begin.remote_channel, &Encoder::ushort);
        fields.uint(begin.next_outgoing_id);
        fields.uint(begin.incoming_window);
        fields.uint(begin.outgoing_window);
        fields.uint(begin.handle_max);
        for (int i = 0; i < 3; ++i) fields.null();  // capabilities, properties
    });
}

void encode(const Attach& attach, Buffer& to) {
    write(to, descriptor::attach, 14, [&](Encoder& fields) {
        fields.string(attach.name);
        fields.uint(attach.handle);
        fields.boolean(attach.role == Role::receiver);
        fields.ubyte(static_cast<std::uint8_t>(attach.sender_settle));
        fields.ubyte(static_cast<std::uint8_t>(attach.receiver_settle));
        write_terminus(fields, attach.source);
        write_terminus(fields, attach.target);
        fields.null();  // unsettled
        fields.null();  // incomplete unsettled
        fields.optional(attach.initial_delivery_count, &Encoder::uint);
        attach.max_message_bytes ? fields.ulong(attach.max_message_bytes) : fields.null();
        write_symbols(fields, attach.offered_capabilities);
        write_symbols(fields, attach.desired_capabilities);
        write_map(fields, attach.properties);
    });
}

void encode(const Flow& flow, Buffer& to) {
    write(to, descriptor::flow, 11, [&](Encoder& fields) {
        fields.optional(flow.next_incoming_id, &Encoder::uint);
        fields.uint(flow.incoming_window);
        fields.uint(flow.next_outgoing_id);
        fields.uint(flow.outgoing_window);
        fields.optional(flow.handle, &Encoder::uint);
        fields.optional(flow.delivery_count, &Encoder::uint);
        fields.optional(flow.link_credit, &Encoder::uint);
        fields.optional(flow.available, &Encoder::uint);
        fields.boolean(flow.drain);
        fields.boolean(flow.echo);
        fields.null();  // properties
    });
}

void encode(const Transfer& transfer, Buffer& to) {
    write(to, descriptor::transfer, 11, [&](Encoder& fields) {
        fields.uint(transfer.handle);
        fields.optional(transfer.delivery_id, &Encoder::uint);
        transfer.delivery_tag.empty() ? fields.null() : fields.binary(transfer.delivery_tag);
        fields.optional(transfer.message_format, &Encoder::uint);
        fields.optional(transfer.settled, &Encoder::boolean);
        fields.boolean(transfer.more);
        fields.null();  // receiver settle mode
        fields.null();  // state
        fields.null();  // resume
        transfer.aborted ? fields.boolean(true) : fields.null();
        fields.null();  // batchable
    });
}

void encode(const Disposition& disposition, Buffer& to) {
    write(to, descriptor::disposition, 6, [&](Encoder& fields) {
        fields.boolean(disposition.role == Role::receiver);
        fields.uint(disposition.first);
        fields.optional(disposition.last, &Encoder::uint);
        fields.boolean(disposition.settled);
        write_state(fields, disposition.state);
        fields.boolean(false);  // batchable
    });
}

void encode(const Detach& detach, Buffer& to) {
    write(to, descriptor::detach, 3, [&](Encoder& fields) {
        fields.uint(detach.handle);
        fields.boolean(detach.closed);
        write_condition(fields, detach.error);
    });
}

void encode(const End& end, Buffer& to) {
    write(to, descriptor::end, 1, [&](Encoder& fields) { write_condition(fields, end.error); });
}

void encode(const Close& close, Buffer& to) {
    write(to, descriptor::close, 1, [&](Encoder& fields) { write_condition(fields, close.error); });
}

void encode(const SaslMechanisms& mechanisms, Buffer& to) {
    write(to, descriptor::sasl_mechanisms, 1,
          [&](Encoder& fields) { fields.symbols(mechanisms.mechanisms); });
}

void encode(const SaslInit& init, Buffer& to) {
    write(to, descriptor::sasl_init, 3, [&](Encoder& fields) {
        fields.symbol(init.mechanism);
        fields.binary(as_bytes(init.response));
        init.hostname.empty() ? fields.null() : fields.string(init.hostname);
    });
}

void encode(const SaslOutcome& outcome, Buffer& to) {
    write(to, descriptor::sasl_outcome, 2, [&](Encoder& fields) {
        fields.ubyte(outcome.code);
        outcome.code == 0 ? fields.binary(as_bytes("Welcome!")) : fields.null();
    });
}

Terminus terminus(std::uint64_t kind, std::string_view address) {
    Terminus result;
    result.present = true;
    result.address = address;
    const std::uint32_t count = terminus_fields(kind);
    write(result.encoded, kind, count, [&](Encoder& fields) {
        address.empty() ? fields.null() : fields.string(address);
        for (std::uint32_t i = 1; i < count; ++i) fields.null();
    });
    return result;
}

}  // namespace evenkeel::amqp
