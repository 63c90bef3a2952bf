// An HTTP/1.1 server on sockets of any kind: requests to one handler, WebSockets to another.
//
// One request of a connection at a time; others wait in the socket. Slow clients do not stay: a
// request must be complete within `request_time_max`, a response be taken within `write_time_max`.
// Threads: pinned to the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "http/message.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::http {

class Connection;

// Answers once, now or later, on the loop. An answer after the client has gone is dropped.
using Handler = Callback<void(Request, Callback<void(Response)>)>;
// The path is percent-decoded and without a slash at its end.
using WebSocketHandler = Callback<void(const std::string& path, const std::string& subprotocol,
                                       std::unique_ptr<io::Socket>)>;

struct ServerOptions {
    std::uint32_t connections_max = 1000;                  // those beyond are closed at once
    Duration request_time_max = std::chrono::seconds(10);  // also from connecting to the first one
    Duration answer_time_max = std::chrono::seconds(60);   // then the answer is 504
    Duration write_time_max = std::chrono::seconds(10);
    Duration idle_time_max = std::chrono::seconds(30);  // between two requests
    // Where WebSockets are taken; a slash at the end of a request's path does not count.
    std::vector<std::string> websocket_paths = {"/$servicebus/websocket"};
    std::vector<std::string> subprotocols = {"AMQPWSB10", "amqp"};
};

class Server {
public:
    // Without `on_websocket` there are no WebSockets. `loop` outlives the server.
    Server(io::Loop& loop, ServerOptions options, Handler handler, WebSocketHandler on_websocket);
    // Closes all connections; WebSockets that were handed over go on.
    ~Server();

    // Takes all that the listener accepts.
    void serve(std::unique_ptr<io::Listener> listener);
    void add(std::unique_ptr<io::Socket> socket);
    // Listens no more, answers what was asked, closes; `done` runs when all are gone.
    void stop(Task done);
    std::size_t connection_count() const { return connections_.size(); }

private:
    friend class Connection;
    void accept(io::Listener& listener);
    void remove(std::uint64_t id);

    io::Loop& loop_;
    const ServerOptions options_;
    Handler handler_;
    WebSocketHandler on_websocket_;
    std::vector<std::unique_ptr<io::Listener>> listeners_;
    std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
    std::uint64_t last_id_ = 0;
    bool stopping_ = false;
    Task stopped_;
    const std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace evenkeel::http
