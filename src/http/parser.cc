#include "http/parser.h"

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "base/text.h"

namespace evenkeel::http {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t chunk_line_bytes_max = 256;
constexpr std::size_t trailer_bytes_max = std::size_t{4} * 1024;

bool is_token(std::string_view text) {
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               others.find(c) != std::string_view::npos;
    });
}

bool is_visible(char c) {
    return c > 0x20 && c < 0x7f;
}

// Spaces, tabs, visible characters, and those beyond ASCII.
bool is_value(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    });
}

bool has_binary(std::string_view text) {
    return std::ranges::any_of(text, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\r' && c != '\n' && c != '\t';
    });
}

// From there on, a line feed without its carriage return, or the other way round.
bool has_bare_line_end(std::string_view text, std::size_t from) {
    for (std::size_t i = from; i < text.size(); ++i) {
        const bool after_return = i > 0 && text[i - 1] == '\r';
        if ((text[i] == '\n') != after_return) return true;
    }
    return false;
}

std::optional<Field> field_of(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
    const auto value = trimmed(line.substr(colon + 1));
    if (!is_value(value)) return std::nullopt;
    return Field{std::string(line.substr(0, colon)), std::string(value)};
}

}  // namespace

std::size_t RequestParser::receive(ByteView bytes) {
    const std::string_view text = as_text(bytes);
    std::size_t taken = 0;
    while (taken < text.size() && state_ != State::done && state_ != State::refused) {
        const auto rest = text.substr(taken);
        switch (state_) {
            case State::head: taken += receive_head(rest); break;
            case State::body:
            case State::chunk: taken += receive_body(rest); break;
            case State::chunk_size:
            case State::chunk_end:
            case State::trailer: taken += receive_line(rest); break;
            case State::done:
            case State::refused: break;
        }
    }
    return taken;
}

Request RequestParser::take() {
    Request request = std::move(request_);
    *this = {};
    return request;
}

std::size_t RequestParser::receive_head(std::string_view text) {
    const std::size_t before = line_.size();
    const std::size_t room = head_bytes_max - before;
    line_ += text.substr(0, room);
    if (line_.starts_with(
            line_end)) {  // some clients send one after the body of the request before
        line_.clear();
        return line_end.size() - before;
    }
    const std::size_t end = line_.find(head_end, before < 3 ? 0 : before - 3);
    if (end == std::string::npos) {
        // TLS, AMQP and the like: no need to wait for the rest.
        if (has_binary(std::string_view(line_).substr(before))) refuse(400, "not HTTP");
        // A client that ends lines otherwise has nothing more to say after an empty one.
        if (has_bare_line_end(line_, before)) refuse(400, "line that does not end with CR and LF");
        if (line_.size() == head_bytes_max) refuse(431, "head of more than 16 KiB");
        return std::min(room, text.size());
    }
    line_.resize(end + line_end.size());
    end_head();
    return end + head_end.size() - before;
}

std::size_t RequestParser::receive_body(std::string_view text) {
    const std::size_t size = std::min<std::uint64_t>(text.size(), body_left_);
    request_.body += text.substr(0, size);
    body_left_ -= size;
    if (body_left_ == 0) state_ = state_ == State::chunk ? State::chunk_end : State::done;
    return size;
}

// A line of a chunked body.
std::size_t RequestParser::receive_line(std::string_view text) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    if (line_.size() + size > chunk_line_bytes_max) {
        refuse(400, "line of more than 256 bytes in a chunked body");
        return size;
    }
    line_ += text.substr(0, size);
    if (newline != std::string_view::npos) end_line();
    return size;
}

void RequestParser::end_line() {
    if (!line_.ends_with(line_end)) {
        refuse(400, "line without its end in a chunked body");
        return;
    }
    line_.resize(line_.size() - line_end.size());
    if (state_ == State::chunk_size) {
        end_chunk_size();
    } else if (state_ == State::chunk_end) {
        if (line_.empty()) {
            state_ = State::chunk_size;
        } else {
            refuse(400, "chunk that is longer than it said");
        }
    } else if (line_.empty()) {
        state_ = State::done;
    } else {
        // Trailers are read and forgotten: nothing of ours needs them.
        trailer_bytes_ += line_.size();
        if (trailer_bytes_ > trailer_bytes_max) refuse(431, "trailers of more than 4 KiB");
        if (!field_of(line_)) refuse(400, "trailer that is no field");
    }
    line_.clear();
}

