#include "io/system/network.h"

#include <string>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "base/check.h"

namespace evenkeel::io::system {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

ErrorCode code_of(const error_code& error) {
    namespace e = asio::error;
    if (error == e::operation_aborted || error == e::bad_descriptor) return ErrorCode::cancelled;
    if (error == e::host_not_found || error == e::no_data) return ErrorCode::not_found;
    if (error == e::timed_out) return ErrorCode::timed_out;
    if (error == e::address_in_use) return ErrorCode::already_exists;
    if (error == e::no_descriptors || error == e::no_buffer_space || error == e::no_memory ||
        error == boost::system::errc::too_many_files_open_in_system) {
        return ErrorCode::overloaded;
    }
    if (error == e::access_denied || error == e::invalid_argument ||
        error == boost::system::errc::address_not_available) {
        return ErrorCode::invalid_argument;
    }
    if (error == e::address_family_not_supported) return ErrorCode::unsupported;
    return ErrorCode::unavailable;
}

Error error_of(const error_code& error, const std::string& doing) {
    return Error{code_of(error), doing + ": " + error.message()};
}

Endpoint endpoint_of(const tcp::endpoint& endpoint) {
    return {endpoint.address().to_string(), endpoint.port()};
}

void keep_from_children(int descriptor) {
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

// Clients that wait for an acknowledgement before they send the rest of a request (Nagle) would
// wait 40 ms for ours. The kernel takes this back by itself, so it is set again after each read.
void acknowledge_at_once(int descriptor) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

// A client that does not read holds what its own kernel took, and of ours no more than this and one
// packet (64 KiB): the rest waits where it can be had again. What is under way to a distant client
// and not yet acknowledged does not count, so a long way is filled as before.
constexpr int unsent_bytes_max = 16 << 10;

void bound_unsent(int descriptor) {
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes_max,
                 sizeof unsent_bytes_max);
}

// Asio's handlers hold what they work on, since they run after the owner may have gone; the one
// place where we share what changes. The owner empties the callbacks when it goes.
class TcpSocket final : public Socket {
public:
    TcpSocket(LoopThread& loop, tcp::socket socket)
        : loop_(loop), state_(std::make_shared<State>(std::move(socket))) {
        error_code ignored;  // the peer may be gone already, which the first read tells
        state_->socket.set_option(tcp::no_delay(true), ignored);
        state_->peer = endpoint_of(state_->socket.remote_endpoint(ignored));
        keep_from_children(state_->socket.native_handle());
        acknowledge_at_once(state_->socket.native_handle());
    }

    ~TcpSocket() override {
        loop_.check_here();
        const auto read_done = std::exchange(state_->read_done, nullptr);
        const auto write_done = std::exchange(state_->write_done, nullptr);
        end(*state_);
    }

    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
        loop_.check_here();
        EK_CHECK(!buffer.empty(), "read into nothing");
        EK_CHECK(!state_->read_done, "one read at a time");
        state_->read_done = std::move(done);
        state_->socket.async_read_some(
            asio::buffer(buffer.data(), buffer.size()),
            [state = state_](const error_code& error, std::size_t size) {
                if (!state->closed) acknowledge_at_once(state->socket.native_handle());
                if (auto callback = std::exchange(state->read_done, nullptr)) {
                    callback(read_result(*state, error, size));
                }
            });
    }

    void write(ByteView bytes, Callback<void(Result<>)> done) override {
        loop_.check_here();
        EK_CHECK(!state_->write_done, "one write at a time");
        state_->write_done = std::move(done);
        asio::async_write(state_->socket, asio::buffer(bytes.data(), bytes.size()),
                          [state = state_](const error_code& error, std::size_t) {
                              if (state->finishing) finish_now(*state);
                              if (auto callback = std::exchange(state->write_done, nullptr)) {
                                  callback(write_result(*state, error));
                              }
                          });
    }

    void finish() override {
        loop_.check_here();
        state_->finishing = true;
        if (!state_->write_done) finish_now(*state_);
    }

    void close() override {
        loop_.check_here();
        end(*state_);
    }

    Endpoint peer() const override { return state_->peer; }

private:
    struct State {
        explicit State(tcp::socket from) : socket(std::move(from)) {}

        tcp::socket socket;
        Endpoint peer;
        Callback<void(Result<std::size_t>)> read_done;
        Callback<void(Result<>)> write_done;
        bool finishing = false;  // our side ends after the write that is under way
        bool closed = false;
    };

    static void end(State& state) {
        state.closed = true;
        error_code ignored;  // it is closed either way
        state.socket.close(ignored);
    }

    static void finish_now(State& state) {
        error_code ignored;  // the peer may be gone, which the next read tells
        state.socket.shutdown(tcp::socket::shutdown_send, ignored);
    }

    static Error closed_error(const State& state) {
        return {ErrorCode::cancelled, to_string(state.peer) + " was closed here"};
    }

    static Result<std::size_t> read_result(const State& state, const error_code& error,
                                           std::size_t size) {
        if (state.closed) return closed_error(state);
        if (error == asio::error::eof) return std::size_t{0};
        if (error) return error_of(error, "read from " + to_string(state.peer));
        return size;
    }

    static Result<> write_result(const State& state, const error_code& error) {
        if (state.closed) return closed_error(state);
        if (error) return error_of(error, "write to " + to_string(state.peer));
        return {};
    }

    LoopThread& loop_;
    std::shared_ptr<State> state_;
};

