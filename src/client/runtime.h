// What a Client is made of: a thread with a loop, a network on it, and the connection to the hub.
//
// Objects pinned to the loop are made and destroyed on it, by calls that wait. Stopping: the
// connection is closed, then the thread ends; no callback runs after that.
#pragma once

#include <memory>

#include "client/connection.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::client {

class Runtime {
public:
    explicit Runtime(ConnectionOptions options);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    io::system::LoopThread& loop() { return loop_; }
    // Pinned to the loop.
    Connection& connection() { return *connection_; }
    const ConnectionOptions& options() const { return options_; }

private:
    const ConnectionOptions options_;
    io::system::LoopThread loop_{"client/0"};
    std::unique_ptr<io::system::SystemNetwork> network_;
    std::unique_ptr<Connection> connection_;
};

}  // namespace evenkeel::client
