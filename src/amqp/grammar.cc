#include "amqp/grammar.h"

#include <iterator>
#include <utility>

#include "amqp/performatives.h"
#include "base/utf8.h"

namespace evenkeel::amqp {
namespace {

// Walks over values. What returns false has met one that AMQP does not allow.
class Walk {
public:
    Walk(ByteView bytes, std::uint32_t& empty_elements_left)
        : at_(bytes.data()),
          end_(bytes.data() + bytes.size()),
          empty_elements_left_(empty_elements_left) {}

    bool at_end() const { return at_ == end_; }
    // The next value's format code; 0 at the end, which is no value's either.
    std::uint8_t peek() const { return at_ == end_ ? 0 : std::to_integer<std::uint8_t>(*at_); }

    bool value(int depth) {
        if (at_ == end_) return false;
        const std::uint8_t format = next();
        if (format == code::string8) return text(true);  // most are
        if (format != code::described) return content(format, depth);
        return depth < Grammar::nesting_max && value(depth + 1) && value(depth + 1);
    }

    // The head of a list or map, which must be all that is left.
    bool open(bool is_map, std::uint32_t& count) {
        if (at_ == end_) return false;
        const std::uint8_t format = next();
        count = 0;
        if (!is_map && format == code::list0) return at_ == end_;
        const bool is_small = format == (is_map ? code::map8 : code::list8);
        if (!is_small && format != (is_map ? code::map32 : code::list32)) return false;
        const std::byte* inner_end = nullptr;
        return head(is_small, inner_end, count) && inner_end == end_ &&
               count <= static_cast<std::size_t>(end_ - at_) && (!is_map || count % 2 == 0);
    }

private:
    std::uint8_t next() { return std::to_integer<std::uint8_t>(*at_++); }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    bool skip(std::size_t bytes) {
        if (left() < bytes) return false;
        at_ += bytes;
        return true;
    }

    // A length of one or four bytes.
    bool length(bool is_small, std::size_t& size) {
        if (is_small) {
            if (at_ == end_) return false;
            size = next();
            return true;
        }
        if (left() < 4) return false;
        size = __builtin_bswap32(load<std::uint32_t>(at_));
        at_ += 4;
        return true;
    }

    // Size and count of a list, map or array.
    bool head(bool is_small, const std::byte*& inner_end, std::uint32_t& count) {
        std::size_t size = 0;
        std::size_t elements = 0;
        if (!length(is_small, size) || size > left()) return false;
        inner_end = at_ + size;
        if (size < (is_small ? 1u : 4u) || !length(is_small, elements)) return false;
        count = static_cast<std::uint32_t>(elements);
        return true;
    }

    bool text(bool is_small) {
        std::size_t size = 0;
        if (!length(is_small, size) || size > left()) return false;
        const std::string_view characters(reinterpret_cast<const char*>(at_), size);
        at_ += size;
        return is_utf8(characters);
    }

    bool binary(bool is_small) {
        std::size_t size = 0;
        return length(is_small, size) && skip(size);
    }

    bool elements(bool is_small, bool is_map, int depth) {
        const std::byte* inner_end = nullptr;
        std::uint32_t count = 0;
        if (depth >= Grammar::nesting_max || !head(is_small, inner_end, count)) return false;
        if (is_map && count % 2 != 0) return false;
        const std::byte* const outer_end = std::exchange(end_, inner_end);
        for (; count > 0; --count) {
            if (!value(depth + 1)) return false;
        }
        end_ = outer_end;
        return at_ == inner_end;
    }

    // The constructor stands once, the elements' contents follow it.
    bool array(bool is_small, int depth) {
        const std::byte* inner_end = nullptr;
        std::uint32_t count = 0;
        if (depth >= Grammar::nesting_max || !head(is_small, inner_end, count)) return false;
        if (count == 0 && at_ == inner_end) return true;  // some leave the constructor out then
        const std::byte* const outer_end = std::exchange(end_, inner_end);
        std::uint8_t format = code::described;
        for (int i = depth; format == code::described; ++i) {
            if (at_ == end_ || i >= Grammar::nesting_max) return false;
            format = next();
            if (format == code::described && !value(i + 1)) return false;
        }
        if (format >> 4 == 0x4) {
            if (count > empty_elements_left_) return false;
            empty_elements_left_ -= count;
        }
        for (; count > 0; --count) {
            if (!content(format, depth + 1)) return false;
        }
        end_ = outer_end;
        return at_ == inner_end;
    }

    bool truth() { return at_ != end_ && next() <= 1; }

    bool character() {
        if (left() < 4) return false;
        const std::uint32_t number = __builtin_bswap32(load<std::uint32_t>(at_));
        at_ += 4;
        return number < 0xd800 || (number > 0xdfff && number <= 0x10ffff);
    }

