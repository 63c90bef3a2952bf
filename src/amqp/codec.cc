#include "amqp/codec.h"

#include <limits>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace evenkeel::amqp {
namespace {

// How deep descriptors may describe descriptors; AMQP itself needs two.
constexpr int descriptor_depth_max = 8;
// An empty symbol is a byte on the wire and much more in memory; nobody lists more than a few.
constexpr std::uint32_t symbols_max = 256;

// Descriptors that may also be written as a symbol.
constexpr std::pair<std::string_view, std::uint64_t> names[] = {
    {"amqp:open:list", 0x10},
    {"amqp:begin:list", 0x11},
    {"amqp:attach:list", 0x12},
    {"amqp:flow:list", 0x13},
    {"amqp:transfer:list", 0x14},
    {"amqp:disposition:list", 0x15},
    {"amqp:detach:list", 0x16},
    {"amqp:end:list", 0x17},
    {"amqp:close:list", 0x18},
    {"amqp:error:list", 0x1d},
    {"amqp:received:list", 0x23},
    {"amqp:accepted:list", 0x24},
    {"amqp:rejected:list", 0x25},
    {"amqp:released:list", 0x26},
    {"amqp:modified:list", 0x27},
    {"amqp:source:list", 0x28},
    {"amqp:target:list", 0x29},
    {"amqp:sasl-mechanisms:list", 0x40},
    {"amqp:sasl-init:list", 0x41},
    {"amqp:sasl-outcome:list", 0x44},
    {"amqp:header:list", 0x70},
    {"amqp:delivery-annotations:map", 0x71},
    {"amqp:message-annotations:map", 0x72},
    {"amqp:properties:list", 0x73},
    {"amqp:application-properties:map", 0x74},
    {"amqp:data:binary", 0x75},
    {"amqp:amqp-sequence:list", 0x76},
    {"amqp:amqp-value:*", 0x77},
    {"amqp:footer:map", 0x78},
};

std::uint64_t descriptor_named(std::string_view name) {
    for (const auto& [known, number] : names) {
        if (known == name) return number;
    }
    return 0;
}

template <typename T>
T swapped(T value) {
    if constexpr (sizeof(T) == 1) return value;
    if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
    if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
    if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
}

// Width behind the format code of a value of fixed width, by the high half of the code.
constexpr int fixed_width(std::uint8_t format) {
    switch (format >> 4) {
        case 0x4: return 0;
        case 0x5: return 1;
        case 0x6: return 2;
        case 0x7: return 4;
        case 0x8: return 8;
        case 0x9: return 16;
        default: return -1;
    }
}

}  // namespace

template <typename T>
void Encoder::big_endian(T value) {
    const T wire = swapped(value);
    const auto* bytes = reinterpret_cast<const std::byte*>(&wire);
    to_.insert(to_.end(), bytes, bytes + sizeof wire);
}

void Encoder::ubyte(std::uint8_t value) {
    raw(code::ubyte);
    raw(value);
}

void Encoder::ushort(std::uint16_t value) {
    raw(code::ushort);
    big_endian(value);
}

void Encoder::uint(std::uint32_t value) {
    if (value == 0) return raw(code::uint0);
    if (value <= 0xff) {
        raw(code::small_uint);
        return raw(static_cast<std::uint8_t>(value));
    }
    raw(code::uint);
    big_endian(value);
}

void Encoder::ulong(std::uint64_t value) {
    if (value == 0) return raw(code::ulong0);
    if (value <= 0xff) {
        raw(code::small_ulong);
        return raw(static_cast<std::uint8_t>(value));
    }
    raw(code::ulong);
    big_endian(value);
}

void Encoder::int_(std::int32_t value) {
    if (value >= -128 && value <= 127) {
        raw(code::small_int);
        return raw(static_cast<std::uint8_t>(value));
    }
    raw(code::int_);
    big_endian(static_cast<std::uint32_t>(value));
}

