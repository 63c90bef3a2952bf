#include "producer/numbering.h"

#include <array>
#include <limits>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::producer {
namespace {

namespace descriptor = amqp::descriptor;

// A producer of ours lives once.
constexpr std::array epoch_value = {std::byte{amqp::code::short_}, std::byte{0}, std::byte{0}};

void put_numbers(std::int64_t id, std::int32_t number, amqp::Encoder& encoder) {
    const auto map = encoder.begin_map();
    encoder.symbol(eventhubs::property::producer_id);
    encoder.long_(id);
    encoder.symbol(eventhubs::property::producer_epoch);
    encoder.bytes(epoch_value);
    encoder.symbol(eventhubs::property::producer_sequence);
    encoder.int_(number);
    encoder.end(map, 6);
}

}  // namespace

std::int32_t number_after(std::int32_t number, std::size_t events) {
    constexpr std::uint64_t count = std::uint64_t{std::numeric_limits<std::int32_t>::max()} + 1;
    return static_cast<std::int32_t>((static_cast<std::uint64_t>(number) + events) % count);
}

amqp::Buffer producer_properties(const Numbering& numbering) {
    amqp::Buffer bytes;
    amqp::Encoder encoder(bytes);
    put_numbers(numbering.id, numbering.last, encoder);
    return bytes;
}

Result<Stamped> stamped(ByteView batch, const Numbering& numbering) {
    Stamped result;
    ByteView rest = batch;
    amqp::Buffer inner;
    while (!rest.empty()) {
        EK_TRY_ASSIGN(const auto section, amqp::next_section(rest));
        amqp::Encoder encoder(result.message);
        if (section.kind != descriptor::data) {
            encoder.bytes(section.whole);
            continue;
        }
        const auto event = amqp::Decoder(section.value).binary();
        if (!event) return Error{ErrorCode::corrupt, "a batch with a section that is no event"};
        inner.clear();
        amqp::Encoder stamp(inner);
        stamp.descriptor(static_cast<std::uint8_t>(descriptor::message_annotations));
        put_numbers(numbering.id, number_after(numbering.last, ++result.events), stamp);
        stamp.bytes(*event);
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
        encoder.binary(inner);
    }
    return result;
}

}  // namespace evenkeel::producer
