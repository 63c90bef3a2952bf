#include "door/amqp/events.h"

#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "base/check.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::door {
namespace {

using amqp::Buffer;
using amqp::Encoder;
namespace annotation = eventhubs::annotation;
namespace descriptor = amqp::descriptor;
namespace metric_name = eventhubs::metric;

Error malformed(std::string_view why) {
    return {ErrorCode::corrupt, std::string(why)};
}

// Of an encoded symbol or string; empty for anything else.
std::string_view text_of(ByteView value) {
    return amqp::Decoder(value).text().value_or(std::string_view());
}

// Calls `visit(key, value)`, both encoded, for each pair of a map.
template <typename Visit>
void for_each_annotation(ByteView map, Visit visit) {
    amqp::Decoder decoder(map);
    auto pairs = decoder.map();
    while (pairs && pairs->remaining() > 0 && !pairs->failed()) {
        const ByteView key = pairs->value();
        const ByteView value = pairs->value();
        if (!pairs->failed()) visit(key, value);
    }
}

// The three annotations of a ProducerStamp, as they are met.
class StampParts {
public:
    void take(std::string_view name, ByteView value) {
        if (name == eventhubs::property::producer_id) take(value, stamp_.id);
        if (name == eventhubs::property::producer_epoch) take(value, stamp_.epoch);
        if (name == eventhubs::property::producer_sequence) take(value, stamp_.sequence);
    }
    std::optional<ProducerStamp> whole() const {
        return found_ == 3 ? std::optional(stamp_) : std::nullopt;
    }

private:
    void take(ByteView value, std::int64_t& to) {
        const auto number = amqp::Decoder(value).integer();
        to = number.value_or(0);
        found_ += number ? 1 : 0;
    }

    ProducerStamp stamp_;
    int found_ = 0;
};

// The pairs of an encoded map, without its framing.
struct Pairs {
    ByteView bytes;
    std::uint32_t count = 0;
};

Pairs pairs_of(ByteView map) {
    amqp::Decoder decoder(map);
    const auto inner = decoder.map();
    return inner ? Pairs{inner->rest(), inner->remaining()} : Pairs{};
}

// The section of that kind, if it is what `sections` begins with; it is cut off then.
std::optional<ByteView> cut_section(ByteView& sections, std::uint64_t kind) {
    const bool there = sections.size() > 3 && sections[0] == std::byte{0} &&
                       sections[1] == std::byte{amqp::code::small_ulong} &&
                       sections[2] == static_cast<std::byte>(kind);
    if (!there) return std::nullopt;
    auto rest = sections;
    const auto section = amqp::next_section(rest);
    if (!section.ok()) return std::nullopt;
    sections = rest;
    return section->value;
}

std::byte* put(std::byte* to, std::uint8_t code, std::string_view text) {
    *to++ = std::byte{code};
    *to++ = static_cast<std::byte>(text.size());
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

// Returns where the value of a number goes, which follows its code.
std::byte* put_name(std::byte* to, std::string_view name, std::uint8_t code) {
    to = put(to, amqp::code::symbol8, name);
    *to++ = std::byte{code};
    return to;
}

void store_number(std::byte* to, std::int64_t value) {
    store(to, __builtin_bswap64(static_cast<std::uint64_t>(value)));
}

std::string_view digits(std::int64_t value, std::array<char, 24>& text) {
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), static_cast<std::size_t>(end.ptr - text.data())};
}

void encode_annotations(const commitlog::Record& record, const Pairs& users, Buffer& to) {
    Encoder encoder(to);
    std::array<char, 24> text;
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::message_annotations));
    const auto map = encoder.begin_map();
    std::uint32_t count = 6;
    if (!record.key.empty()) {
        encoder.symbol(annotation::partition_key);
        encoder.string(as_text(record.key));
        count += 2;
    }
    encoder.symbol(annotation::sequence_number);
    encoder.long_(record.sequence.value);
    encoder.symbol(annotation::offset);
    encoder.string(digits(record.offset.value, text));
    encoder.symbol(annotation::enqueued_time);
    encoder.timestamp(record.enqueued.milliseconds);
    encoder.bytes(users.bytes);
    encoder.end(map, count + users.count);
}

