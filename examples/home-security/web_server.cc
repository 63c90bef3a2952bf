#include "web_server.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>

namespace homes {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t connections_max = 256;
constexpr std::uint32_t header_bytes_max = 8 * 1024;
constexpr std::uint64_t body_bytes_max = 1024;  // nobody needs to send one
constexpr std::chrono::seconds patience{15};    // for a request, and between two of them

// Scripts, styles and data from this server only; nothing else, and in nobody's frame.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Of a Host field, without the port: "localhost", "127.0.0.1:8090", "[::1]:8090".
bool is_host_known(std::string_view host, std::string_view name) {
    if (host.starts_with('[')) {
        host = host.substr(1, host.find(']') - 1);
    } else {
        host = host.substr(0, host.find(':'));
    }
    error_code error;
    asio::ip::make_address(host, error);
    return !error || beast::iequals(host, "localhost") ||
           (!name.empty() && beast::iequals(host, name));
}

// One connection. It keeps itself alive while something is under way.
class Session : public std::enable_shared_from_this<Session> {
public:
    Session(tcp::socket socket, const std::string& name, const WebHandler& handler,
            std::size_t& count)
        : stream_(std::move(socket)), name_(name), handler_(handler), count_(++count) {}
    ~Session() { --count_; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void read() {
        parser_.emplace();
        parser_->header_limit(header_bytes_max);
        parser_->body_limit(body_bytes_max);
        stream_.expires_after(patience);
        http::async_read(
            stream_, buffer_, *parser_,
            [self = shared_from_this()](error_code error, std::size_t) { self->on_read(error); });
    }

private:
    void on_read(error_code error) {
        if (error == http::error::end_of_stream) return;
        if (error && error.category() == make_error_code(http::error::bad_method).category()) {
            return answer({400, "text/plain; charset=utf-8", "This is not a request.\n"}, false);
        }
        if (error) return;  // gone, or too slow
        const auto& request = parser_->get();
        const bool is_head = request.method() == http::verb::head;
        const bool keeps = request.keep_alive();
        if (!is_head && request.method() != http::verb::get) {
            return answer({405, "text/plain; charset=utf-8", "Only GET is answered here.\n"},
                          false);
        }
        const auto host = request[http::field::host];
        if (!is_host_known({host.data(), host.size()}, name_)) {
            return answer({421, "text/plain; charset=utf-8", "This server has another name.\n"},
                          false);
        }
        const std::string target(request.target());
        answer(handler_(target.substr(0, target.find('?'))), keeps, is_head);
    }

    void answer(WebAnswer answer, bool keeps, bool is_head = false) {
        response_ = {};
        response_.version(11);
        response_.result(answer.status);
        response_.keep_alive(keeps);
        response_.set(http::field::content_type, answer.type);
        response_.set(http::field::cache_control, "no-store");
        response_.set("Content-Security-Policy", policy);
        response_.set("X-Content-Type-Options", "nosniff");
        response_.set("Referrer-Policy", "no-referrer");
        if (answer.status == 405) response_.set(http::field::allow, "GET, HEAD");
        const std::size_t size = answer.body.size();
        if (!is_head) response_.body() = std::move(answer.body);
        response_.content_length(size);
        stream_.expires_after(patience);
        http::async_write(stream_, response_,
                          [self = shared_from_this(), keeps](error_code error, std::size_t) {
                              if (!error && keeps) return self->read();
                              error_code ignored;
                              self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                          });
    }

    beast::tcp_stream stream_;
    const std::string& name_;
    const WebHandler& handler_;
    std::size_t& count_;
    beast::flat_buffer buffer_{header_bytes_max + body_bytes_max};
    std::optional<http::request_parser<http::string_body>> parser_;
    http::response<http::string_body> response_;
};

class Server final : public WebServer {
public:
    Server(std::string name, WebHandler handler)
        : name_(std::move(name)), handler_(std::move(handler)) {}

    error_code listen(const std::string& address, std::uint16_t port) {
        error_code error;
        const tcp::endpoint endpoint(asio::ip::make_address(address, error), port);
        if (!error) acceptor_.open(endpoint.protocol(), error);
        if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
        if (!error) acceptor_.bind(endpoint, error);
        if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
        return error;
    }

    std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

    void run() override {
        // There is nothing to finish: what was not answered is asked for again.
        for (const int number : {SIGINT, SIGTERM}) {
            std::signal(number, [](int) { std::_Exit(0); });
        }
        accept();
        context_.run();
    }

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            // One too many is closed at once: those who are here stay served.
            if (!error && count_ < connections_max) {
                std::make_shared<Session>(std::move(socket), name_, handler_, count_)->read();
            }
            if (error != asio::error::operation_aborted) accept();
        });
    }

    const std::string name_;
    const WebHandler handler_;
    std::size_t count_ = 0;  // of connections; outlives them
    asio::io_context context_{1};
    tcp::acceptor acceptor_{context_};
};

}  // namespace

evenkeel::Result<std::unique_ptr<WebServer>> WebServer::open(const std::string& address,
                                                             std::uint16_t port, std::string name,
                                                             WebHandler handler) {
    auto server = std::make_unique<Server>(std::move(name), std::move(handler));
    if (const error_code error = server->listen(address, port)) {
        return evenkeel::Error{
            evenkeel::ErrorCode::unavailable,
            "cannot listen on " + address + ":" + std::to_string(port) + ": " + error.message()};
    }
    return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace homes
