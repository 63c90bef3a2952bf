#include "cli/text/amqp_value.h"

#include <bit>
#include <cmath>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/text/duration.h"

namespace evenkeel::cli {
namespace {

namespace code = amqp::code;
using amqp::Buffer;
using amqp::Encoder;

constexpr std::string_view type_names =
    "null, bool, ubyte, ushort, uint, ulong, byte, short, int, long, float, double, char, "
    "timestamp, uuid, binary, string, symbol, amqp";

Error wrong(std::string why) {
    return {ErrorCode::invalid_argument, std::move(why)};
}

// The big-endian number behind the format code.
template <typename Number>
Number fixed(ByteView value) {
    Number number = 0;
    for (std::size_t i = 1; i < value.size() && i <= sizeof number; ++i) {
        number = static_cast<Number>(number << 8 | std::to_integer<Number>(value[i]));
    }
    return number;
}

template <typename Unsigned>
void append_fixed(std::uint8_t format, Unsigned number, Buffer& to) {
    to.push_back(std::byte{format});
    for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8) {
        to.push_back(static_cast<std::byte>(number >> shift & 0xff));
    }
}

std::string uuid_text(ByteView value) {
    std::string digits = to_hex(value.subspan(1));
    for (const std::size_t place : {8u, 13u, 18u, 23u}) digits.insert(place, 1, '-');
    return digits;
}

// Not a number, with bits that "nan" does not tell.
bool has_payload(double number) {
    return std::isnan(number) &&
           std::bit_cast<std::uint64_t>(number) != std::bit_cast<std::uint64_t>(std::nan(""));
}
bool has_payload(float number) {
    return std::isnan(number) &&
           std::bit_cast<std::uint32_t>(number) != std::bit_cast<std::uint32_t>(std::nanf(""));
}

std::string float_json(double number, std::string text) {
    return std::isfinite(number) ? std::move(text) : json_quoted(text);
}

std::string_view integer_type(std::uint8_t format) {
    switch (format) {
        case code::ubyte: return "ubyte";
        case code::ushort: return "ushort";
        case code::uint:
        case code::small_uint:
        case code::uint0: return "uint";
        case code::byte: return "byte";
        case code::short_: return "short";
        case code::int_:
        case code::small_int: return "int";
        case code::long_:
        case code::small_long: return "long";
        case code::timestamp: return "timestamp";
        default: return {};
    }
}

TypedJson text_json(std::string_view type, std::string_view text) {
    return {type, json_quoted(text), type == "string" && is_utf8(text)};
}

template <typename Number>
Result<Number> whole(std::string_view type, std::string_view text) {
    if (const auto number = parse_number<Number>(text)) return *number;
    return wrong(fmt::format("not of type {}: a whole number from {} to {} is needed", type,
                             std::numeric_limits<Number>::min(),
                             std::numeric_limits<Number>::max()));
}

// Also "nan", "inf" and "-inf", which is how such a value is shown.
template <typename Number>
Result<Number> fraction(std::string_view type, std::string_view text) {
    if (const auto number = parse_number<Number>(text)) return *number;
    return wrong(fmt::format("not of type {}: a number such as 1.5 or 2e10 is needed", type));
}

Result<> append_uuid(std::string_view text, Buffer& to) {
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_dash_place = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash_place != (text[i] == '-')) digits += 'x';  // no digit
        if (!is_dash_place) digits += text[i];
    }
    amqp::Uuid uuid{};
    const auto high = parse_number<std::uint64_t>(std::string_view(digits).substr(0, 16), 16);
    const auto low = digits.size() == 32
                         ? parse_number<std::uint64_t>(std::string_view(digits).substr(16), 16)
                         : std::nullopt;
    if (!high || !low) {
        return wrong(
            "not of type uuid: 32 hexadecimal digits are needed, as "
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    }
    for (std::size_t i = 0; i < 8; ++i) {
        uuid[i] = static_cast<std::byte>(*high >> (56 - 8 * i) & 0xff);
        uuid[8 + i] = static_cast<std::byte>(*low >> (56 - 8 * i) & 0xff);
    }
    Encoder(to).uuid(uuid);
    return {};
}

