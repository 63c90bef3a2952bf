// A client for benchmarks: the AMQP engine on a plain blocking socket, and nothing else, so that
// what is measured is the hub. The client library has threads, queues and retries on top.
// Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amqp/connection.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/child.h"

namespace evenkeel::bench {

inline constexpr std::uint32_t without_end = 0x7fffffff;  // so much credit

// A connected socket with a time-out of ten seconds for each call. Closed at the end.
class BareSocket {
public:
    static Result<BareSocket> connect(std::uint16_t port);
    BareSocket(BareSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    BareSocket& operator=(BareSocket&&) = delete;
    ~BareSocket();

    Result<std::size_t> read(ByteSpan to);
    Result<> write(ByteView bytes);
    // Smaller than what the kernel gives by itself, for sockets that are not read.
    void shrink_receive_buffer();
    int descriptor() const { return descriptor_; }

private:
    explicit BareSocket(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

// In a process of its own: writes to each client without a limit, so many bytes at a time.
class BareSource {
public:
    static Result<BareSource> start(std::size_t write_bytes);
    // What comes through in about `duration`, read as a Peer reads.
    Result<double> bytes_per_second(Duration duration);

private:
    BareSource(cli::Child child, std::uint16_t port) : child_(std::move(child)), port_(port) {}
    cli::Child child_;
    std::uint16_t port_;
};

class Peer final : public amqp::Handler {
public:
    struct Options {
        std::string key;  // of the rule "bench": shown by SASL PLAIN; empty: ANONYMOUS
        std::uint32_t window = 5000;
        bool small = false;  // one of thousands
    };
    // Connected, let in, and with an open connection.
    static Result<std::unique_ptr<Peer>> connect(std::uint16_t port, const Options& options);
    ~Peer() override;

    // In a session of its own, or in that of another link.
    Result<amqp::Link*> attach(amqp::Attach attach, amqp::Session* session = nullptr);
    Result<amqp::Link*> attach_sender(const std::string& address);
    Result<amqp::Link*> attach_receiver(const std::string& address, std::uint32_t credit);

    // Writes what there is to write, then reads once.
    Result<> step();
    Result<> flush();
    amqp::Connection& connection() { return connection_; }
    std::uint64_t received_bytes() const { return received_bytes_; }

    std::function<void(const amqp::Delivery&)> delivered;
    std::function<void(const amqp::Disposition&)> disposed;

private:
    Peer(BareSocket socket, amqp::ConnectionOptions options, std::size_t read_bytes);

    bool on_sasl(const amqp::SaslInit&) override { return false; }
    void on_open(const amqp::Open&) override { opened_ = true; }
    void on_attach(amqp::Link& link) override;
    void on_delivery(amqp::Link& link, const amqp::Delivery& delivery) override;
    void on_credit(amqp::Link&) override {}
    void on_disposition(amqp::Link&, const amqp::Disposition& disposition) override;
    void on_detach(amqp::Link& link, const std::optional<amqp::Condition>& error) override;
    void on_closed(const std::optional<amqp::Condition>& error) override;

    const SystemClock clock_;
    BareSocket socket_;
    amqp::Connection connection_;
    std::vector<std::byte> input_;
    amqp::Buffer output_;
    std::uint64_t received_bytes_ = 0;
    bool opened_ = false;
    std::optional<Error> error_;
};

}  // namespace evenkeel::bench
