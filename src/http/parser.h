// HTTP/1.1 requests from bytes, without I/O, and strict: what two readers could understand in two
// ways is refused, since a proxy in front of us may be the other one: lines end with CR and LF, and
// one that does not is refused when its end is seen.
//
// Bounds: 16 KiB of head, 100 fields, 1 MiB of body, however it is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "http/message.h"

namespace evenkeel::http {

inline constexpr std::string_view head_end = "\r\n\r\n";
inline constexpr std::size_t head_bytes_max = std::size_t{16} * 1024;
inline constexpr std::size_t fields_max = 100;
inline constexpr std::size_t body_bytes_max = std::size_t{1} << 20;

// Why a request is not understood. Nothing after it can be, so the connection ends.
struct Refusal {
    int status = 400;
    std::string reason;
};

class RequestParser {
public:
    // Returns how many bytes it took: all of them, or those up to the end of the request.
    std::size_t receive(ByteView bytes);

    bool is_done() const { return state_ == State::done; }
    const std::optional<Refusal>& refusal() const { return refusal_; }
    // The client waits for a word from us before it sends the body.
    bool expects_continue() const { return expects_continue_ && state_ != State::done; }
    void continued() { expects_continue_ = false; }
    // The head is complete, and something must follow.
    bool in_body() const {
        return state_ != State::head && state_ != State::done && state_ != State::refused;
    }
    // Some of the request is here.
    bool has_begun() const { return state_ != State::head || !line_.empty(); }

    // What the head said, once is_done().
    bool keeps_alive() const { return keeps_alive_; }
    bool is_head() const { return is_head_; }
    bool is_http_1_0() const { return is_http_1_0_; }
    // The request, once is_done(); afterwards the next one may come.
    Request take();

private:
    enum class State : std::uint8_t {
        head,
        body,  // of a known length
        chunk_size,
        chunk,
        chunk_end,  // the line end behind a chunk
        trailer,
        done,
        refused,
    };

    std::size_t receive_head(std::string_view text);
    std::size_t receive_body(std::string_view text);
    std::size_t receive_line(std::string_view text);
    void end_line();
    void end_chunk_size();
    void end_head();
    bool parse_head(std::string_view head);
    bool parse_request_line(std::string_view line);
    bool parse_target(std::string_view target);
    bool parse_field(std::string_view line);
    bool decide_body();
    bool refuse(int status, std::string reason);

    State state_ = State::head;
    std::optional<Refusal> refusal_;
    std::string line_;  // the head, or a line among chunks, as far as it has come
    std::size_t trailer_bytes_ = 0;
    std::uint64_t body_left_ = 0;  // of the body, or of the chunk
    bool expects_continue_ = false;
    bool keeps_alive_ = true;
    bool is_head_ = false;
    bool is_http_1_0_ = false;
    Request request_;
};

// The lines of a head after the first one. Nothing if one of them is no field.
std::optional<std::vector<Field>> parse_fields(std::string_view lines);

}  // namespace evenkeel::http
