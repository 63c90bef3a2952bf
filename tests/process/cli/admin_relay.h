// A server in front of a hub's admin interface that changes what it says: for commands that must
// not trust an answer. Threads: any; it has a loop of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "http/client.h"
#include "http/server.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::cli_tests {

class AdminRelay {
public:
    // Called for each answer, on the loop.
    using Change = std::function<void(const std::string& path, std::string& body)>;

    AdminRelay(std::uint16_t target, Change change) : target_(target), change_(std::move(change)) {
        auto listener = network_->listen({"127.0.0.1", 0});
        EK_CHECK(listener.ok(), "a relay can listen");
        port_ = (*listener)->local().port;
        server_->serve(std::move(*listener));
        loop_.start();
    }
    ~AdminRelay() {
        io::system::run_and_wait(loop_, [this] {
            exchanges_.clear();
            server_.reset();
            network_.reset();
        });
        loop_.stop();
    }
    AdminRelay(const AdminRelay&) = delete;
    AdminRelay& operator=(const AdminRelay&) = delete;

    std::string url() const { return fmt::format("http://localhost:{}", port_); }

private:
    static constexpr Duration timeout = std::chrono::seconds(10);

    void relay(http::Request request, Callback<void(http::Response)> done) {
        network_->connect(
            {"127.0.0.1", target_}, timeout,
            [this, request = std::move(request),
             done = std::move(done)](Result<std::unique_ptr<io::Socket>> socket) mutable {
                if (!socket.ok()) {
                    return done(http::error_response(502, "relay", socket.error().detail));
                }
                ask(std::move(*socket), std::move(request), std::move(done));
            });
    }
    void ask(std::unique_ptr<io::Socket> socket, http::Request request,
             Callback<void(http::Response)> done) {
        http::ClientRequest asked{request.method, request.path, {}, request.body};
        for (auto& field : request.fields) {
            if (field.name != "Host" && field.name != "Content-Length") {
                asked.fields.push_back(std::move(field));
            }
        }
        auto wire = http::to_wire(asked, {{"localhost", target_}});
        EK_CHECK(wire.ok(), "what came in one piece can be sent");
        exchanges_.push_back(std::make_unique<http::Exchange>(
            loop_, std::move(socket), std::move(*wire), timeout,
            [this, path = request.path,
             done = std::move(done)](Result<http::ClientResponse> answer) mutable {
                if (!answer.ok()) {
                    return done(http::error_response(502, "relay", answer.error().detail));
                }
                change_(path, answer->body);
                done({answer->status, std::move(answer->body)});
            }));
    }

    const std::uint16_t target_;
    const Change change_;
    std::uint16_t port_ = 0;
    io::system::LoopThread loop_{"relay"};
    std::unique_ptr<io::system::SystemNetwork> network_ =
        std::make_unique<io::system::SystemNetwork>(loop_);
    std::unique_ptr<http::Server> server_ = std::make_unique<http::Server>(
        loop_, http::ServerOptions(),
        [this](http::Request request, Callback<void(http::Response)> done) {
            relay(std::move(request), std::move(done));
        },
        nullptr);
    std::list<std::unique_ptr<http::Exchange>> exchanges_;  // until the end
};

}  // namespace evenkeel::cli_tests
