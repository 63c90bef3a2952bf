// Hosts with names in one process, and TCP-like streams between them, from the scheduler's seed.
//
//     host "a" ── delay ──▶ [at most 64 KiB on the way and unread] ──▶ host "b"
//                  cut, freeze: bytes wait     reset, crash: both sides learn of it
//
// Invariants
//   NET-1  Bytes of a stream arrive in order, each once, or the stream ends with `unavailable`.
//   NET-2  A write is accepted only as far as the stream has room; the rest waits for the reader.
//   NET-3  Nothing passes a cut or a frozen host. What waited passes after heal() or thaw().
//   NET-4  No callback runs inside the call that it was given to, nor on a host that has crashed.
// Reads return pieces of any size, drawn from the seed, so that framing is exercised.
// Threads: the scheduler's. Faults are called from tests or from the scheduler's own events.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "io/sim/scheduler.h"
#include "io/socket.h"

namespace evenkeel::io::sim {

class Wire;

class SimNetwork {
public:
    static constexpr std::size_t pipe_bytes_max = 64 * 1024;

    // `scheduler` outlives the network, and the network all sockets.
    explicit SimNetwork(Scheduler& scheduler);
    ~SimNetwork();
    SimNetwork(const SimNetwork&) = delete;
    SimNetwork& operator=(const SimNetwork&) = delete;

    // The network as seen by code on `loop` of that host, which is its name in an Endpoint; itself
    // it may also call localhost. Brings a new host up, or one that has crashed. Lives as long as
    // this network.
    Network& host(std::string_view name, SimLoop& loop);

    // How long one way takes, for all hosts or between two; at first 50 to 500 us.
    void set_delay(Duration min, Duration max);
    void set_delay(std::string_view a, std::string_view b, Duration min, Duration max);

    void cut(std::string_view a, std::string_view b);
    void cut_one_way(std::string_view from, std::string_view to);
    void heal(std::string_view a, std::string_view b);
    // Nothing reaches or leaves the host.
    void freeze(std::string_view host);
    void thaw(std::string_view host);
    // Ends all connections between the two, at once and even across a cut.
    void reset(std::string_view a, std::string_view b);
    // Its sockets and listeners vanish with their callbacks; peers learn of it after the delay. The
    // loop's tasks are another matter: SimLoop::discard().
    void crash(std::string_view host);

private:
    class HostNetwork;
    std::shared_ptr<Wire> wire_;
    std::vector<std::unique_ptr<HostNetwork>> networks_;
};

}  // namespace evenkeel::io::sim
