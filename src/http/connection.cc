// tidy: no test: server_test.cc talks to it
#include "http/connection.h"

#include <algorithm>
#include <utility>

#include "base/percent.h"
#include "http/body_stream.h"
#include "http/websocket.h"

namespace evenkeel::http {

namespace {

constexpr Duration linger_time_max = std::chrono::seconds(2);
constexpr std::size_t linger_bytes_max = std::size_t{2} << 20;

}  // namespace

Connection::Connection(Server& server, std::uint64_t id, std::unique_ptr<io::Socket> socket)
    : server_(server), id_(id), socket_(std::move(socket)), deadline_(server.loop_) {}

Connection::~Connection() = default;

void Connection::start() {
    set_deadline(server_.options_.head_time_max);
    read_more();
}

void Connection::stop() {
    keeps_alive_ = false;
    if (state_ == State::reading || state_ == State::lingering || stream_) end();
}

void Connection::read_more() {
    state_ = State::reading;
    is_reading_ = true;
    socket_->read(buffer_, [this](Result<std::size_t> size) { received(std::move(size)); });
}

void Connection::received(Result<std::size_t> size) {
    is_reading_ = false;
    if (state_ == State::gone || state_ == State::writing) return;  // it was too late
    if (state_ == State::lingering) return discarded(std::move(size));
    if (!size || *size == 0) return end();
    if (std::exchange(is_idle_, false)) set_deadline(server_.options_.head_time_max);
    begin_ = 0;
    end_ = *size;
    parse();
}

void Connection::parse() {
    begin_ += parser_.receive(ByteView(buffer_).subspan(begin_, end_ - begin_));
    if (const auto& refusal = parser_.refusal()) {
        keeps_alive_ = false;
        respond(error_response(refusal->status, "invalid_argument", refusal->reason));
    } else if (parser_.is_done()) {
        handle();
    } else if (parser_.in_body() && !std::exchange(in_body_, true)) {
        receive_body();
    } else {
        read_more();
    }
}

void Connection::receive_body() {
    if (!parser_.expects_continue()) {
        set_deadline(server_.options_.body_time_max);
        return read_more();
    }
    parser_.continued();
    write("HTTP/1.1 100 Continue\r\n\r\n", [this] {
        set_deadline(server_.options_.body_time_max);
        read_more();
    });
}

void Connection::handle() {
    in_body_ = false;
    keeps_alive_ = parser_.keeps_alive() && !server_.stopping_;
    is_head_ = parser_.is_head();
    is_http_1_0_ = parser_.is_http_1_0();
    Request request = parser_.take();
    request.peer = socket_->peer();
    if (const auto& site = server_.options_.site) {
        if (const auto refusal = site->refuse(request)) return respond(*refusal);
    }
    if (is_upgrade(request)) return upgrade(request);
    state_ = State::answering;
    set_deadline(server_.options_.answer_time_max);
    const std::uint64_t number = ++request_number_;
    server_.handler_(std::move(request), lifetime_.guard([this, number](const Response& response) {
        if (state_ != State::answering || number != request_number_) return;
        respond(response);
    }));
}

void Connection::upgrade(const Request& request) {
    std::string path = percent_decoded_strictly(request.path).value_or("");
    while (path.ends_with('/')) path.pop_back();
    const auto& paths = server_.options_.websocket_paths;
    if (!server_.on_websocket_ || std::ranges::find(paths, path) == paths.end()) {
        return respond(error_response(404, "not_found", "no WebSocket is taken here"));
    }
    auto answer = answer_upgrade(request, server_.options_.subprotocols);
    if (answer.response.status == 101 && is_http_1_0_) {
        answer.response = error_response(400, "invalid_argument", "HTTP/1.0 knows no upgrade");
    }
    if (answer.response.status != 101) return respond(answer.response);
    write(to_wire(answer.response, server_.loop_.clock().wall(), Body::left_out,
                  Afterwards::keep_alive),
          [this, path, subprotocol = answer.subprotocol] {
              auto socket = websocket_server(server_.loop_, std::move(socket_),
                                             ByteView(buffer_).subspan(begin_, end_ - begin_));
              Server& server = server_;
              end();
              server.on_websocket_(path, subprotocol, std::move(socket));
          });
}

void Connection::respond(const Response& response) {
    if (response.stream) {
        keeps_alive_ = false;
        if (is_http_1_0_) {
            return respond(error_response(505, "unsupported", "a stream needs HTTP/1.1"));
        }
        if (!is_head_) stream_ = response.stream;
    }
    write(to_wire(response, server_.loop_.clock().wall(), is_head_ ? Body::left_out : Body::sent,
                  keeps_alive_ ? Afterwards::keep_alive : Afterwards::close),
          [this] {
              if (stream_) {
                  watch_client();
                  stream_on();
              } else if (keeps_alive_) {
                  next_request();
              } else {
                  linger();
              }
          });
}

void Connection::stream_on() {
    state_ = State::streaming;
    deadline_.cancel();
    stream_->next(lifetime_.guard([this](const std::optional<std::string>& bytes) {
        if (state_ != State::streaming) return;
        if (!bytes) return write(chunk(""), [this] { linger(); });
        // An empty chunk would end the body.
        if (bytes->empty()) return stream_on();
        write(chunk(*bytes), [this] { stream_on(); });
    }));
}

// A client that leaves is noticed without waiting for something to be sent.
void Connection::watch_client() {
    is_reading_ = true;
    socket_->read(buffer_, [this](Result<std::size_t> size) {
        is_reading_ = false;
        if (state_ == State::gone) return;
        if (state_ == State::lingering) return discarded(std::move(size));
        if (!size || *size == 0) return end();
        discarded_ += *size;
        if (discarded_ > linger_bytes_max) return end();
        watch_client();
    });
}

void Connection::write(std::string wire, Callback<void()> next) {
    state_ = State::writing;
    set_deadline(server_.options_.write_time_max);
    wire_ = std::move(wire);
    socket_->write(as_bytes(wire_), [this, next = std::move(next)](const Result<>& done) mutable {
        if (state_ == State::gone) return;
        wire_ = {};
        if (!done) return end();
        next();
    });
}

void Connection::next_request() {
    is_idle_ = begin_ == end_;
    last_answer_ = server_.loop_.clock().now();
    set_deadline(is_idle_ ? server_.options_.idle_time_max : server_.options_.head_time_max);
    if (is_idle_) return read_more();
    parse();
}

// Closing at once, with bytes of the client unread, would reset the connection under the answer.
void Connection::linger() {
    state_ = State::lingering;
    set_deadline(linger_time_max);
    socket_->finish();
    if (!is_reading_) discard();
}

void Connection::discard() {
    socket_->read(buffer_, [this](Result<std::size_t> size) { discarded(std::move(size)); });
}

void Connection::discarded(Result<std::size_t> size) {
    if (state_ == State::gone) return;
    if (!size || *size == 0) return end();
    discarded_ += *size;
    if (discarded_ > linger_bytes_max) return end();
    discard();
}

void Connection::end() {
    state_ = State::gone;
    deadline_.cancel();
    if (socket_) socket_->close();
    server_.remove(id_);
}

void Connection::set_deadline(Duration duration) {
    deadline_.run_after(duration, [this] { deadline_passed(); });
}

void Connection::deadline_passed() {
    const bool is_late = state_ == State::reading && parser_.has_begun();
    if (state_ != State::answering && !is_late) return end();
    keeps_alive_ = false;
    if (is_late) return respond(error_response(408, "timed_out", "the request took too long"));
    respond(error_response(504, "timed_out", "the hub did not answer in time"));
}

}  // namespace evenkeel::http