class TcpListener final : public Listener {
public:
    TcpListener(LoopThread& loop, tcp::acceptor acceptor, Endpoint local)
        : loop_(loop),
          local_(std::move(local)),
          state_(std::make_shared<State>(std::move(acceptor))) {}

    ~TcpListener() override {
        loop_.check_here();
        const auto done = std::exchange(state_->done, nullptr);
        error_code ignored;  // it is closed either way
        state_->acceptor.close(ignored);
    }

    void accept(Callback<void(Result<std::unique_ptr<Socket>>)> done) override {
        loop_.check_here();
        EK_CHECK(!state_->done, "one accept at a time");
        state_->done = std::move(done);
        state_->acceptor.async_accept([&loop = loop_, state = state_](const error_code& error,
                                                                      tcp::socket socket) {
            auto callback = std::exchange(state->done, nullptr);
            if (!callback) return;
            if (error) {
                callback(error_of(error, "accept"));
            } else {
                bound_unsent(socket.native_handle());
                callback(
                    std::unique_ptr<Socket>(std::make_unique<TcpSocket>(loop, std::move(socket))));
            }
        });
    }

    Endpoint local() const override { return local_; }

private:
    struct State {
        explicit State(tcp::acceptor from) : acceptor(std::move(from)) {}

        tcp::acceptor acceptor;
        Callback<void(Result<std::unique_ptr<Socket>>)> done;
    };

    LoopThread& loop_;
    const Endpoint local_;
    std::shared_ptr<State> state_;
};

}  // namespace

// One connect: resolve, try each address, or give up when the time is over.
class SystemNetwork::Connecting : public std::enable_shared_from_this<Connecting> {
public:
    Connecting(LoopThread& loop, const Endpoint& endpoint,
               Callback<void(Result<std::unique_ptr<Socket>>)> done)
        : loop_(loop),
          doing_("connect to " + to_string(endpoint)),
          resolver_(loop.context()),
          socket_(loop.context()),
          done_(std::move(done)) {}

    void start(const Endpoint& endpoint, Duration timeout) {
        timer_ = loop_.run_after(timeout, [self = shared_from_this()] {
            self->end(Error{ErrorCode::timed_out, self->doing_ + ": no answer in time"});
        });
        error_code not_an_address;
        const auto address = asio::ip::make_address(endpoint.host, not_an_address);
        if (!not_an_address) {
            socket_.async_connect(
                tcp::endpoint(address, endpoint.port),
                [self = shared_from_this()](const error_code& error) { self->connected(error); });
            return;
        }
        resolver_.async_resolve(
            endpoint.host, std::to_string(endpoint.port), tcp::resolver::numeric_service,
            [self = shared_from_this()](const error_code& error,
                                        const tcp::resolver::results_type& found) {
                self->resolved(error, found);
            });
    }

    // The callback will not run.
    void abandon() {
        const auto dropped = std::exchange(done_, nullptr);
        stop();
    }

private:
    void resolved(const error_code& error, const tcp::resolver::results_type& found) {
        if (!done_) return;
        if (error) return end(error_of(error, doing_));
        asio::async_connect(
            socket_, found,
            [self = shared_from_this()](const error_code& failed, const tcp::endpoint&) {
                self->connected(failed);
            });
    }

    void connected(const error_code& error) {
        if (!done_) return;
        if (error) return end(error_of(error, doing_));
        end(std::unique_ptr<Socket>(std::make_unique<TcpSocket>(loop_, std::move(socket_))));
    }

    void end(Result<std::unique_ptr<Socket>> result) {
        auto done = std::exchange(done_, nullptr);
        stop();
        if (done) done(std::move(result));
    }

    void stop() {
        loop_.cancel(timer_);
        resolver_.cancel();
        error_code ignored;  // it is closed either way
        socket_.close(ignored);
    }

    LoopThread& loop_;
    const std::string doing_;
    tcp::resolver resolver_;
    tcp::socket socket_;
    TimerId timer_{};
    Callback<void(Result<std::unique_ptr<Socket>>)> done_;
};

SystemNetwork::~SystemNetwork() {
    loop_.check_here();
    for (const auto& weak : connecting_) {
        if (const auto connecting = weak.lock()) connecting->abandon();
    }
}

Result<std::unique_ptr<Listener>> SystemNetwork::listen(const Endpoint& endpoint) {
    loop_.check_here();
    const std::string doing = "listen on " + to_string(endpoint);
    error_code error;
    const auto address = asio::ip::make_address(
        endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host.c_str(), error);
    if (error) return Error{ErrorCode::invalid_argument, doing + ": not an address"};

    const tcp::endpoint wanted(address, endpoint.port);
    tcp::acceptor acceptor(loop_.context());
    acceptor.open(wanted.protocol(), error);
    if (error) return error_of(error, doing);
    keep_from_children(acceptor.native_handle());
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(wanted, error);
    if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
    if (error) return error_of(error, doing);
    const Endpoint local = endpoint_of(acceptor.local_endpoint(error));
    if (error) return error_of(error, doing);
    return std::unique_ptr<Listener>(
        std::make_unique<TcpListener>(loop_, std::move(acceptor), local));
}

void SystemNetwork::connect(const Endpoint& endpoint, Duration timeout,
                            Callback<void(Result<std::unique_ptr<Socket>>)> done) {
    loop_.check_here();
    std::erase_if(connecting_, [](const auto& weak) { return weak.expired(); });
    const auto connecting = std::make_shared<Connecting>(loop_, endpoint, std::move(done));
    connecting_.push_back(connecting);
    connecting->start(endpoint, timeout);
}

}  // namespace evenkeel::io::system