void Encoder::long_(std::int64_t value) {
    if (value >= -128 && value <= 127) {
        raw(code::small_long);
        return raw(static_cast<std::uint8_t>(value));
    }
    raw(code::long_);
    big_endian(static_cast<std::uint64_t>(value));
}

void Encoder::timestamp(std::int64_t unix_ms) {
    raw(code::timestamp);
    big_endian(static_cast<std::uint64_t>(unix_ms));
}

void Encoder::uuid(const Uuid& value) {
    raw(code::uuid);
    bytes(value);
}

void Encoder::variable(std::uint8_t short_code, std::uint8_t long_code, ByteView value) {
    EK_CHECK(value.size() <= std::numeric_limits<std::uint32_t>::max(), "a value fits a message");
    if (value.size() <= 0xff) {
        raw(short_code);
        raw(static_cast<std::uint8_t>(value.size()));
    } else {
        raw(long_code);
        big_endian(static_cast<std::uint32_t>(value.size()));
    }
    bytes(value);
}

void Encoder::binary(ByteView value) {
    variable(code::binary8, code::binary32, value);
}

void Encoder::string(std::string_view value) {
    variable(code::string8, code::string32, as_bytes(value));
}

void Encoder::symbol(std::string_view value) {
    variable(code::symbol8, code::symbol32, as_bytes(value));
}

void Encoder::text_array(std::uint8_t element_code, const std::vector<std::string>& values) {
    raw(code::array32);
    const std::size_t at = to_.size();
    big_endian(std::uint32_t{0});
    big_endian(static_cast<std::uint32_t>(values.size()));
    raw(element_code);
    for (const auto& value : values) {
        big_endian(static_cast<std::uint32_t>(value.size()));
        bytes(as_bytes(value));
    }
    store(to_.data() + at, swapped(static_cast<std::uint32_t>(to_.size() - at - 4)));
}

void Encoder::symbols(const std::vector<std::string>& values) {
    text_array(code::symbol32, values);
}

void Encoder::strings(const std::vector<std::string>& values) {
    text_array(code::string32, values);
}

void Encoder::descriptor(std::uint8_t value) {
    raw(code::described);
    raw(code::small_ulong);
    raw(value);
}

Encoder::Open Encoder::begin(std::uint8_t format) {
    raw(format);
    const Open open{to_.size()};
    to_.resize(to_.size() + 8);
    return open;
}

void Encoder::end(Open open, std::uint32_t count) {
    store(to_.data() + open.at, swapped(static_cast<std::uint32_t>(to_.size() - open.at - 4)));
    store(to_.data() + open.at + 4, swapped(count));
}

ByteView Decoder::take(std::size_t size) {
    if (failed_ || size > bytes_.size()) {
        failed_ = true;
        return {};
    }
    const ByteView taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
}

template <typename T>
T Decoder::big_endian() {
    const ByteView taken = take(sizeof(T));
    return failed_ ? T{} : swapped(load<T>(taken.data()));
}

// The format code of the next value, unless it is null or there is none.
bool Decoder::next(std::uint8_t& format) {
    if (failed_) return false;
    if (counted_) {
        if (count_ == 0) return false;
        --count_;
    }
    const ByteView taken = take(1);
    if (failed_) return false;
    format = std::to_integer<std::uint8_t>(taken[0]);
    return format != code::null;
}

std::uint8_t Decoder::peek() const {
    if (failed_ || bytes_.empty() || (counted_ && count_ == 0)) return code::null;
    return std::to_integer<std::uint8_t>(bytes_[0]);
}

std::optional<bool> Decoder::boolean() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    if (format == code::boolean_true) return true;
    if (format == code::boolean_false) return false;
    if (format == code::boolean) {
        const auto value = big_endian<std::uint8_t>();
        if (!failed_ && value <= 1) return value == 1;
    }
    failed_ = true;
    return std::nullopt;
}

std::optional<std::uint8_t> Decoder::ubyte() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    if (format != code::ubyte) failed_ = true;
    const auto value = big_endian<std::uint8_t>();
    return failed_ ? std::nullopt : std::optional(value);
}

