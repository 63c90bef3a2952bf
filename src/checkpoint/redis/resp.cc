#include "checkpoint/redis/resp.h"

#include <algorithm>

#include "base/number.h"

namespace evenkeel::checkpoint {

namespace {

Error not_resp(std::string_view what) {
    return {ErrorCode::corrupt, "this is no Redis server, or not in RESP: " + std::string(what)};
}

}  // namespace

void append_command(std::string& output, const RespCommand& command) {
    output += '*';
    output += std::to_string(command.size());
    output += "\r\n";
    for (const std::string& argument : command) {
        output += '$';
        output += std::to_string(argument.size());
        output += "\r\n";
        output += argument;
        output += "\r\n";
    }
}

// Where in the input we are; `is_short` once it has ended too early.
struct RespReader::Cursor {
    std::string_view input;
    std::size_t at;
    std::size_t needed = 0;
    bool is_short = false;

    // Without its end.
    std::string_view line() {
        const std::size_t end = input.find("\r\n", at);
        if (end == input.npos) {
            is_short = true;
            needed = input.size() + 1;
            return {};
        }
        const std::string_view text = input.substr(at, end - at);
        at = end + 2;
        return text;
    }

    Result<std::int64_t> number(std::string_view text) {
        const auto value = parse_number<std::int64_t>(text);
        if (!value) return not_resp("a number was expected");
        return *value;
    }

    Result<RespValue> text(std::string_view size_text) {
        EK_TRY_ASSIGN(const std::int64_t size, number(size_text));
        if (size == -1) return RespValue{};
        if (size < 0 || static_cast<std::size_t>(size) > text_bytes_max) {
            return not_resp("a text of that size");
        }
        const auto bytes = static_cast<std::size_t>(size);
        if (input.size() < at + bytes + 2) {
            is_short = true;
            needed = at + bytes + 2;
            return RespValue{};
        }
        RespValue value{.kind = RespValue::Kind::text,
                        .text = std::string(input.substr(at, bytes))};
        if (input.substr(at + bytes, 2) != "\r\n") return not_resp("a text without its end");
        at += bytes + 2;
        return value;
    }

    Result<RespValue> list(std::string_view size_text, std::size_t each, RespValue::Kind kind,
                           int depth) {
        EK_TRY_ASSIGN(const std::int64_t size, number(size_text));
        if (size == -1) return RespValue{};
        if (size < 0 || static_cast<std::size_t>(size) > list_size_max || depth >= depth_max) {
            return not_resp("a list of that size or depth");
        }
        RespValue value{.kind = kind};
        const std::size_t count = static_cast<std::size_t>(size) * each;
        value.list.reserve(std::min<std::size_t>(count, 1024));
        for (std::size_t i = 0; i < count; ++i) {
            EK_TRY_ASSIGN(RespValue element, next(depth + 1));
            if (is_short) return value;
            value.list.push_back(std::move(element));
        }
        return value;
    }

    Result<RespValue> next(int depth) {
        using Kind = RespValue::Kind;
        const std::string_view head = line();
        if (is_short) return RespValue{};
        if (head.empty()) return not_resp("an empty line");
        const std::string_view rest = head.substr(1);
        switch (head[0]) {
            case '+':
            case ',':
            case '(': return RespValue{.kind = Kind::text, .text = std::string(rest)};
            case '-': return RespValue{.kind = Kind::error, .text = std::string(rest)};
            case ':': {
                EK_TRY_ASSIGN(const std::int64_t value, number(rest));
                return RespValue{.kind = Kind::integer, .integer = value};
            }
            case '#': return RespValue{.kind = Kind::integer, .integer = rest == "t" ? 1 : 0};
            case '_': return RespValue{};
            case '$':
            case '=': return text(rest);
            case '!': {
                EK_TRY_ASSIGN(RespValue value, text(rest));
                value.kind = Kind::error;
                return value;
            }
            case '*':
            case '~': return list(rest, 1, Kind::list, depth);
            case '%': return list(rest, 2, Kind::list, depth);
            case '>': return list(rest, 1, Kind::push, depth);
            default: return not_resp("a reply of unknown kind");
        }
    }
};

Result<std::optional<RespValue>> RespReader::next() {
    if (input_.size() < needed_bytes_ || begin_ == input_.size()) {
        if (begin_ == input_.size()) {
            input_.clear();
            begin_ = needed_bytes_ = 0;
        }
        return std::optional<RespValue>();
    }
    Cursor cursor{input_, begin_};
    EK_TRY_ASSIGN(RespValue value, cursor.next(0));
    if (cursor.is_short) {
        // What was read goes, so that a long stream does not keep it all.
        input_.erase(0, begin_);
        needed_bytes_ = cursor.needed - begin_;
        begin_ = 0;
        if (input_.size() > 2 * text_bytes_max) return not_resp("a reply without an end");
        return std::optional<RespValue>();
    }
    begin_ = cursor.at;
    needed_bytes_ = 0;
    return std::optional<RespValue>(std::move(value));
}

}  // namespace evenkeel::checkpoint
