#include "bench/peer.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/core.h>

#include "bench/bench.h"
#include "eventhubs/arrival.h"

namespace evenkeel::bench {
namespace {

constexpr std::size_t read_bytes_usual = std::size_t{128} << 10;
constexpr std::size_t read_bytes_small = 4096;

Error socket_error(std::string_view doing) {
    return {errno == EAGAIN ? ErrorCode::timed_out : ErrorCode::unavailable,
            fmt::format("{}: {}", doing, std::strerror(errno))};
}

}  // namespace

Result<BareSocket> BareSocket::connect(std::uint16_t port) {
    BareSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.descriptor_ < 0) return socket_error("make a socket");
    const int on = 1;
    const timeval patience{10, 0};
    setsockopt(socket.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket.descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket.descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.descriptor_, reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) != 0) {
        return socket_error("connect");
    }
    return socket;
}

BareSocket::~BareSocket() {
    if (descriptor_ >= 0) close(descriptor_);
}

Result<std::size_t> BareSocket::read(ByteSpan to) {
    const ssize_t got = recv(descriptor_, to.data(), to.size(), 0);
    if (got < 0) return socket_error("read");
    return static_cast<std::size_t>(got);
}

Result<> BareSocket::write(ByteView bytes) {
    while (!bytes.empty()) {
        const ssize_t put = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put < 0) return socket_error("write");
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
}

void BareSocket::shrink_receive_buffer() {
    const int bytes = 16 << 10;
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

Result<BareSource> BareSource::start(std::size_t write_bytes) {
    EK_TRY_ASSIGN(auto child,
                  cli::Child::start({"bare-child", "--bytes", std::to_string(write_bytes)}));
    const auto line = child.next_line();
    std::uint16_t port = 0;
    if (line) std::from_chars(line->data(), line->data() + line->size(), port);
    if (port == 0) return Error{ErrorCode::unavailable, "the bare socket's process did not start"};
    return BareSource(std::move(child), port);
}

Result<double> BareSource::bytes_per_second(Duration duration) {
    const SystemClock clock;
    EK_TRY_ASSIGN(auto socket, BareSocket::connect(port_));
    std::vector<std::byte> input(read_bytes_usual);
    std::uint64_t bytes = 0;
    const Instant start = clock.now();
    while (clock.now() - start < duration) {
        EK_TRY_ASSIGN(const std::size_t got, socket.read(input));
        if (got == 0) return Error{ErrorCode::unavailable, "the bare socket ended"};
        bytes += got;
    }
    return static_cast<double>(bytes) / std::chrono::duration<double>(clock.now() - start).count();
}

cli::ExitCode run_bare_child(const ChildOptions& options) {
    cli::live_with_parent();
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener, raw, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, raw, &size) != 0) {
        return cli::fail("cannot listen", socket_error("listen"));
    }
    fmt::print("{}\n", ntohs(address.sin_port));
    std::fflush(stdout);
    const std::vector<std::byte> bytes(options.bytes, std::byte{'b'});
    while (true) {  // the parent ends us
        const int socket = accept(listener, nullptr, nullptr);
        while (send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
        }
        close(socket);
    }
}

Peer::Peer(BareSocket socket, amqp::ConnectionOptions options, std::size_t read_bytes)
    : socket_(std::move(socket)),
      connection_(std::move(options), *this, clock_.now()),
      input_(read_bytes) {}

Peer::~Peer() = default;

Result<std::unique_ptr<Peer>> Peer::connect(std::uint16_t port, const Options& options) {
    EK_TRY_ASSIGN(auto socket, BareSocket::connect(port));
    if (options.small) socket.shrink_receive_buffer();
    amqp::ConnectionOptions engine;
    engine.is_server = false;
    engine.container = "bench";
    engine.hostname = "127.0.0.1";
    engine.session_window = options.window;
    engine.idle_timeout = std::chrono::milliseconds(0);
    if (!options.key.empty()) {
        engine.mechanism = "PLAIN";
        engine.response = std::string("\0bench\0", 7) + options.key;
    }
    std::unique_ptr<Peer> peer(new Peer(std::move(socket), std::move(engine),
                                        options.small ? read_bytes_small : read_bytes_usual));
    while (!peer->opened_) EK_TRY(peer->step());
    return peer;
}

Result<> Peer::flush() {
    connection_.take_output(output_);
    return socket_.write(output_);
}

Result<> Peer::step() {
    EK_TRY(flush());
    if (error_) return *error_;
    EK_TRY_ASSIGN(const std::size_t got, socket_.read(input_));
    if (got == 0) return Error{ErrorCode::unavailable, "the hub closed the connection"};
    received_bytes_ += got;
    connection_.receive(ByteView(input_).first(got), clock_.now());
    if (error_) return *error_;
    return {};
}

Result<amqp::Link*> Peer::attach(amqp::Attach attach, amqp::Session* session) {
    amqp::Link& link =
        connection_.attach(session ? *session : connection_.begin(), std::move(attach));
    while (!link.is_attached()) EK_TRY(step());
    return &link;
}

Result<amqp::Link*> Peer::attach_sender(const std::string& address) {
    amqp::Attach attach;
    attach.name = address;
    attach.role = amqp::Role::sender;
    attach.source = amqp::terminus(amqp::descriptor::source, "bench");
    attach.target = amqp::terminus(amqp::descriptor::target, address);
    EK_TRY_ASSIGN(amqp::Link* const link, this->attach(std::move(attach)));
    while (!link->can_send()) EK_TRY(step());
    return link;
}

Result<amqp::Link*> Peer::attach_receiver(const std::string& address, std::uint32_t credit) {
    amqp::Attach attach;
    attach.name = address;
    attach.role = amqp::Role::receiver;
    attach.sender_settle = amqp::SenderSettle::settled;
    attach.source = eventhubs::source_of(address, Position::earliest());
    attach.target = amqp::terminus(amqp::descriptor::target, "bench");
    EK_TRY_ASSIGN(amqp::Link* const link, this->attach(std::move(attach)));
    link->grant(credit);
    EK_TRY(flush());
    return link;
}

void Peer::on_attach(amqp::Link& link) {
    link.refuse({std::string(amqp::condition::not_allowed), "a client takes no links"});
}

void Peer::on_delivery(amqp::Link&, const amqp::Delivery& delivery) {
    if (delivered) delivered(delivery);
}

void Peer::on_disposition(amqp::Link&, const amqp::Disposition& disposition) {
    if (disposed) disposed(disposition);
}

void Peer::on_detach(amqp::Link&, const std::optional<amqp::Condition>& error) {
    error_ = Error{ErrorCode::unavailable,
                   error ? error->name + ": " + error->description : "the hub detached a link"};
}

void Peer::on_closed(const std::optional<amqp::Condition>& error) {
    if (error_) return;
    error_ = Error{ErrorCode::unavailable, error ? error->name + ": " + error->description
                                                 : "the hub closed the connection"};
}

}  // namespace evenkeel::bench
