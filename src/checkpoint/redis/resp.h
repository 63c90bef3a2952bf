// RESP3, the language of Redis 6 and later, without I/O: commands out, replies in. A reader takes
// bytes as they come and bounds what a reply may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::checkpoint {

struct RespValue {
    enum class Kind : std::uint8_t { null, text, error, integer, list, push };

    Kind kind = Kind::null;
    std::string text = {};     // of text and error; a double or big number as it was written
    std::int64_t integer = 0;  // also 0 or 1 of a boolean
    std::vector<RespValue> list = {};  // of list and push; a map has its keys and values in turn

    bool is_error() const { return kind == Kind::error; }
};

using RespCommand = std::vector<std::string>;
void append_command(std::string& output, const RespCommand& command);

class RespReader {
public:
    static constexpr std::size_t text_bytes_max = std::size_t{64} << 20;
    static constexpr std::size_t list_size_max = std::size_t{1} << 22;
    static constexpr int depth_max = 8;

    void receive(std::string_view bytes) { input_.append(bytes); }
    // The next reply, none if more bytes are needed. `corrupt` if this is not RESP; then it is
    // over.
    Result<std::optional<RespValue>> next();

private:
    struct Cursor;
    std::string input_;
    std::size_t begin_ = 0;         // of the next reply
    std::size_t needed_bytes_ = 0;  // with fewer the next reply cannot be whole
};

}  // namespace evenkeel::checkpoint
