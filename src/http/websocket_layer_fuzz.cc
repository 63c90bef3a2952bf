// WebSocket as server and as client with its writes, over a plain wire and over TLS:
// io/layer_fixture.h says what is played and checked.
#define OPENSSL_SUPPRESS_DEPRECATED  // chance that can be repeated has no newer interface
#include <array>
#include <string>

#include "http/websocket.h"
#include "io/tls_fixture.h"

namespace evenkeel::http {

namespace {

constexpr std::array<std::byte, 4> fuzz_mask{std::byte{1}, std::byte{2}, std::byte{3},
                                             std::byte{4}};

// The peer's WebSocket: the other side of the protocol, with frames that the script makes.
class Frames {
public:
    explicit Frames(bool as_client) : as_client_(as_client) {
        // Our client's layer begins with a request, which the server under test does not see; only
        // the frames behind it are used.
        if (!as_client) layer_ = websocket_server_layer();
    }

    // Returns the answer to a request that is complete; then `wire` goes on behind it.
    std::string answer(ByteView& wire) {
        if (as_client_ || answered_) return {};
        head_ += as_text(wire);
        wire = {};
        const std::size_t end = head_.find("\r\n\r\n");
        if (end == std::string::npos) return {};
        answered_ = true;
        const std::string name = "Sec-WebSocket-Key: ";
        const std::size_t at = head_.find(name);
        EK_CHECK(at != std::string::npos, "a request for an upgrade");
        Request request;
        request.method = "GET";
        request.fields = {{"Connection", "Upgrade"},
                          {"Upgrade", "websocket"},
                          {"Sec-WebSocket-Version", "13"},
                          {"Sec-WebSocket-Protocol", "AMQPWSB10"},
                          {"Sec-WebSocket-Key", head_.substr(at + name.size(), 24)}};
        std::string text = "HTTP/1.1 101 Switching Protocols\r\n";
        for (const auto& [field, value] : answer_upgrade(request, {"AMQPWSB10"}).response.fields) {
            text += field + ": " + value + "\r\n";
        }
        return text + "\r\n";
    }
    bool is_ready() const { return as_client_ || answered_; }

    // Plain bytes out of frames of the socket under test.
    std::vector<std::byte> decode(ByteView wire) {
        if (!as_client_) return decode_masked(wire);
        input_.insert(input_.end(), wire.begin(), wire.end());
        std::vector<std::byte> plain;
        while (input_.size() >= 2) {
            const auto kind = std::to_integer<unsigned>(input_[0]);
            std::size_t size = std::to_integer<std::size_t>(input_[1]);
            const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
            if (input_.size() < 2 + more) break;
            if (more > 0) size = 0;
            for (std::size_t i = 0; i < more; ++i) {
                size = size << 8 | std::to_integer<std::size_t>(input_[2 + i]);
            }
            EK_CHECK(kind == 0x82 || kind == 0x88 || kind == 0x8a, "whole frames of three kinds");
            EK_CHECK(size <= frame_bytes_max, "frames that fit");
            if (input_.size() < 2 + more + size) break;
            const auto begin = input_.begin() + static_cast<std::ptrdiff_t>(2 + more);
            const auto end = begin + static_cast<std::ptrdiff_t>(size);
            if (kind == 0x82) plain.insert(plain.end(), begin, end);
            input_.erase(input_.begin(), end);
        }
        return plain;
    }

    std::vector<std::byte> frame(unsigned first, ByteView payload, bool masked) const {
        std::vector<std::byte> made{static_cast<std::byte>(first)};
        const std::size_t size = payload.size();
        const std::byte bit = masked ? std::byte{0x80} : std::byte{0};
        if (size < 126) {
            made.push_back(static_cast<std::byte>(size) | bit);
        } else {
            const bool wide = size > 0xffff;
            made.push_back(static_cast<std::byte>(wide ? 127 : 126) | bit);
            for (int shift = wide ? 56 : 8; shift >= 0; shift -= 8) {
                made.push_back(static_cast<std::byte>(size >> shift & 0xff));
            }
        }
        if (masked) made.insert(made.end(), fuzz_mask.begin(), fuzz_mask.end());
        for (std::size_t i = 0; i < size; ++i) {
            made.push_back(masked ? payload[i] ^ fuzz_mask[i % 4] : payload[i]);
        }
        return made;
    }
    bool masks() const { return as_client_; }

private:
    std::vector<std::byte> decode_masked(ByteView wire) {
        std::vector<std::byte> all;
        std::vector<std::byte> some(4096);
        EK_CHECK(layer_->receive(wire).ok(), "frames are looked at when they are taken");
        while (true) {
            const auto size = layer_->take(some);
            EK_CHECK(size.ok(), "we write what we read");
            if (*size == 0) return all;
            all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(*size));
        }
    }