    // What follows a format code.
    bool content(std::uint8_t format, int depth) {
        switch (format) {
            case code::null:
            case code::boolean_true:
            case code::boolean_false:
            case code::uint0:
            case code::ulong0:
            case code::list0: return true;
            case code::boolean: return truth();
            case code::ubyte:
            case code::byte:
            case code::small_uint:
            case code::small_ulong:
            case code::small_int:
            case code::small_long: return skip(1);
            case code::ushort:
            case code::short_: return skip(2);
            case code::uint:
            case code::int_:
            case code::float_:
            case code::decimal32: return skip(4);
            case code::char_: return character();
            case code::ulong:
            case code::long_:
            case code::double_:
            case code::timestamp:
            case code::decimal64: return skip(8);
            case code::decimal128:
            case code::uuid: return skip(16);
            case code::binary8:
            case code::binary32: return binary(format == code::binary8);
            case code::string8:
            case code::symbol8: return text(true);
            case code::string32:
            case code::symbol32: return text(false);
            case code::list8:
            case code::list32: return elements(format == code::list8, false, depth);
            case code::map8:
            case code::map32: return elements(format == code::map8, true, depth);
            case code::array8:
            case code::array32: return array(format == code::array8, depth);
            default: return false;
        }
    }

    const std::byte* at_;
    const std::byte* end_;
    std::uint32_t& empty_elements_left_;
};

bool is_string(std::uint8_t format) {
    return format == code::string8 || format == code::string32;
}
bool is_symbol(std::uint8_t format) {
    return format == code::symbol8 || format == code::symbol32;
}
bool is_binary(std::uint8_t format) {
    return format == code::binary8 || format == code::binary32;
}
bool is_ulong(std::uint8_t format) {
    return format == code::ulong || format == code::small_ulong || format == code::ulong0;
}
bool is_message_id(std::uint8_t format) {
    return is_ulong(format) || is_string(format) || is_binary(format) || format == code::uuid;
}
bool is_timestamp(std::uint8_t format) {
    return format == code::timestamp;
}
bool is_uint(std::uint8_t format) {
    return format == code::uint || format == code::small_uint || format == code::uint0;
}
// Names should be symbols; an SDK writes strings.
bool is_annotation_name(std::uint8_t format) {
    return is_symbol(format) || is_string(format) || is_ulong(format);
}

using IsType = bool (*)(std::uint8_t);

// message-id, user-id, to, subject, reply-to, correlation-id, content-type, content-encoding,
// absolute-expiry-time, creation-time, group-id, group-sequence, reply-to-group-id
constexpr IsType property_types[] = {
    is_message_id, is_binary,    is_string,    is_string, is_string, is_message_id, is_symbol,
    is_symbol,     is_timestamp, is_timestamp, is_string, is_uint,   is_string};

bool is_list(Walk& walk) {
    std::uint32_t count = 0;
    if (!walk.open(false, count)) return false;
    for (; count > 0; --count) {
        if (!walk.value(1)) return false;
    }
    return walk.at_end();
}

bool is_property_list(Walk& walk) {
    std::uint32_t count = 0;
    if (!walk.open(false, count) || count > std::size(property_types)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint8_t format = walk.peek();
        if (format != code::null && !property_types[i](format)) return false;
        if (!walk.value(1)) return false;
    }
    return walk.at_end();
}

bool is_map(Walk& walk, IsType is_name) {
    std::uint32_t count = 0;
    if (!walk.open(true, count)) return false;
    for (; count > 0; count -= 2) {
        if (!is_name(walk.peek()) || !walk.value(1) || !walk.value(1)) return false;
    }
    return walk.at_end();
}

}  // namespace

std::string_view Grammar::fault_of(const Section& section) {
    Walk walk(section.value, empty_elements_left_);
    const bool is_annotations = section.kind == descriptor::delivery_annotations ||
                                section.kind == descriptor::message_annotations;
    if (!is_annotations && section.value.size() == 1 && walk.peek() == code::null) return {};
    switch (section.kind) {
        case descriptor::header: return is_list(walk) ? "" : "the header is not a well-formed list";
        case descriptor::delivery_annotations:
        case descriptor::message_annotations:
            return is_map(walk, is_annotation_name) ? "" : "annotations are not a well-formed map";
        case descriptor::properties:
            return is_property_list(walk) ? "" : "properties are not a list of AMQP's fields";
        case descriptor::application_properties:
            return is_map(walk, is_string)
                       ? ""
                       : "application properties are not a well-formed map with names of text";
        case descriptor::data:
            return is_binary(walk.peek()) && walk.value(1) && walk.at_end()
                       ? ""
                       : "a data section is not binary";
        case descriptor::sequence:
            return is_list(walk) ? "" : "a sequence section is not a well-formed list";
        case descriptor::value:
            return walk.value(1) && walk.at_end() ? "" : "the value section is malformed";
        case descriptor::footer:
            return is_map(walk, is_annotation_name) ? "" : "the footer is not a well-formed map";
        default: return "the message has something that is no section";
    }
}

}  // namespace evenkeel::amqp