Result<> append_char(std::string_view text, Buffer& to) {
    const std::size_t bytes = utf8_character_bytes(text);
    if (bytes == 0 || bytes != text.size()) {
        return wrong("not of type char: one character is needed");
    }
    std::uint32_t number = static_cast<unsigned char>(text[0]);
    if (bytes > 1) number &= 0x7fu >> bytes;
    for (std::size_t i = 1; i < bytes; ++i) {
        number = number << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    }
    append_fixed(code::char_, number, to);
    return {};
}

std::string char_text(std::uint32_t number) {
    std::string text;
    if (number < 0x80) return {static_cast<char>(number)};
    const int more = number < 0x800 ? 1 : number < 0x10000 ? 2 : 3;
    text += static_cast<char>((0xff00u >> (more + 1) & 0xffu) | number >> (6 * more));
    for (int i = more - 1; i >= 0; --i) {
        text += static_cast<char>(0x80u | (number >> (6 * i) & 0x3fu));
    }
    return text;
}

Result<std::string> from_base64(std::string_view type, std::string_view text) {
    if (text.empty()) return std::string();
    if (auto bytes = base64_decoded(text)) return std::move(*bytes);
    return wrong(fmt::format("not of type {}: base64 is needed", type));
}

Result<> append_integer(std::string_view type, std::string_view text, Buffer& to) {
    Encoder encoder(to);
    if (type == "ubyte") {
        EK_TRY_ASSIGN(const auto number, whole<std::uint8_t>(type, text));
        encoder.ubyte(number);
    } else if (type == "ushort") {
        EK_TRY_ASSIGN(const auto number, whole<std::uint16_t>(type, text));
        encoder.ushort(number);
    } else if (type == "uint") {
        EK_TRY_ASSIGN(const auto number, whole<std::uint32_t>(type, text));
        encoder.uint(number);
    } else if (type == "ulong") {
        EK_TRY_ASSIGN(const auto number, whole<std::uint64_t>(type, text));
        encoder.ulong(number);
    } else if (type == "byte") {
        EK_TRY_ASSIGN(const auto number, whole<std::int8_t>(type, text));
        append_fixed(code::byte, static_cast<std::uint8_t>(number), to);
    } else if (type == "short") {
        EK_TRY_ASSIGN(const auto number, whole<std::int16_t>(type, text));
        append_fixed(code::short_, static_cast<std::uint16_t>(number), to);
    } else if (type == "int") {
        EK_TRY_ASSIGN(const auto number, whole<std::int32_t>(type, text));
        encoder.int_(number);
    } else {
        EK_TRY_ASSIGN(const auto number, whole<std::int64_t>(type, text));
        encoder.long_(number);
    }
    return {};
}

bool is_integer_type(std::string_view type) {
    return type == "ubyte" || type == "ushort" || type == "uint" || type == "ulong" ||
           type == "byte" || type == "short" || type == "int" || type == "long";
}

Result<> append_text(std::string_view type, std::string_view text, Buffer& to) {
    Encoder encoder(to);
    if (!is_utf8(text)) {
        return wrong(fmt::format("not of type {}: it is not UTF-8; binary takes base64", type));
    }
    if (type == "symbol") {
        encoder.symbol(text);
    } else {
        encoder.string(text);
    }
    return {};
}

Result<> append_encoding(std::string_view text, Buffer& to) {
    EK_TRY_ASSIGN(const auto bytes, from_base64("amqp", text));
    if (bytes.empty() || amqp::encoded_bytes(as_bytes(bytes)) != bytes.size()) {
        return wrong("not of type amqp: base64 of one encoded AMQP value is needed");
    }
    Encoder(to).bytes(as_bytes(bytes));
    return {};
}

}  // namespace

std::string json_quoted(std::string_view text) {
    return "\"" + json_escaped(text) + "\"";
}

