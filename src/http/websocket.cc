#include "http/websocket.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <openssl/evp.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "http/parser.h"

namespace evenkeel::http {

namespace {

enum class Role : unsigned char { server, client };

namespace opcode {
constexpr unsigned continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10;
}
namespace close_code {
constexpr unsigned normal = 1000, protocol_error = 1002, unsupported = 1003, too_big = 1009;
}

constexpr std::size_t control_bytes_max = 125;
constexpr std::string_view version = "13";

using Mask = std::array<std::byte, 4>;

std::string accept_of(std::string_view key) {
    const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<std::byte, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EK_CHECK(EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()),
                        &size, EVP_sha1(), nullptr) == 1,
             "OpenSSL knows SHA-1");
    return base64_encoded(ByteView(digest).first(size));
}

// 16 bytes in base64: 22 characters and "==".
bool is_key(std::string_view key) {
    return key.size() == 24 && key.ends_with("==") &&
           std::ranges::all_of(key.substr(0, 22), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '+' || c == '/';
           });
}

// `position` is that of the first byte within its frame.
void copy_masked(std::byte* to, ByteView from, const Mask& mask, std::uint64_t position) {
    std::array<std::byte, 8> turned{};
    for (std::size_t i = 0; i < turned.size(); ++i) turned[i] = mask[(position + i) % 4];
    const auto word = load<std::uint64_t>(turned.data());
    std::size_t i = 0;
    for (; i + 8 <= from.size(); i += 8) store(to + i, load<std::uint64_t>(from.data() + i) ^ word);
    for (; i < from.size(); ++i) to[i] = from[i] ^ turned[i % 8];
}

struct FrameHead {
    bool is_last = false;
    unsigned kind = 0;
    bool is_masked = false;
    Mask mask{};
    std::uint64_t size = 0;
    std::size_t head_bytes = 0;
};

struct Broken {
    unsigned code;
    const char* reason;
};

std::uint64_t big_endian(ByteView bytes) {
    std::uint64_t number = 0;
    for (const std::byte byte : bytes) number = number << 8 | std::to_integer<std::uint64_t>(byte);
    return number;
}

// Nothing if there is not all of it yet.
std::optional<FrameHead> parse_frame_head(ByteView bytes) {
    if (bytes.size() < 2) return std::nullopt;
    FrameHead head;
    head.is_last = (bytes[0] & std::byte{0x80}) != std::byte{0};
    head.kind = std::to_integer<unsigned>(bytes[0] & std::byte{0x7f});  // reserved bits included
    head.is_masked = (bytes[1] & std::byte{0x80}) != std::byte{0};
    head.size = std::to_integer<std::uint64_t>(bytes[1] & std::byte{0x7f});
    const std::size_t more = head.size == 126 ? 2 : head.size == 127 ? 8 : 0;
    head.head_bytes = 2 + more + (head.is_masked ? 4 : 0);
    if (bytes.size() < head.head_bytes) return std::nullopt;
    if (more > 0) {
        head.size = big_endian(bytes.subspan(2, more));
        const std::uint64_t smallest = more == 2 ? 126 : 0x10000;
        if (head.size < smallest) head.kind |= 0x70;  // not in its shortest form: broken too
    }
    if (head.is_masked) std::memcpy(head.mask.data(), bytes.data() + 2 + more, 4);
    return head;
}

class WebSocketLayer : public io::Layer {
public:
    explicit WebSocketLayer(Role role) : role_(role) {}

    bool is_ready() const override { return true; }
    bool has_begun() const override { return has_begun_; }