std::optional<std::uint16_t> Decoder::ushort() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    if (format != code::ushort) failed_ = true;
    const auto value = big_endian<std::uint16_t>();
    return failed_ ? std::nullopt : std::optional(value);
}

std::optional<std::uint32_t> Decoder::uint() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    std::uint32_t value = 0;
    switch (format) {
        case code::uint0: break;
        case code::small_uint: value = big_endian<std::uint8_t>(); break;
        case code::uint: value = big_endian<std::uint32_t>(); break;
        default: failed_ = true;
    }
    return failed_ ? std::nullopt : std::optional(value);
}

std::optional<std::uint64_t> Decoder::ulong() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    std::uint64_t value = 0;
    switch (format) {
        case code::ulong0: break;
        case code::small_ulong: value = big_endian<std::uint8_t>(); break;
        case code::ulong: value = big_endian<std::uint64_t>(); break;
        default: failed_ = true;
    }
    return failed_ ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> Decoder::integer() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    std::int64_t value = 0;
    switch (format) {
        case code::uint0:
        case code::ulong0: break;
        case code::ubyte:
        case code::small_uint:
        case code::small_ulong: value = big_endian<std::uint8_t>(); break;
        case code::byte:
        case code::small_int:
        case code::small_long:  // the sign bit counts -128
            value = std::int64_t{big_endian<std::uint8_t>() ^ 0x80} - 0x80;
            break;
        case code::ushort: value = big_endian<std::uint16_t>(); break;
        case code::short_: value = static_cast<std::int16_t>(big_endian<std::uint16_t>()); break;
        case code::uint: value = big_endian<std::uint32_t>(); break;
        case code::int_: value = static_cast<std::int32_t>(big_endian<std::uint32_t>()); break;
        case code::timestamp:
        case code::long_: value = static_cast<std::int64_t>(big_endian<std::uint64_t>()); break;
        case code::ulong: {
            const auto wide = big_endian<std::uint64_t>();
            if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                failed_ = true;
            }
            value = static_cast<std::int64_t>(wide);
            break;
        }
        default: failed_ = true;
    }
    return failed_ ? std::nullopt : std::optional(value);
}

std::optional<ByteView> Decoder::variable(std::uint8_t short_code, std::uint8_t long_code) {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    std::size_t size = 0;
    if (format == short_code) {
        size = big_endian<std::uint8_t>();
    } else if (format == long_code) {
        size = big_endian<std::uint32_t>();
    } else {
        failed_ = true;
    }
    const ByteView value = take(size);
    return failed_ ? std::nullopt : std::optional(value);
}

std::optional<ByteView> Decoder::binary() {
    return variable(code::binary8, code::binary32);
}

std::optional<std::string_view> Decoder::string() {
    const auto value = variable(code::string8, code::string32);
    return value ? std::optional(as_text(*value)) : std::nullopt;
}

std::optional<std::string_view> Decoder::symbol() {
    const auto value = variable(code::symbol8, code::symbol32);
    return value ? std::optional(as_text(*value)) : std::nullopt;
}

std::optional<std::string_view> Decoder::text() {
    const std::uint8_t format = peek();
    return format == code::string8 || format == code::string32 ? string() : symbol();
}

std::optional<std::uint64_t> Decoder::descriptor() {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    if (format != code::described) {
        failed_ = true;
        return std::nullopt;
    }
    // Descriptor and value are one element of the list they stand in.
    if (counted_) ++count_;
    const std::uint8_t kind =
        bytes_.empty() ? code::null : std::to_integer<std::uint8_t>(bytes_[0]);
    std::optional<std::uint64_t> value;
    const bool counted = std::exchange(counted_, false);
    if (kind == code::symbol8 || kind == code::symbol32) {
        if (const auto name = symbol()) value = descriptor_named(*name);
    } else {
        value = ulong();
    }
    counted_ = counted;
    if (!value) failed_ = true;  // null describes nothing
    return value;
}

