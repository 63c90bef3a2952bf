// Any bytes as values: what is read and written again reads the same, and nothing is read twice.
#include "amqp/allocation_fixture.h"
#include "amqp/codec.h"
#include "amqp/message.h"
#include "base/check.h"

namespace evenkeel::amqp {
namespace {

// Reads each scalar by its type and writes it in our form; a second round must change nothing.
void rewrite(Decoder& from, Encoder& to, int depth);

void rewrite_scalar(Decoder& from, Encoder& to) {
    switch (from.peek()) {
        case code::boolean_true:
        case code::boolean_false:
        case code::boolean: return to.optional(from.boolean(), &Encoder::boolean);
        case code::ubyte: return to.optional(from.ubyte(), &Encoder::ubyte);
        case code::ushort: return to.optional(from.ushort(), &Encoder::ushort);
        case code::uint0:
        case code::small_uint:
        case code::uint: return to.optional(from.uint(), &Encoder::uint);
        case code::ulong0:
        case code::small_ulong:
        case code::ulong: return to.optional(from.ulong(), &Encoder::ulong);
        case code::small_int:
        case code::int_: return to.int_(static_cast<std::int32_t>(from.integer().value_or(0)));
        case code::small_long:
        case code::long_: return to.long_(from.integer().value_or(0));
        case code::binary8:
        case code::binary32: return to.binary(from.binary().value_or(ByteView()));
        case code::string8:
        case code::string32: return to.string(from.string().value_or(""));
        case code::symbol8:
        case code::symbol32: return to.symbol(from.symbol().value_or(""));
        default: to.bytes(from.value());
    }
}

bool rewrite_elements(Decoder inner, Encoder::Open open, Encoder& to, int depth) {
    std::uint32_t count = 0;
    while (inner.remaining() > 0 && !inner.failed()) {
        const std::uint32_t before = inner.remaining();
        rewrite(inner, to, depth + 1);
        EK_CHECK(inner.failed() || inner.remaining() == before - 1, "an element is read once");
        ++count;
    }
    to.end(open, count);
    return !inner.failed();
}

void rewrite(Decoder& from, Encoder& to, int depth) {
    const std::uint8_t format = from.peek();
    if (depth < 16 && (format == code::list0 || format == code::list8 || format == code::list32)) {
        const auto inner = from.list();
        if (inner && !rewrite_elements(*inner, to.begin_list(), to, depth)) from.fail();
    } else if (depth < 16 && (format == code::map8 || format == code::map32)) {
        const auto inner = from.map();
        if (inner && !rewrite_elements(*inner, to.begin_map(), to, depth)) from.fail();
    } else {
        rewrite_scalar(from, to);
    }
}

void read_in_every_way(ByteView bytes) {
    const std::size_t size = encoded_bytes(bytes);
    EK_CHECK(size <= bytes.size(), "nothing lies behind the end");
    count_allocations();
    Decoder(bytes).symbols();
    check_allocated(bytes.size());
    Decoder(bytes).descriptor();
    Decoder(bytes).integer();
    integer_in(bytes, "key");
    text_in(bytes, "key");
    (void)decode_request(bytes).ok();
    ByteView left = bytes;
    while (next_section(left).ok()) {
    }
}

}  // namespace
}  // namespace evenkeel::amqp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::amqp;
    const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    read_in_every_way(bytes);
    Decoder from(bytes);
    while (!from.at_end()) {
        const ByteView before = from.rest();
        Buffer once;
        Encoder to_once(once);
        rewrite(from, to_once, 0);
        if (from.failed()) break;
        EK_CHECK(before.size() - from.rest().size() == encoded_bytes(before), "sizes agree");
        Buffer twice;
        Encoder to_twice(twice);
        Decoder again(once);
        rewrite(again, to_twice, 0);
        EK_CHECK(!again.failed() && once == twice, "what is written reads the same");
    }
    return 0;
}
