#include "eventhubs/arrival.h"

#include <cstring>

#include <fmt/core.h>

#include "amqp/message.h"
#include "base/number.h"
#include "base/time_point.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::eventhubs {
namespace {

using amqp::Buffer;
using amqp::Decoder;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

constexpr std::uint32_t source_fields = 11;
constexpr std::uint32_t filter_field = 7;

// Offsets are sent as text. -1 if it is no number, as in a geo-replicated namespace.
std::int64_t offset_of(std::string_view text) {
    return parse_number<std::int64_t>(text).value_or(-1);
}

void take_annotations(ByteView map, Event& event, bool& has_time) {
    amqp::for_each_pair(map, [&](std::string_view key, ByteView value) {
        Decoder decoder(value);
        if (key == annotation::sequence_number) {
            event.sequence_number = decoder.integer().value_or(-1);
        } else if (key == annotation::offset) {
            event.offset = offset_of(decoder.text().value_or(""));
        } else if (key == annotation::enqueued_time) {
            const auto time = decoder.integer();
            has_time = time.has_value();
            event.enqueued_time = time_point({time.value_or(0)});
        } else if (key == annotation::partition_key) {
            event.partition_key = decoder.text().value_or("");
        }
    });
}

std::optional<LastEnqueued> take_metric(ByteView map) {
    const auto number = amqp::integer_in(map, metric::last_sequence_number);
    if (!number) return std::nullopt;
    LastEnqueued last;
    last.sequence_number = *number;
    last.offset = offset_of(amqp::text_in(map, metric::last_offset).value_or(""));
    last.enqueued_time = time_point({amqp::integer_in(map, metric::last_time).value_or(0)});
    last.retrieved_time = time_point({amqp::integer_in(map, metric::retrieved).value_or(0)});
    return last;
}

// A pass over bytes whose layout is known; once it meets another it stays failed.
struct Pass {
    const std::byte* at;
    const std::byte* const end;
    bool is_failed = false;

    explicit Pass(ByteView bytes) : at(bytes.data()), end(bytes.data() + bytes.size()) {}
    std::size_t left() const { return static_cast<std::size_t>(end - at); }
    bool needs(std::size_t size) {
        if (left() < size) is_failed = true;
        return !is_failed;
    }
    std::uint8_t byte() {
        return needs(1) ? std::to_integer<std::uint8_t>(*at++) : std::uint8_t{0};
    }
    std::size_t length(std::size_t width) {
        if (width == 1) return byte();
        if (!needs(4)) return 0;
        at += 4;
        return __builtin_bswap32(load<std::uint32_t>(at - 4));
    }
    ByteView take(std::size_t size) {
        if (!needs(size)) return {};
        at += size;
        return {at - size, size};
    }
    std::string_view short_text(std::uint8_t code) {
        if (byte() != code) is_failed = true;
        return as_text(take(byte()));
    }
    // A long or a timestamp, of eight bytes or the short form of a long.
    std::int64_t number(std::uint8_t code) {
        const std::uint8_t format = byte();
        if (format == amqp::code::small_long) return static_cast<std::int8_t>(byte());
        if (format != code || !needs(8)) {
            is_failed = true;
            return 0;
        }
        at += 8;
        return static_cast<std::int64_t>(__builtin_bswap64(load<std::uint64_t>(at - 8)));
    }
};

// Whether these bytes, behind the annotations, begin with a whole section that is none.
bool is_usual_rest(ByteView rest) {
    constexpr std::size_t head = 4;  // described, smallulong, which, format of its value
    if (rest.size() > head && rest[0] == std::byte{0} && rest[1] == std::byte{0x53} &&
        rest[2] == std::byte{descriptor::data}) {
        Pass data(rest.subspan(head));
        if (rest[3] == std::byte{amqp::code::binary8}) return data.needs(data.length(1));
        if (rest[3] == std::byte{amqp::code::binary32}) return data.needs(data.length(4));
    }
    if (rest.empty()) return true;
    const auto section = amqp::next_section(rest);
    return section.ok() && section->kind >= descriptor::properties;
}

}  // namespace

std::string filter_of(const Position& position) {
    const auto written = [](std::string_view name, std::string_view comparison, const auto& value) {
        return fmt::format("{}{} {} '{}'", filter::annotation_prefix, name, comparison, value);
    };
    const auto compare = [&](std::string_view name) {
        return written(name, position.inclusive ? ">=" : ">", position.value);
    };
    switch (position.kind) {
        case Position::Kind::earliest: return written(annotation::offset, ">", "-1");
        case Position::Kind::latest: return written(annotation::offset, ">", filter::latest);
        case Position::Kind::offset: return compare(annotation::offset);
        case Position::Kind::sequence_number: return compare(annotation::sequence_number);
        case Position::Kind::enqueued_time: return compare(annotation::enqueued_time);
    }
    return {};
}

amqp::Terminus source_of(std::string_view address, const Position& position) {
    amqp::Terminus source;
    source.present = true;
    source.address = address;
    Encoder filters(source.filter);
    const auto map = filters.begin_map();
    filters.symbol(filter::name);
    constexpr std::byte described{amqp::code::described};
    filters.bytes({&described, 1});
    filters.ulong(filter::descriptor);
    filters.string(filter_of(position));
    filters.end(map, 2);

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
        encoder.symbol(property::epoch);
        encoder.long_(*options.epoch);
        count += 2;
    }
    if (!options.name.empty()) {
        encoder.symbol(property::receiver_name);
        encoder.string(options.name);
        count += 2;
    }
    encoder.end(map, count);
    return bytes;
}

bool decode_usual_arrival(ByteView message, Event& event) {
    constexpr std::uint8_t begin[] = {amqp::code::described, 0x53, 0x72};
    Pass pass(message);
    const ByteView opening = pass.take(sizeof begin);
    if (opening.empty() || std::memcmp(opening.data(), begin, sizeof begin) != 0) return false;
    const std::uint8_t format = pass.byte();
    if (format != amqp::code::map8 && format != amqp::code::map32) return false;
    const std::size_t width = format == amqp::code::map8 ? 1 : 4;
    const std::size_t size = pass.length(width);
    Pass map(pass.take(size));
    std::size_t pairs = map.length(width) / 2;
    event = {};
    event.sections = message;
    bool has_time = false;
    for (; pairs > 0 && !map.is_failed; --pairs) {
        const std::string_view key = map.short_text(amqp::code::symbol8);
        if (key == annotation::sequence_number) {
            event.sequence_number = map.number(amqp::code::long_);
        } else if (key == annotation::offset) {
            event.offset = offset_of(map.short_text(amqp::code::string8));
        } else if (key == annotation::enqueued_time) {
            event.enqueued_time = time_point({map.number(amqp::code::timestamp)});
            has_time = true;
        } else if (key == annotation::partition_key) {
            event.partition_key = map.short_text(amqp::code::string8);
        } else {
            return false;
        }
    }
    if (pass.is_failed || map.is_failed || map.left() > 0 || !has_time) return false;
    return event.sequence_number >= 0 && is_usual_rest({pass.at, pass.left()});
}

Result<Arrival> decode_arrival(ByteView message) {
    Arrival arrival;
    if (decode_usual_arrival(message, arrival.event)) return arrival;
    arrival.event = {};
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

}  // namespace evenkeel::eventhubs
