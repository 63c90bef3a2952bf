// What a Client is made of: a thread with a loop, a network on it, and the connection to the hub.
//
// Objects pinned to the loop are made and destroyed on it, by calls that wait. Producers and
// readers share it with their Client. close() closes the connection: then all that is asked of it
// answers `cancelled`. The thread ends with the last one that shares it.
#pragma once

#include <atomic>
#include <memory>

#include "client/connection.h"
#include "io/system/loop.h"
#include "io/system/network.h"
#include <evenkeel/client.h>

namespace evenkeel::client {

class Runtime {
public:
    explicit Runtime(ConnectionOptions options);
    ~Runtime();  // closes; not on the loop
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    // Not on the loop. A second call does nothing.
    void close();
    // Threads: any.
    bool is_closed() const { return is_closed_; }

    io::system::LoopThread& loop() { return loop_; }
    // Pinned to the loop.
    Connection& connection() { return *connection_; }
    const ConnectionOptions& options() const { return options_; }

private:
    const ConnectionOptions options_;
    io::system::LoopThread loop_{"client/0"};
    std::unique_ptr<io::system::SystemNetwork> network_;
    std::unique_ptr<Connection> connection_;
    std::atomic<bool> is_closed_ = false;
};

// What a Client shares with its producers and readers.
struct Access {
    static std::shared_ptr<Runtime> runtime(Client& client) { return client.runtime_; }
};

}  // namespace evenkeel::client