void encode_metric(const RuntimeMetric& metric, const Pairs& users, Buffer& to) {
    Encoder encoder(to);
    std::array<char, 24> text;
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::delivery_annotations));
    const auto map = encoder.begin_map();
    encoder.symbol(metric_name::last_sequence_number_epoch);
    encoder.int_(-1);
    encoder.symbol(metric_name::last_sequence_number);
    encoder.long_(metric.last_sequence.value);
    encoder.symbol(metric_name::last_offset);
    encoder.string(digits(metric.last_offset.value, text));
    encoder.symbol(metric_name::last_time);
    encoder.timestamp(metric.last_enqueued.milliseconds);
    encoder.symbol(metric_name::retrieved);
    encoder.timestamp(metric.retrieved.milliseconds);
    encoder.bytes(users.bytes);
    encoder.end(map, 10 + users.count);
}

}  // namespace

// A map8 of three pairs: sequence number, time, and the offset, whose length varies, last.
UsualPrefix::UsualPrefix(std::size_t room_bytes) : annotations_(bytes_.data() + room_bytes) {
    constexpr std::size_t annotation_bytes_max = 120;
    EK_CHECK(room_bytes + annotation_bytes_max <= bytes_.size(), "there is room for all of it");
    std::byte* at = annotations_;
    for (const int byte : {0x00, 0x53, 0x72, 0xc1, 0, 6}) *at++ = static_cast<std::byte>(byte);
    sequence_ = put_name(at, annotation::sequence_number, amqp::code::long_);
    time_ = put_name(sequence_ + 8, annotation::enqueued_time, amqp::code::timestamp);
    offset_ = put_name(time_ + 8, annotation::offset, amqp::code::string8);
}

bool UsualPrefix::suits(const commitlog::Record& record) {
    if (!record.key.empty()) return false;
    if (record.body.size() <= 3) return true;
    const std::byte kind = record.body[2];
    return kind != static_cast<std::byte>(descriptor::delivery_annotations) &&
           kind != static_cast<std::byte>(descriptor::message_annotations);
}

ByteSpan UsualPrefix::encode(const commitlog::Record& record) {
    const fmt::format_int digits(record.offset.value);
    store_number(sequence_, record.sequence.value);
    store_number(time_, record.enqueued.milliseconds);
    offset_[0] = static_cast<std::byte>(digits.size());
    std::memcpy(offset_ + 1, digits.data(), digits.size());
    const std::byte* const end = offset_ + 1 + digits.size();
    annotations_[4] = static_cast<std::byte>(end - annotations_ - 5);
    return {bytes_.data(), static_cast<std::size_t>(end - bytes_.data())};
}

void encode_prefix(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric,
                   Buffer& prefix, ByteView& body) {
    body = record.body;
    const auto delivery = cut_section(body, descriptor::delivery_annotations);
    if (metric) {
        encode_metric(*metric, delivery ? pairs_of(*delivery) : Pairs{}, prefix);
    } else if (delivery) {
        Encoder(prefix).bytes(record.body.first(record.body.size() - body.size()));
    }
    const auto annotations = cut_section(body, descriptor::message_annotations);
    encode_annotations(record, annotations ? pairs_of(*annotations) : Pairs{}, prefix);
}

std::optional<ProducerStamp> stamp_of(ByteView stored_body) {
    cut_section(stored_body, descriptor::delivery_annotations);
    const auto annotations = cut_section(stored_body, descriptor::message_annotations);
    StampParts stamp;
    if (annotations) {
        for_each_annotation(*annotations,
                            [&](ByteView key, ByteView value) { stamp.take(text_of(key), value); });
    }
    return stamp.whole();
}

Result<> Incoming::decode(ByteView message, std::uint32_t message_format, bool restores) {
    restores_ = restores;
    key_.clear();
    stamp_.reset();
    grammar_ = {};
    events_.clear();
    changed_.clear();
    if (message_format == amqp::batch_format) {
        ByteView rest = message;
        while (!rest.empty()) {
            if (const auto inner = amqp::cut_usual_data(rest)) {
                EK_TRY(add(*inner));
                continue;
            }
            EK_TRY_ASSIGN(const auto section, amqp::next_section(rest));
            EK_TRY(check(section));
            if (section.kind == descriptor::message_annotations) {
                take_annotations(section.value);
            } else if (section.kind == descriptor::data) {
                const auto inner = amqp::Decoder(section.value).binary();
                if (!inner) return malformed("a data section of a batch has no event");
                EK_TRY(add(*inner));
            }
        }
    } else {
        EK_TRY(add(message));
    }
    if (restores_) return {};
    for (auto& event : events_) event.key = as_bytes(key_);
    return {};
}

