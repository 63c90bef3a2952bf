// An HTTP/1.1 server on sockets of any kind: requests to one handler, WebSockets to another.
//
// One request of a connection at a time; others wait in the socket. Slow clients do not stay: the
// head of a request must be complete within `head_time_max` of connecting or of its first byte, its
// body within `body_time_max` of the head, else the answer is 408; a response must be taken within
// `write_time_max`. When `connections_max` are there, one that waits for its next request makes
// room.
// Threads: pinned to the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/task.h"
#include "http/message.h"
#include "http/site.h"
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
    std::uint32_t connections_max = 1000;  // those beyond are closed at once
    Duration head_time_max = std::chrono::seconds(5);
    Duration body_time_max = std::chrono::seconds(10);
    Duration answer_time_max = std::chrono::seconds(60);  // then the answer is 504
    Duration write_time_max = std::chrono::seconds(10);
    Duration idle_time_max = std::chrono::seconds(30);  // between two requests
    // Where WebSockets are taken; a slash at the end of a request's path does not count.
    std::vector<std::string> websocket_paths = {"/$servicebus/websocket"};
    std::vector<std::string> subprotocols = {"AMQPWSB10", "amqp"};
    // Asked before every request and upgrade; none: any name and any page.
    std::optional<Site> site = {};
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
    // For requests from now on.
    void set_site(Site site) { options_.site = std::move(site); }
    std::size_t connection_count() const { return connections_.size(); }

private:
    friend class Connection;
    void accept(io::Listener& listener);
    void remove(std::uint64_t id);
    // Ends the connection that has waited longest for its next request; false if there is none.
    bool end_idle();

    io::Loop& loop_;
    ServerOptions options_;
    Handler handler_;
    WebSocketHandler on_websocket_;
    std::vector<std::unique_ptr<io::Listener>> listeners_;
    std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
    std::uint64_t last_id_ = 0;
    bool stopping_ = false;
    Task stopped_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::http
