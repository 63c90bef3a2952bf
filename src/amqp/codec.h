// AMQP 1.0 values on the wire: an Encoder that appends, a Decoder that never reads past its bytes
// and never allocates.
//
// A Decoder remembers its first failure; reads after it give nothing, so a caller reads all fields
// and looks once. All legal encodings of a type are accepted, the shortest is written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace evenkeel::amqp {

// NOLINTBEGIN(readability-identifier-naming): the types have AMQP's names, some of them C++'s
// words.

// Format codes (AMQP 1.0 part 1, 1.6).
namespace code {
inline constexpr std::uint8_t described = 0x00, null = 0x40, boolean_true = 0x41,
                              boolean_false = 0x42, boolean = 0x56, ubyte = 0x50, ushort = 0x60,
                              uint = 0x70, small_uint = 0x52, uint0 = 0x43, ulong = 0x80,
                              small_ulong = 0x53, ulong0 = 0x44, byte = 0x51, short_ = 0x61,
                              int_ = 0x71, small_int = 0x54, long_ = 0x81, small_long = 0x55,
                              float_ = 0x72, double_ = 0x82, decimal32 = 0x74, decimal64 = 0x84,
                              decimal128 = 0x94, char_ = 0x73, timestamp = 0x83, uuid = 0x98,
                              binary8 = 0xa0, binary32 = 0xb0, string8 = 0xa1, string32 = 0xb1,
                              symbol8 = 0xa3, symbol32 = 0xb3, list0 = 0x45, list8 = 0xc0,
                              list32 = 0xd0, map8 = 0xc1, map32 = 0xd1, array8 = 0xe0,
                              array32 = 0xf0;
}  // namespace code

using Buffer = std::vector<std::byte>;
using Uuid = std::array<std::byte, 16>;

class Encoder {
public:
    explicit Encoder(Buffer& to) : to_(to) {}

    void null() { raw(code::null); }
    void boolean(bool value) { raw(value ? code::boolean_true : code::boolean_false); }
    void ubyte(std::uint8_t value);
    void ushort(std::uint16_t value);
    void uint(std::uint32_t value);
    void ulong(std::uint64_t value);
    void int_(std::int32_t value);
    void long_(std::int64_t value);
    void timestamp(std::int64_t unix_ms);
    void uuid(const Uuid& value);
    void binary(ByteView value);
    void string(std::string_view value);
    void symbol(std::string_view value);
    // An array of symbols or strings; each element with a 32-bit length.
    void symbols(const std::vector<std::string>& values);
    void strings(const std::vector<std::string>& values);

    // null if there is no value.
    template <typename T>
    void optional(const std::optional<T>& value, void (Encoder::*write)(T)) {
        value ? (this->*write)(*value) : null();
    }

    // The descriptor in its compact form; the described value follows.
    void descriptor(std::uint8_t value);

    // A list or map that is still open: its size and count are filled in by end().
    struct Open {
        std::size_t at;
    };
    Open begin_list() { return begin(code::list32); }
    Open begin_map() { return begin(code::map32); }
    // `count` is of elements; a pair of a map counts twice.
    void end(Open open, std::uint32_t count);

    void bytes(ByteView value) { to_.insert(to_.end(), value.begin(), value.end()); }
    Buffer& buffer() { return to_; }

private:
    void raw(std::uint8_t value) { to_.push_back(std::byte{value}); }
    template <typename T>
    void big_endian(T value);
    void variable(std::uint8_t short_code, std::uint8_t long_code, ByteView value);
    void text_array(std::uint8_t element_code, const std::vector<std::string>& values);
    Open begin(std::uint8_t format);

    Buffer& to_;
};

// NOLINTEND(readability-identifier-naming)

class Decoder {
public:
    explicit Decoder(ByteView bytes) : bytes_(bytes) {}

    bool failed() const { return failed_; }
    bool at_end() const { return failed_ || bytes_.empty(); }
    ByteView rest() const { return bytes_; }

    // The next value of that type; none if it is null, if the list has no more elements, or if the
    // decoder has failed. Another type is a failure.
    std::optional<bool> boolean();
    std::optional<std::uint8_t> ubyte();
    std::optional<std::uint16_t> ushort();
    std::optional<std::uint32_t> uint();
    std::optional<std::uint64_t> ulong();
    // Any integer type that fits; for properties whose type peers disagree about.
    std::optional<std::int64_t> integer();
    std::optional<ByteView> binary();
    std::optional<std::string_view> string();
    std::optional<std::string_view> symbol();
    // A symbol or a string, for keys that some peers write with the wrong type.
    std::optional<std::string_view> text();
    // The descriptor of a described value, whose value is next. A symbol that AMQP itself defines
    // gives its number, any other 0.
    std::optional<std::uint64_t> descriptor();

    // The elements of a list or map, as a decoder that ends where they do. Missing trailing
    // elements read as null. A pair of a map counts twice.
    std::optional<Decoder> list();
    std::optional<Decoder> map();
    // One symbol, or an array of them, 256 at most.
    std::vector<std::string_view> symbols();

    // The encoded bytes of the next value, whatever it is, which is passed over. Empty at the end.
    ByteView value();
    // The format code of the next value; code::null at the end of a list.
    std::uint8_t peek() const;
    // Elements that are left of a list or map.
    std::uint32_t remaining() const { return counted_ ? count_ : 0; }
    void fail() { failed_ = true; }

private:
    bool next(std::uint8_t& format);
    ByteView take(std::size_t size);
    template <typename T>
    T big_endian();
    std::optional<ByteView> variable(std::uint8_t short_code, std::uint8_t long_code);
    std::optional<Decoder> compound(std::uint8_t short_code, std::uint8_t long_code);

    ByteView bytes_;
    bool failed_ = false;
    bool counted_ = false;  // inside a list or map
    std::uint32_t count_ = 0;
};

// Size of the encoded value that begins `bytes`, descriptor included; 0 if it is malformed or not
// all there. Does not look inside compound values.
std::size_t encoded_bytes(ByteView bytes);

}  // namespace evenkeel::amqp