Result<> Incoming::check(const amqp::Section& section) {
    if (const auto fault = grammar_.fault_of(section); !fault.empty()) return malformed(fault);
    return {};
}

bool Incoming::take_annotations(ByteView annotations) {
    bool ours = false;
    StampParts stamp;
    for_each_annotation(annotations, [&](ByteView key, ByteView value) {
        const std::string_view name = text_of(key);
        ours = ours || eventhubs::is_hub_annotation(name);
        if (name == annotation::partition_key && key_.empty()) key_ = text_of(value);
        if (name == annotation::partition_key) given_.key = as_bytes(text_of(value));
        if (name == annotation::enqueued_time) {
            const auto time = amqp::Decoder(value).integer();
            if (time && *time >= 0) given_.enqueued = WallTime{*time};
        }
        stamp.take(name, value);
    });
    if (!stamp_) stamp_ = stamp.whole();
    return ours;
}

void Incoming::push(ByteView stored) {
    if (!restores_) given_ = {};
    given_.body = stored;
    events_.push_back(given_);
}

// Looks at the sections of an event once; only an unusual one is copied.
Result<> Incoming::add(ByteView message) {
    given_ = {};
    if (ByteView behind = message; amqp::cut_usual_data(behind) && behind.empty()) {
        push(message);  // nothing but a body
        return {};
    }
    bool usual = true;
    std::uint64_t last = 0;
    std::uint32_t seen = 0;
    ByteView rest = message;
    ByteView kept = message;
    while (!rest.empty()) {
        EK_TRY_ASSIGN(const auto section, amqp::next_section(rest));
        const std::uint32_t bit = 1u << (section.kind - descriptor::header);
        const bool repeats =
            section.kind == descriptor::data || section.kind == descriptor::sequence;
        if ((seen & bit) != 0 && !repeats) return malformed("a section comes twice");
        seen |= bit;
        EK_TRY(check(section));
        if (section.kind == descriptor::header && section.whole.data() == kept.data()) {
            kept = rest;  // dropped, as the service does
            continue;
        }
        const bool compact = section.whole.size() > 3 && section.whole[0] == std::byte{0} &&
                             section.whole[1] == std::byte{amqp::code::small_ulong};
        const bool ours =
            section.kind == descriptor::message_annotations && take_annotations(section.value);
        usual =
            usual && !ours && compact && section.kind >= last && section.kind != descriptor::header;
        last = section.kind;
    }
    if (!usual) return add_changed(kept);
    push(kept);
    return {};
}

// Canonical order, compact descriptors, no header, no annotations of ours.
Result<> Incoming::add_changed(ByteView message) {
    auto stored = std::make_unique<Buffer>();
    Encoder encoder(*stored);
    for (std::uint64_t kind = descriptor::delivery_annotations; kind <= descriptor::footer;
         ++kind) {
        ByteView rest = message;
        while (!rest.empty()) {
            EK_TRY_ASSIGN(const auto section, amqp::next_section(rest));
            // The body's sections keep their order among themselves.
            const bool body = section.kind >= descriptor::data && section.kind <= descriptor::value;
            if (body ? kind != descriptor::data : section.kind != kind) continue;
            if (kind != descriptor::message_annotations) {
                encoder.descriptor(static_cast<std::uint8_t>(section.kind));
                encoder.bytes(section.value);
                continue;
            }
            std::uint32_t count = 0;
            Buffer pairs;
            for_each_annotation(section.value, [&](ByteView key, ByteView value) {
                if (eventhubs::is_hub_annotation(text_of(key))) return;
                Encoder(pairs).bytes(key);
                Encoder(pairs).bytes(value);
                count += 2;
            });
            if (count == 0) continue;
            encoder.descriptor(static_cast<std::uint8_t>(kind));
            const auto map = encoder.begin_map();
            encoder.bytes(pairs);
            encoder.end(map, count);
        }
    }
    push(*stored);
    changed_.push_back(std::move(stored));
    return {};
}

}  // namespace evenkeel::door