    Result<> receive(ByteView wire) override {
        input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(position_));
        position_ = 0;
        has_begun_ = has_begun_ || !wire.empty();
        input_.insert(input_.end(), wire.begin(), wire.end());
        return {};
    }

    Result<> receive_end() override {
        wire_ended_ = true;
        if (role_ == Role::server && !has_begun_) ended_ = true;
        if (ended_) return {};
        return Error{ErrorCode::unavailable, "WebSocket: the stream was cut off"};
    }

    Result<std::size_t> take(ByteSpan plain) override {
        while (!ended_) {
            if (payload_left_ > 0) return take_payload(plain);
            const auto head = parse_frame_head(rest());
            if (!head) return std::size_t{0};
            if (const auto broken = check(*head)) return fail(*broken);
            const bool is_control = head->kind >= opcode::close;
            if (is_control && rest().size() - head->head_bytes < head->size) return std::size_t{0};
            position_ += head->head_bytes;
            if (is_control) {
                if (const auto broken = receive_control(*head)) return fail(*broken);
            } else {
                in_message_ = !head->is_last;
                mask_ = head->mask;
                payload_left_ = head->size;
                payload_position_ = 0;
            }
        }
        return std::size_t{0};
    }

    bool has_ended() const override { return ended_; }

    Result<> send(ByteView plain) override {
        if (!plain.empty()) append_frame(opcode::binary, plain);
        return {};
    }

    void send_end() override { send_close(close_code::normal); }

    void take_output(std::vector<std::byte>& into) override {
        if (pong_ && !close_sent_) append_frame(opcode::pong, *pong_);
        pong_.reset();
        into.insert(into.end(), output_.begin(), output_.end());
        output_.clear();
        if (output_.capacity() > output_bytes_kept) output_ = {};
    }

    bool is_finished() const override { return close_sent_ && (ended_ || wire_ended_); }

protected:
    std::vector<std::byte>& output() { return output_; }

private:
    ByteView rest() const { return ByteView(input_).subspan(position_); }

    Result<std::size_t> take_payload(ByteSpan plain) {
        const auto size = static_cast<std::size_t>(
            std::min<std::uint64_t>({plain.size(), rest().size(), payload_left_}));
        copy_masked(plain.data(), rest().first(size), mask_, payload_position_);
        position_ += size;
        payload_position_ += size;
        payload_left_ -= size;
        return size;
    }

    std::optional<Broken> check(const FrameHead& head) const {
        using namespace opcode;
        if (head.is_masked != (role_ == Role::server)) {
            return Broken{close_code::protocol_error,
                          "frames from clients, and only they, are masked"};
        }
        if (head.kind == text) return Broken{close_code::unsupported, "text instead of bytes"};
        const bool is_control = head.kind >= close && head.kind <= pong;
        if (!is_control && head.kind != continuation && head.kind != binary) {
            return Broken{close_code::protocol_error, "frame of an unknown kind"};
        }
        if (is_control && (!head.is_last || head.size > control_bytes_max)) {
            return Broken{close_code::protocol_error, "control frame in parts"};
        }
        if (!is_control && (head.kind == continuation) != in_message_) {
            return Broken{close_code::protocol_error, "parts of messages out of order"};
        }
        if (head.size > frame_bytes_max) return Broken{close_code::too_big, "frame too large"};
        return std::nullopt;
    }

    std::optional<Broken> receive_control(const FrameHead& head) {
        const auto size = static_cast<std::size_t>(head.size);
        std::vector<std::byte> payload(size);
        copy_masked(payload.data(), rest().first(size), head.mask, 0);
        position_ += size;
        if (head.kind == opcode::ping) {
            pong_ = std::move(payload);
        } else if (head.kind == opcode::close) {
            if (size == 1) return Broken{close_code::protocol_error, "half a close code"};
            if (size >= 2) {
                const auto code = big_endian(ByteView(payload).first(2));
                if (code < 1000 || code >= 5000 || (code >= 1004 && code <= 1006)) {
                    return Broken{close_code::protocol_error, "close code that nobody may send"};
                }
            }
            ended_ = true;
            input_ = {};
            position_ = 0;
        }
        return std::nullopt;
    }

    Error fail(const Broken& broken) {
        send_close(broken.code);
        return {ErrorCode::invalid_argument, std::string("WebSocket: ") + broken.reason};
    }

    void send_close(unsigned code) {
        if (std::exchange(close_sent_, true)) return;
        const std::array<std::byte, 2> payload{static_cast<std::byte>(code >> 8),
                                               static_cast<std::byte>(code & 0xff)};
        append_frame(opcode::close, payload);
    }

    void append_frame(unsigned kind, ByteView payload) {
        std::array<std::byte, 14> head{};
        std::size_t size = 2;
        head[0] = static_cast<std::byte>(0x80 | kind);
        const std::size_t count = payload.size();
        const std::size_t more = count < 126 ? 0 : count < 0x10000 ? 2 : 8;
        head[1] = static_cast<std::byte>(more == 0 ? count : more == 2 ? 126 : 127);
        for (std::size_t i = 0; i < more; ++i) {
            head[size++] = static_cast<std::byte>(count >> 8 * (more - 1 - i) & 0xff);
        }
        Mask mask{};
        if (role_ == Role::client) {
            head[1] |= std::byte{0x80};
            secure_bytes(mask);
            std::ranges::copy(mask, head.begin() + static_cast<std::ptrdiff_t>(size));
            size += mask.size();
        }
        output_.insert(output_.end(), head.begin(),
                       head.begin() + static_cast<std::ptrdiff_t>(size));
        const std::size_t start = output_.size();
        output_.resize(start + count);
        copy_masked(output_.data() + start, payload, mask, 0);
    }

    static constexpr std::size_t output_bytes_kept = std::size_t{8} * 1024;

    const Role role_;
    std::vector<std::byte> input_;
    std::size_t position_ = 0;  // of what is not yet used in it
    std::uint64_t payload_left_ = 0;
    std::uint64_t payload_position_ = 0;
    Mask mask_{};
    bool has_begun_ = false;   // something came
    bool in_message_ = false;  // another part of it must follow
    bool ended_ = false;       // the peer said Close
    bool wire_ended_ = false;
    bool close_sent_ = false;
    std::optional<std::vector<std::byte>> pong_;
    std::vector<std::byte> output_;
};

