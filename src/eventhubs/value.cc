#include "eventhubs/value.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <limits>
#include <type_traits>

namespace evenkeel::eventhubs {
namespace {

namespace code = amqp::code;

// The number of type T that follows the format code. The value is known to be all there.
template <typename T>
T number_in(ByteView encoded) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bits = bits << 8 | std::to_integer<std::uint64_t>(encoded[1 + i]);
    }
    if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(bits);
    } else {
        return static_cast<T>(bits);
    }
}

ByteView bytes_in(ByteView encoded, std::uint8_t short_code) {
    const bool is_short = encoded[0] == std::byte{short_code};
    return encoded.subspan(is_short ? 2 : 5);
}

Uuid uuid_in(ByteView encoded) {
    Uuid uuid{};
    std::copy_n(encoded.begin() + 1, uuid.size(), uuid.begin());
    return uuid;
}

template <typename T>
void append_number(std::uint8_t format, T value, amqp::Encoder& encoder) {
    std::byte bytes[1 + sizeof(T)] = {std::byte{format}};
    std::uint64_t bits = 0;
    if constexpr (std::is_same_v<T, float>) {
        bits = std::bit_cast<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, double>) {
        bits = std::bit_cast<std::uint64_t>(value);
    } else {
        bits = static_cast<std::make_unsigned_t<T>>(value);
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes[sizeof(T) - i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
    }
    encoder.bytes(bytes);
}

struct Appender {
    amqp::Encoder& to;

    void operator()(std::monostate) const { to.null(); }
    void operator()(bool value) const { to.boolean(value); }
    void operator()(std::int8_t value) const { append_number(code::byte, value, to); }
    void operator()(std::int16_t value) const { append_number(code::short_, value, to); }
    void operator()(std::int32_t value) const { to.int_(value); }
    void operator()(std::int64_t value) const { to.long_(value); }
    void operator()(std::uint8_t value) const { to.ubyte(value); }
    void operator()(std::uint16_t value) const { to.ushort(value); }
    void operator()(std::uint32_t value) const { to.uint(value); }
    void operator()(std::uint64_t value) const { to.ulong(value); }
    void operator()(float value) const { append_number(code::float_, value, to); }
    void operator()(double value) const { append_number(code::double_, value, to); }
    void operator()(Timestamp value) const { to.timestamp(value.time_since_epoch().count()); }
    void operator()(std::string_view value) const { to.string(value); }
    void operator()(const Symbol& value) const { to.symbol(value.text); }
    void operator()(Bytes value) const { to.binary(value); }
    void operator()(const Uuid& value) const { to.uuid(value); }
    void operator()(const Encoded& value) const {
        const bool is_value =
            !value.bytes.empty() && amqp::encoded_bytes(value.bytes) == value.bytes.size();
        is_value ? to.bytes(value.bytes) : to.null();
    }
};

}  // namespace

Value decode_value(ByteView encoded) {
    const std::size_t size = amqp::encoded_bytes(encoded);
    if (size == 0) return {};
    encoded = encoded.first(size);
    switch (std::to_integer<std::uint8_t>(encoded[0])) {
        case code::null: return {};
        case code::boolean_true: return true;
        case code::boolean_false: return false;
        case code::boolean: return encoded[1] != std::byte{0};
        case code::ubyte: return number_in<std::uint8_t>(encoded);
        case code::ushort: return number_in<std::uint16_t>(encoded);
        case code::uint0: return std::uint32_t{0};
        case code::small_uint: return std::uint32_t{number_in<std::uint8_t>(encoded)};
        case code::uint: return number_in<std::uint32_t>(encoded);
        case code::ulong0: return std::uint64_t{0};
        case code::small_ulong: return std::uint64_t{number_in<std::uint8_t>(encoded)};
        case code::ulong: return number_in<std::uint64_t>(encoded);
        case code::byte: return number_in<std::int8_t>(encoded);
        case code::short_: return number_in<std::int16_t>(encoded);
        case code::small_int: return std::int32_t{number_in<std::int8_t>(encoded)};
        case code::int_: return number_in<std::int32_t>(encoded);
        case code::small_long: return std::int64_t{number_in<std::int8_t>(encoded)};
        case code::long_: return number_in<std::int64_t>(encoded);
        case code::float_: return number_in<float>(encoded);
        case code::double_: return number_in<double>(encoded);
        case code::timestamp:
            return Timestamp(std::chrono::milliseconds(number_in<std::int64_t>(encoded)));
        case code::uuid: return uuid_in(encoded);
        case code::binary8:
        case code::binary32: return bytes_in(encoded, code::binary8);
        case code::string8:
        case code::string32: return as_text(bytes_in(encoded, code::string8));
        case code::symbol8:
        case code::symbol32: return Symbol{as_text(bytes_in(encoded, code::symbol8))};
        default: return Encoded{encoded};
    }
}

void append_value(const Value& value, amqp::Encoder& encoder) {
    std::visit(Appender{encoder}, value);
}

std::size_t content_bytes(const Value& value) {
    if (const auto* const bytes = std::get_if<Bytes>(&value)) return bytes->size();
    if (const auto* const encoded = std::get_if<Encoded>(&value)) return encoded->bytes.size();
    if (!value.text().empty()) return value.text().size();
    const bool is_text =
        std::holds_alternative<std::string_view>(value) || std::holds_alternative<Symbol>(value);
    return is_text ? 0 : 1;
}

}  // namespace evenkeel::eventhubs

namespace evenkeel {

std::string_view Value::text() const {
    if (const auto* const string = std::get_if<std::string_view>(this)) return *string;
    if (const auto* const symbol = std::get_if<Symbol>(this)) return symbol->text;
    return {};
}

std::optional<std::int64_t> Value::integer() const {
    return std::visit(
        [](const auto& value) -> std::optional<std::int64_t> {
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::uint64_t>) {
                if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                    return std::nullopt;
                }
                return static_cast<std::int64_t>(value);
            } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
                return value;
            } else {
                return std::nullopt;
            }
        },
        static_cast<const variant&>(*this));
}

std::optional<double> Value::number() const {
    return std::visit(
        [](const auto& value) -> std::optional<double> {
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
                return static_cast<double>(value);
            } else {
                return std::nullopt;
            }
        },
        static_cast<const variant&>(*this));
}

}  // namespace evenkeel