std::optional<Decoder> Decoder::compound(std::uint8_t short_code, std::uint8_t long_code) {
    std::uint8_t format = 0;
    if (!next(format)) return std::nullopt;
    Decoder inner{ByteView()};
    inner.counted_ = true;
    if (format == code::list0 && short_code == code::list8) return inner;
    std::size_t size = 0;
    std::size_t count_bytes = 0;
    if (format == short_code) {
        size = big_endian<std::uint8_t>();
        count_bytes = 1;
    } else if (format == long_code) {
        size = big_endian<std::uint32_t>();
        count_bytes = 4;
    } else {
        failed_ = true;
    }
    inner.bytes_ = take(size);
    if (failed_) return std::nullopt;
    inner.count_ =
        count_bytes == 1 ? inner.big_endian<std::uint8_t>() : inner.big_endian<std::uint32_t>();
    // Every element of a list takes at least a byte.
    if (inner.failed_ || inner.count_ > inner.bytes_.size()) {
        failed_ = true;
        return std::nullopt;
    }
    return inner;
}

std::optional<Decoder> Decoder::list() {
    return compound(code::list8, code::list32);
}

std::optional<Decoder> Decoder::map() {
    auto inner = compound(code::map8, code::map32);
    if (inner && inner->count_ % 2 != 0) {
        failed_ = true;
        return std::nullopt;
    }
    return inner;
}

std::vector<std::string_view> Decoder::symbols() {
    std::vector<std::string_view> values;
    const std::uint8_t format = peek();
    if (format != code::array8 && format != code::array32) {
        if (const auto one = symbol()) values.push_back(*one);
        return values;
    }
    Decoder inner{value()};
    inner.take(1);
    std::uint32_t count = 0;
    if (format == code::array8) {
        inner.take(1);  // its size
        count = inner.big_endian<std::uint8_t>();
    } else {
        inner.take(4);
        count = inner.big_endian<std::uint32_t>();
    }
    const auto element = inner.big_endian<std::uint8_t>();
    if (element != code::symbol8 && element != code::symbol32) inner.failed_ = true;
    if (count > symbols_max) inner.failed_ = true;
    for (std::uint32_t i = 0; i < count && !inner.failed_; ++i) {
        const std::size_t size = element == code::symbol8 ? inner.big_endian<std::uint8_t>()
                                                          : inner.big_endian<std::uint32_t>();
        const ByteView taken = inner.take(size);
        if (!inner.failed_) values.push_back(as_text(taken));
    }
    if (inner.failed_) failed_ = true;
    return values;
}

ByteView Decoder::value() {
    if (failed_ || (counted_ ? count_ == 0 : bytes_.empty())) return {};
    if (counted_) --count_;
    const std::size_t size = encoded_bytes(bytes_);
    if (size == 0) failed_ = true;
    return take(size);
}

std::size_t encoded_bytes(ByteView bytes) {
    std::size_t at = 0;
    // A described value is its descriptor followed by its value.
    int values = 1;
    for (int depth = 0; values > 0; ++depth) {
        if (depth > 2 * descriptor_depth_max || at >= bytes.size()) return 0;
        const auto format = std::to_integer<std::uint8_t>(bytes[at]);
        ++at;
        if (format == code::described) {
            ++values;
            continue;
        }
        --values;
        const int width = fixed_width(format);
        if (width >= 0) {
            at += static_cast<std::size_t>(width);
        } else {
            const std::size_t length_bytes = (format >> 4) % 2 == 0 ? 1 : 4;  // a c e: 1, b d f: 4
            if (format < 0xa0 || bytes.size() - at < length_bytes) return 0;
            const std::size_t length = length_bytes == 1
                                           ? std::to_integer<std::size_t>(bytes[at])
                                           : swapped(load<std::uint32_t>(bytes.data() + at));
            at += length_bytes;
            if (length > bytes.size() - at) return 0;
            at += length;
        }
        if (at > bytes.size()) return 0;
    }
    return at;
}

}  // namespace evenkeel::amqp