    const bool as_client_;
    std::unique_ptr<io::Layer> layer_;
    std::string head_;
    bool answered_ = false;
    std::vector<std::byte> input_;
};

// What the script makes of frames, over whatever carries them: `Base` has send_wire().
template <typename Base>
class WebSocketPeer final : public Base {
public:
    template <typename... Arguments>
    explicit WebSocketPeer(bool as_client, Arguments... arguments)
        : Base(arguments...), frames_(as_client) {}

    void step(Script& script) override {
        const std::uint8_t what = script.byte();
        if (what >= 0xe0) return Base::step(script);
        if (!frames_.is_ready()) return;
        switch (what % 8) {
            case 0: return send_data(script.byte());
            case 1: return send_data(std::size_t{256} * script.byte());
            case 2: honest_frame(0x89, script.bytes(script.byte() % 126)); return;
            case 3: honest_frame(0x8a, script.bytes(script.byte() % 126)); return;
            case 4: {
                const std::array<std::byte, 2> normal{std::byte{3}, std::byte{0xe8}};
                ended_ = honest_frame(0x88, normal);
                return;
            }
            case 5: {  // any kind, masked or not
                const std::uint8_t first = script.byte();
                this->honest_ = false;
                this->send_wire(frames_.frame(first, script.bytes(script.byte()),
                                              (what & 8) ? frames_.masks() : what & 16));
                return;
            }
            case 6: {  // sizes that are too large, or not in their shortest form
                this->honest_ = false;
                this->send_wire(script.bytes(2 + script.byte() % 14));
                return;
            }
            default:
                this->honest_ = false;
                this->send_wire(script.bytes(script.byte()));
                return;
        }
    }

protected:
    void plain(ByteView bytes) override {
        const std::string answer = frames_.answer(bytes);
        if (!answer.empty()) this->send_wire(as_bytes(answer));
        const auto decoded = frames_.decode(bytes);
        this->understood(decoded);
    }

private:
    void send_data(std::size_t size) {
        if (size == 0 || ended_) return;
        const auto bytes = io::fuzz_bytes(this->sent_, size);
        if (honest_frame(0x82, bytes)) this->sent_ += size;
    }
    // True if it could be sent.
    bool honest_frame(unsigned first, ByteView payload) {
        return this->send_wire(frames_.frame(first, payload, frames_.masks()));
    }

    Frames frames_;
    bool ended_ = false;
};

class PlainPeer : public io::FuzzPeer {
public:
    void receive(ByteView wire) override { plain(wire); }
    void step(Script& script) override { spoil(script); }

protected:
    virtual void plain(ByteView bytes) = 0;
    bool send_wire(ByteView bytes) {
        emit(bytes);
        return true;
    }
};

class PrivatePeer : public io::TlsPeer {
public:
    using TlsPeer::TlsPeer;

protected:
    bool send_wire(ByteView bytes) { return send_plain(bytes); }
    // The bytes of the pattern alone are no frame.
    void send(std::size_t size) override {
        honest_ = false;
        TlsPeer::send(size);
    }
};

}  // namespace

}  // namespace evenkeel::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::io;
    if (size < 2) return 0;
    repeat_openssl_chance();
    Script script(data, size);
    const std::uint8_t kind = script.byte();
    const bool as_server = kind % 2 == 0;
    const TlsSide ours = as_server ? TlsSide::server : TlsSide::client;
    const bool with_tls = kind & 2;
    const auto make = [&](Loop& loop, std::unique_ptr<Socket> inner) {
        if (with_tls) inner = fuzzed_tls(loop, std::move(inner), ours);
        return as_server ? http::websocket_server(loop, std::move(inner), {})
                         : http::websocket_client(loop, std::move(inner), {.host = "hub"});
    };
    if (with_tls) {
        http::WebSocketPeer<http::PrivatePeer> peer(as_server, opposite(ours));
        FuzzRun(script, peer, make).run();
    } else {
        http::WebSocketPeer<http::PlainPeer> peer(as_server);
        FuzzRun(script, peer, make).run();
    }
    return 0;
}
