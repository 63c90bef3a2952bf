// One client of a Server.
//
//     reading ──▶ answering ──▶ writing ──▶ reading, or lingering ──▶ gone
//                                      ├──▶ a WebSocket, handed over
//                                      └──▶ streaming ◀──▶ writing ──▶ lingering
// Threads: pinned to the loop.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "http/message.h"
#include "http/parser.h"
#include "http/server.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"

namespace evenkeel::http {

class Connection {
public:
    // `server` owns the connection.
    Connection(Server& server, std::uint64_t id, std::unique_ptr<io::Socket> socket);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void start();
    // Ends, after the answer that is due if there is one.
    void stop();
    // Waits for its next request, of which nothing has come.
    bool is_idle() const { return is_idle_; }
    Instant last_answer() const { return last_answer_; }

private:
    enum class State : std::uint8_t { reading, answering, writing, streaming, lingering, gone };

    void read_more();
    void received(Result<std::size_t> size);
    void parse();
    void receive_body();
    void handle();
    void upgrade(const Request& request);
    void respond(const Response& response);
    void write(std::string wire, Callback<void()> next);
    void stream_on();
    void watch_client();
    void next_request();
    void linger();
    void discard();
    void discarded(Result<std::size_t> size);
    void end();
    void set_deadline(Duration duration);
    void deadline_passed();

    Server& server_;
    const std::uint64_t id_;
    std::unique_ptr<io::Socket> socket_;
    io::Timer deadline_;
    State state_ = State::reading;
    RequestParser parser_;
    std::array<std::byte, 8192> buffer_;
    std::size_t begin_ = 0;  // of what is received and not yet parsed
    std::size_t end_ = 0;
    std::string wire_;  // what is being written
    std::uint64_t request_number_ = 0;
    bool is_idle_ = false;  // between two requests
    bool in_body_ = false;
    bool is_reading_ = false;  // for a request, maybe one that took too long
    Instant last_answer_;
    bool keeps_alive_ = true;
    bool is_head_ = false;
    bool is_http_1_0_ = false;
    std::size_t discarded_ = 0;
    std::shared_ptr<BodyStream> stream_;  // of the response that is being written
    Lifetime lifetime_;
};

}  // namespace evenkeel::http