void RequestParser::end_chunk_size() {
    const auto size_text = trimmed(std::string_view(line_).substr(0, line_.find(';')));
    const auto size = parse_number<std::uint64_t>(size_text, 16);
    if (!size || !is_value(line_)) {
        refuse(400, "chunk size that is no number");
    } else if (*size > body_bytes_max - request_.body.size()) {
        refuse(413, "body of more than 1 MiB");
    } else {
        body_left_ = *size;
        state_ = *size == 0 ? State::trailer : State::chunk;
    }
}

void RequestParser::end_head() {
    const std::string head = std::exchange(line_, {});
    if (parse_head(head)) decide_body();
}

bool RequestParser::parse_head(std::string_view head) {
    const std::size_t end = head.find(line_end);
    if (!parse_request_line(head.substr(0, end))) return false;
    auto fields = parse_fields(head.substr(end + line_end.size()));
    if (!fields) return refuse(400, "line that is no field");
    if (fields->size() > fields_max) return refuse(431, "more than 100 fields");
    request_.fields = std::move(*fields);
    const auto hosts = std::ranges::count_if(
        request_.fields, [](const Field& field) { return equal_without_case(field.name, "Host"); });
    if (hosts > 1 || (hosts == 0 && !is_http_1_0_)) return refuse(400, "not one Host");
    const std::string connection = request_.field("Connection");
    keeps_alive_ = !is_http_1_0_ && !has_word(connection, "close");
    return true;
}

bool RequestParser::parse_request_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return refuse(400, "no request line");
    const auto method = line.substr(0, first);
    const auto version = line.substr(last + 1);
    if (!is_token(method)) return refuse(400, "method that is no word");
    if (version.size() != 8 || !version.starts_with("HTTP/")) return refuse(400, "not HTTP");
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "HTTP/1.1 is spoken");
    is_http_1_0_ = version == "HTTP/1.0";
    is_head_ = method == "HEAD";
    request_.method = is_head_ ? "GET" : std::string(method);
    return parse_target(line.substr(first + 1, last - first - 1));
}

bool RequestParser::parse_target(std::string_view target) {
    if (target.empty() || !std::ranges::all_of(target, is_visible) ||
        target.find('#') != std::string_view::npos) {
        return refuse(400, "target that is no path");
    }
    // As a proxy is asked; whom it is for is the field Host's to say.
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        const std::size_t path = target.find('/', scheme.size());
        target = path == std::string_view::npos ? "/" : target.substr(path);
    }
    if (!target.starts_with('/') && target != "*") return refuse(400, "target that is no path");
    const std::size_t mark = std::min(target.find('?'), target.size());
    request_.path = target.substr(0, mark);
    request_.query = target.substr(std::min(mark + 1, target.size()));
    return true;
}

bool RequestParser::decide_body() {
    const auto count = [this](std::string_view name) {
        return std::ranges::count_if(request_.fields, [&](const Field& field) {
            return equal_without_case(field.name, name);
        });
    };
    const bool is_chunked = count("Transfer-Encoding") > 0;
    const bool has_length = count("Content-Length") > 0;
    const std::string expect = request_.field("Expect");
    if (!expect.empty() && !equal_without_case(expect, "100-continue")) {
        return refuse(417, "expectation that is not 100-continue");
    }
    if (is_chunked) {
        if (has_length || is_http_1_0_) return refuse(400, "two lengths of one body");
        if (!equal_without_case(request_.field("Transfer-Encoding"), "chunked")) {
            return refuse(501, "transfer encoding that is not chunked");
        }
        state_ = State::chunk_size;
    } else {
        const std::string text = request_.field("Content-Length");
        const auto length = has_length ? parse_number<std::uint64_t>(text, 10) : 0;
        if (count("Content-Length") > 1 || !length) return refuse(400, "length that is no number");
        if (*length > body_bytes_max) return refuse(413, "body of more than 1 MiB");
        body_left_ = *length;
        state_ = *length == 0 ? State::done : State::body;
    }
    expects_continue_ = !expect.empty() && !is_http_1_0_ && state_ != State::done;
    return true;
}

bool RequestParser::refuse(int status, std::string reason) {
    state_ = State::refused;
    if (!refusal_) refusal_ = Refusal{status, std::move(reason)};
    return false;
}

std::optional<std::vector<Field>> parse_fields(std::string_view lines) {
    std::vector<Field> fields;
    while (!lines.empty()) {
        const std::size_t end = lines.find(line_end);
        if (end == std::string_view::npos) return std::nullopt;
        auto field = field_of(lines.substr(0, end));
        if (!field) return std::nullopt;
        fields.push_back(std::move(*field));
        lines.remove_prefix(end + line_end.size());
    }
    return fields;
}

}  // namespace evenkeel::http