// Asks for the upgrade first.
class WebSocketClientLayer final : public WebSocketLayer {
public:
    explicit WebSocketClientLayer(const WebSocketTarget& target)
        : WebSocketLayer(Role::client), subprotocol_(target.subprotocol) {
        std::array<std::byte, 16> nonce{};
        secure_bytes(nonce);
        key_ = base64_encoded(nonce);
        const std::string request =
            "GET " + target.path + " HTTP/1.1\r\nHost: " + target.host +
            "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: " +
            key_ +
            "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: " + target.subprotocol +
            "\r\n\r\n";
        const ByteView bytes = as_bytes(request);
        output().assign(bytes.begin(), bytes.end());
    }

    bool is_ready() const override { return ready_; }

    Result<> receive(ByteView wire) override {
        if (ready_) return WebSocketLayer::receive(wire);
        const std::size_t before = head_.size();
        head_ += as_text(wire);
        const std::size_t end = head_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
        if (end == std::string::npos) {
            if (head_.size() > head_bytes_max) return refused("answer too long");
            return {};
        }
        EK_TRY(check_answer(std::string_view(head_).substr(0, end + 2)));
        ready_ = true;
        head_ = {};
        return WebSocketLayer::receive(wire.subspan(end + 4 - before));
    }

    Result<> receive_end() override {
        if (ready_) return WebSocketLayer::receive_end();
        return Error{ErrorCode::unavailable, "WebSocket: the server left before it answered"};
    }

private:
    static Error refused(const std::string& why) {
        return {ErrorCode::invalid_argument, "WebSocket: " + why};
    }