TypedJson typed_json(ByteView value) {
    amqp::Decoder decoder(value);
    const std::uint8_t format = decoder.peek();
    switch (format) {
        case code::null: return {"null", "null", true};
        case code::boolean:
        case code::boolean_true:
        case code::boolean_false:
            return {"bool", decoder.boolean().value_or(false) ? "true" : "false", true};
        case code::string8:
        case code::string32: return text_json("string", decoder.text().value_or(""));
        case code::symbol8:
        case code::symbol32: return text_json("symbol", decoder.text().value_or(""));
        case code::ulong:
        case code::small_ulong:
        case code::ulong0: {
            const std::uint64_t number = decoder.ulong().value_or(0);
            return {"ulong", std::to_string(number), false};
        }
        case code::double_: {
            const auto number = std::bit_cast<double>(fixed<std::uint64_t>(value));
            if (has_payload(number)) break;
            std::string text = fmt::format("{}", number);
            const bool is_usual =
                std::isfinite(number) && text.find_first_of(".e") != std::string::npos;
            return {"double", float_json(number, std::move(text)), is_usual};
        }
        case code::float_: {
            const auto number = std::bit_cast<float>(fixed<std::uint32_t>(value));
            if (has_payload(number)) break;
            return {"float", float_json(number, fmt::format("{}", number)), false};
        }
        case code::char_:
            return {"char", json_quoted(char_text(fixed<std::uint32_t>(value))), false};
        case code::uuid:
            if (value.size() == 17) return {"uuid", json_quoted(uuid_text(value)), false};
            break;
        case code::binary8:
        case code::binary32:
            return {"binary", json_quoted(base64_encoded(decoder.binary().value_or(ByteView()))),
                    false};
        default: break;
    }
    if (const auto type = integer_type(format); !type.empty()) {
        if (const auto number = decoder.integer(); number && !decoder.failed()) {
            return {type, std::to_string(*number), type == "long"};
        }
    }
    return {"amqp", json_quoted(base64_encoded(value)), false};
}

Result<> append_typed(std::string_view type, std::string_view text, Buffer& to) {
    Encoder encoder(to);
    if (is_integer_type(type)) return append_integer(type, text, to);
    if (type == "string" || type == "symbol") return append_text(type, text, to);
    if (type == "uuid") return append_uuid(text, to);
    if (type == "char") return append_char(text, to);
    if (type == "amqp") return append_encoding(text, to);
    if (type == "binary") {
        EK_TRY_ASSIGN(const auto bytes, from_base64(type, text));
        encoder.binary(as_bytes(bytes));
    } else if (type == "null") {
        if (!text.empty() && text != "null") return wrong("not of type null: it has a value");
        encoder.null();
    } else if (type == "bool") {
        if (text != "true" && text != "false") {
            return wrong("not of type bool: true or false is needed");
        }
        encoder.boolean(text == "true");
    } else if (type == "double") {
        EK_TRY_ASSIGN(const auto number, fraction<double>(type, text));
        append_fixed(code::double_, std::bit_cast<std::uint64_t>(number), to);
    } else if (type == "float") {
        EK_TRY_ASSIGN(const auto number, fraction<float>(type, text));
        append_fixed(code::float_, std::bit_cast<std::uint32_t>(number), to);
    } else if (type == "timestamp") {
        auto time = parse_number<std::int64_t>(text);
        if (!time) time = parse_time(text);
        if (!time) {
            return wrong(
                "not of type timestamp: 2026-03-01T10:00:00Z or milliseconds since 1970 are "
                "needed");
        }
        encoder.timestamp(*time);
    } else {
        return wrong(fmt::format("of an unknown type '{}': there are {}", shown(type), type_names));
    }
    return {};
}

Result<> append_typed(std::string_view type, const boost::json::value& value, Buffer& to) {
    using boost::json::kind;
    const auto as = [&](std::string_view usual, std::string_view text) {
        return append_typed(type.empty() ? usual : type, text, to);
    };
    switch (value.kind()) {
        case kind::null: return as("null", "null");
        case kind::bool_: return as("bool", value.get_bool() ? "true" : "false");
        case kind::int64: return as("long", std::to_string(value.get_int64()));
        case kind::uint64: return as("ulong", std::to_string(value.get_uint64()));
        case kind::double_: return as("double", fmt::format("{}", value.get_double()));
        case kind::string:
            return as("string", {value.get_string().data(), value.get_string().size()});
        case kind::array:
        case kind::object: break;
    }
    return wrong("a list or object, which is no value of a property");
}

}  // namespace evenkeel::cli
