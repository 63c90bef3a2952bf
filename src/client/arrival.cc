#include "client/arrival.h"

#include <charconv>

#include <fmt/core.h>

#include "amqp/message.h"

namespace evenkeel::client {
namespace {

using amqp::Buffer;
using amqp::Decoder;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

constexpr std::string_view filter_name = "apache.org:selector-filter:string";
constexpr std::uint64_t filter_descriptor = 0x0000468C00000004;
constexpr std::uint32_t source_fields = 11;
constexpr std::uint32_t filter_field = 7;

// Offsets are texts. Those of a geo-replicated namespace are no numbers; -1 then.
std::int64_t offset_of(std::string_view text) {
    std::int64_t value = -1;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? value : -1;
}

void take_annotations(ByteView map, Event& event, bool& has_time) {
    amqp::for_each_pair(map, [&](std::string_view key, ByteView value) {
        Decoder decoder(value);
        if (key == "x-opt-sequence-number") {
            event.sequence_number = decoder.integer().value_or(-1);
        } else if (key == "x-opt-offset") {
            event.offset = offset_of(decoder.text().value_or(""));
        } else if (key == "x-opt-enqueued-time") {
            const auto time = decoder.integer();
            has_time = time.has_value();
            event.enqueued_time_ms = time.value_or(0);
        } else if (key == "x-opt-partition-key") {
            event.partition_key = decoder.text().value_or("");
        }
    });
}

std::optional<LastEnqueued> take_metric(ByteView map) {
    const auto number = amqp::integer_in(map, "last_enqueued_sequence_number");
    if (!number) return std::nullopt;
    LastEnqueued last;
    last.sequence_number = *number;
    last.offset = offset_of(amqp::text_in(map, "last_enqueued_offset").value_or(""));
    last.enqueued_time_ms = amqp::integer_in(map, "last_enqueued_time_utc").value_or(0);
    last.retrieved_ms = amqp::integer_in(map, "runtime_info_retrieval_time_utc").value_or(0);
    return last;
}

}  // namespace

std::string filter_of(const Position& position) {
    const auto compare = [&](std::string_view annotation) {
        return fmt::format("amqp.annotation.{} {} '{}'", annotation,
                           position.inclusive ? ">=" : ">", position.value);
    };
    switch (position.kind) {
        case Position::Kind::earliest: return "amqp.annotation.x-opt-offset > '-1'";
        case Position::Kind::latest: return "amqp.annotation.x-opt-offset > '@latest'";
        case Position::Kind::offset: return compare("x-opt-offset");
        case Position::Kind::sequence_number: return compare("x-opt-sequence-number");
        case Position::Kind::enqueued_time: return compare("x-opt-enqueued-time");
    }
    return {};
}

amqp::Terminus source_of(std::string_view address, const Position& position) {
    amqp::Terminus source;
    source.present = true;
    source.address = address;
    Encoder filter(source.filter);
    const auto map = filter.begin_map();
    filter.symbol(filter_name);
    constexpr std::byte described{amqp::code::described};
    filter.bytes({&described, 1});
    filter.ulong(filter_descriptor);
    filter.string(filter_of(position));
    filter.end(map, 2);

    Encoder encoder(source.encoded);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::source));
    const auto list = encoder.begin_list();
    encoder.string(address);
    for (std::uint32_t field = 1; field < source_fields; ++field) {
        field == filter_field ? encoder.bytes(source.filter) : encoder.null();
    }
    encoder.end(list, source_fields);
    return source;
}

amqp::Buffer reader_properties(const RemoteReaderOptions& options) {
    Buffer bytes;
    if (!options.epoch && options.name.empty()) return bytes;
    Encoder encoder(bytes);
    const auto map = encoder.begin_map();
    std::uint32_t count = 0;
    if (options.epoch) {
        encoder.symbol("com.microsoft:epoch");
        encoder.long_(*options.epoch);
        count += 2;
    }
    if (!options.name.empty()) {
        encoder.symbol("com.microsoft:receiver-name");
        encoder.string(options.name);
        count += 2;
    }
    encoder.end(map, count);
    return bytes;
}

Result<Arrival> decode_arrival(ByteView message) {
    Arrival arrival;
    arrival.event.sections = message;
    bool has_time = false;
    ByteView rest = message;
    while (!rest.empty()) {
        EK_TRY_ASSIGN(const auto section, amqp::next_section(rest));
        if (section.kind == descriptor::delivery_annotations) {
            arrival.last_enqueued = take_metric(section.value);
        } else if (section.kind == descriptor::message_annotations) {
            take_annotations(section.value, arrival.event, has_time);
        } else if (section.kind >= descriptor::properties) {
            break;  // annotations come before
        }
    }
    if (arrival.event.sequence_number < 0 || !has_time) {
        return Error{ErrorCode::corrupt,
                     "an event came without its sequence number or enqueued time"};
    }
    return arrival;
}

}  // namespace evenkeel::client