    Result<> check_answer(std::string_view head) const {
        const std::size_t line_end = head.find("\r\n");
        const auto line = head.substr(0, line_end);
        if (!line.starts_with("HTTP/1.1 ") || line.size() < 12) return refused("no HTTP answer");
        if (line.substr(9, 3) != "101") {
            const ErrorCode code = line.substr(9, 3) == "404" ? ErrorCode::not_found
                                   : line[9] == '5'           ? ErrorCode::unavailable
                                                              : ErrorCode::invalid_argument;
            return Error{code, "WebSocket: the server answered " + std::string(line.substr(9))};
        }
        auto fields = parse_fields(head.substr(line_end + 2));
        if (!fields) return refused("answer that is not HTTP");
        Request answer;
        answer.fields = std::move(*fields);
        if (!has_word(answer.field("Upgrade"), "websocket") ||
            !has_word(answer.field("Connection"), "upgrade") ||
            answer.field("Sec-WebSocket-Accept") != accept_of(key_)) {
            return refused("answer to another request");
        }
        if (answer.field("Sec-WebSocket-Protocol") != subprotocol_ ||
            !answer.field("Sec-WebSocket-Extensions").empty()) {
            return refused("the server speaks another protocol");
        }
        return {};
    }

    const std::string subprotocol_;
    std::string key_;
    std::string head_;
    bool ready_ = false;
};

}  // namespace

bool is_upgrade(const Request& request) {
    return has_word(request.field("Upgrade"), "websocket");
}

UpgradeAnswer answer_upgrade(const Request& request, const std::vector<std::string>& subprotocols) {
    const auto refuse = [](int status, std::string_view code, std::string_view why) {
        return UpgradeAnswer{error_response(status, code, why), {}};
    };
    if (request.method != "GET" || !has_word(request.field("Connection"), "upgrade") ||
        !is_key(request.field("Sec-WebSocket-Key"))) {
        return refuse(400, "invalid_argument", "this is no upgrade to WebSocket");
    }
    if (request.field("Sec-WebSocket-Version") != version) {
        auto answer = refuse(426, "unsupported", "WebSocket of version 13 is spoken here");
        answer.response.fields.push_back({"Sec-WebSocket-Version", std::string(version)});
        return answer;
    }
    std::string offered = request.field("Sec-WebSocket-Protocol");
    while (!offered.empty()) {
        const std::size_t comma = std::min(offered.find(','), offered.size());
        const auto spoken =
            std::ranges::find(subprotocols, trimmed(std::string_view(offered).substr(0, comma)));
        if (spoken != subprotocols.end()) {
            return {
                {.status = 101,
                 .fields = {{"Upgrade", "websocket"},
                            {"Connection", "Upgrade"},
                            {"Sec-WebSocket-Accept", accept_of(request.field("Sec-WebSocket-Key"))},
                            {"Sec-WebSocket-Protocol", *spoken}}},
                *spoken};
        }
        offered.erase(0, comma + 1);
    }
    return refuse(400, "unsupported", "none of the subprotocols is spoken here");
}

std::unique_ptr<io::Socket> websocket_server(io::Loop& loop, std::unique_ptr<io::Socket> inner,
                                             ByteView received) {
    auto layer = websocket_server_layer();
    const auto kept = layer->receive(received);
    EK_CHECK(kept.ok(), "frames are looked at when they are taken");
    return io::layered(loop, std::move(inner), std::move(layer));
}

std::unique_ptr<io::Socket> websocket_client(io::Loop& loop, std::unique_ptr<io::Socket> inner,
                                             const WebSocketTarget& target) {
    return io::layered(loop, std::move(inner), websocket_client_layer(target));
}

std::unique_ptr<io::Layer> websocket_server_layer() {
    return std::make_unique<WebSocketLayer>(Role::server);
}

std::unique_ptr<io::Layer> websocket_client_layer(const WebSocketTarget& target) {
    return std::make_unique<WebSocketClientLayer>(target);
}

}  // namespace evenkeel::http
