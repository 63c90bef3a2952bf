#include "cli/remote/dialer.h"

#include <fmt/core.h>

#include "base/promise.h"
#include "client/transport.h"
#include "io/system/loop.h"
#include "io/system/network.h"
#include "io/tls.h"

namespace evenkeel::cli {
namespace {

Error on_the_way(const std::string& where, const Error& error) {
    if (error.code == ErrorCode::timed_out) {
        return {ErrorCode::timed_out, fmt::format("{} does not answer", where)};
    }
    if (error.code == ErrorCode::not_found) {
        return {ErrorCode::unavailable,
                fmt::format("the host name of {} cannot be resolved", where)};
    }
    // Of a refused connection it names the place itself.
    if (error.detail.starts_with("connect to")) return {ErrorCode::unavailable, error.detail};
    return {ErrorCode::unavailable, fmt::format("{}: {}", where, error.detail)};
}

}  // namespace

struct Dialer::State {
    explicit State(std::string pem) : ca_pem(std::move(pem)) { loop.start(); }
    ~State() {
        io::system::run_and_wait(loop, [this] { network.reset(); });
        loop.stop();
    }

    Result<std::unique_ptr<io::Socket>> connect(const io::Endpoint& endpoint, Duration timeout) {
        Promise<Result<std::unique_ptr<io::Socket>>> promise;
        loop.post([&] {
            network->connect(endpoint, timeout, [&](Result<std::unique_ptr<io::Socket>> socket) {
                promise.set(std::move(socket));
            });
        });
        return promise.wait();
    }

    const std::string ca_pem;
    io::system::LoopThread loop{"client/0"};
    std::unique_ptr<io::system::SystemNetwork> network =
        std::make_unique<io::system::SystemNetwork>(loop);
};

Dialer::Dialer(std::string ca_pem) : state_(std::make_unique<State>(std::move(ca_pem))) {}

Dialer::~Dialer() = default;

Result<> Dialer::reach(const io::Endpoint& endpoint, Duration timeout) {
    auto socket = state_->connect(endpoint, timeout);
    if (!socket.ok()) return on_the_way(io::to_string(endpoint), socket.error());
    io::system::run_and_wait(state_->loop, [&] { socket->reset(); });
    return {};
}

Result<eventhubs::Greeting> Dialer::greet(const client::ConnectionOptions& options,
                                          Duration timeout) {
    const io::Endpoint& endpoint = options.target.endpoint;
    const std::string where = io::to_string(endpoint);
    auto socket = state_->connect(endpoint, timeout);
    if (!socket.ok()) return on_the_way(where, socket.error());
    io::system::LoopThread& loop = state_->loop;
    Promise<Result<eventhubs::Greeting>> promise;
    std::optional<eventhubs::Greeting> greeting;
    std::unique_ptr<client::Transport> transport;
    std::optional<io::Timer> timer;
    loop.post([&] {
        if (options.wrap) *socket = options.wrap(loop, std::move(*socket), endpoint);
        amqp::ConnectionOptions open;
        open.is_server = false;
        open.container = options.name;
        open.hostname = endpoint.host;
        timer.emplace(loop);
        timer->run_after(timeout, [&] { promise.set(Error{ErrorCode::timed_out, ""}); });
        transport = std::make_unique<client::Transport>(
            loop, std::move(*socket), std::move(open),
            client::Transport::Events{
                [&] {
                    greeting = eventhubs::decode_greeting(transport->peer().properties);
                    transport->close();
                },
                [&](const client::Failure& why) {
                    greeting ? promise.set(*greeting) : promise.set(why.error);
                }});
        transport->start();
    });
    auto answer = promise.wait();
    io::system::run_and_wait(loop, [&] {
        timer.reset();
        transport->abandon();
    });
    io::system::run_and_wait(loop, [&] { transport.reset(); });
    if (!answer.ok()) return on_the_way(where, answer.error());
    return answer;
}

Result<http::ClientResponse> Dialer::ask(const http::Url& url, const http::ClientRequest& request,
                                         Duration timeout) {
    EK_TRY_ASSIGN(std::string wire, http::to_wire(request, url));
    std::shared_ptr<const io::TlsClientContext> tls;
    if (url.tls) {
        EK_TRY_ASSIGN(tls, io::TlsClientContext::make({state_->ca_pem, true}));
    }
    const std::string where = http::to_string(url);
    auto socket = state_->connect(url.endpoint, timeout);
    if (!socket.ok()) return on_the_way(where, socket.error());
    Promise<Result<http::ClientResponse>> promise;
    std::unique_ptr<http::Exchange> exchange;
    state_->loop.post([&] {
        if (tls)
            *socket = io::tls_client(state_->loop, std::move(*socket), *tls, url.endpoint.host);
        exchange = std::make_unique<http::Exchange>(
            state_->loop, std::move(*socket), std::move(wire), timeout,
            [&promise](Result<http::ClientResponse> answer) { promise.set(std::move(answer)); });
    });
    auto answer = promise.wait();
    io::system::run_and_wait(state_->loop, [&] { exchange.reset(); });
    if (!answer.ok()) return on_the_way(where, answer.error());
    return answer;
}

}  // namespace evenkeel::cli
