// TCP on a LoopThread. Sockets are IPv4 or IPv6, without delay for small writes, and are not
// inherited by programs we start. Of what is written to an accepted one whose peer does not read,
// the kernel takes 80 KiB at most; then the write waits.
//
// No callback runs inside the call that it was given to. Threads: pinned to the loop.
#pragma once

#include <memory>
#include <vector>

#include "io/socket.h"
#include "io/system/loop.h"

namespace evenkeel::io::system {

class SystemNetwork final : public Network {
public:
    // `loop` outlives the network and all its sockets.
    explicit SystemNetwork(LoopThread& loop) : loop_(loop) {}
    // Drops the callbacks of connects that have not ended; listeners and sockets go on.
    ~SystemNetwork() override;
    SystemNetwork(const SystemNetwork&) = delete;
    SystemNetwork& operator=(const SystemNetwork&) = delete;

    // The host is an address or "localhost", which is 127.0.0.1: a name would have to be resolved,
    // which blocks.
    Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint) override;
    // Tries the addresses of a name one after another, all within `timeout`.
    void connect(const Endpoint& endpoint, Duration timeout,
                 Callback<void(Result<std::unique_ptr<Socket>>)> done) override;

private:
    class Connecting;
    LoopThread& loop_;
    std::vector<std::weak_ptr<Connecting>> connecting_;
};

}  // namespace evenkeel::io::system
