// Byte streams between processes, without blocking. All calls and all callbacks are on the loop
// that the Network was made for.
//
//   io/system/network.h   TCP over Boost.Asio
//   io/sim/network.h      hosts in one process: delay, cut, freeze, reset, from one seed
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"

namespace evenkeel::io {

struct Endpoint {
    std::string host;  // a name or an address
    std::uint16_t port = 0;
    bool operator==(const Endpoint&) const = default;
};

// "localhost:5672", "[::1]:5672"
std::string to_string(const Endpoint& endpoint);
// Back; none without both parts, or if the port is not one.
std::optional<Endpoint> parse_endpoint(std::string_view text);
// True for addresses of this host that no other host reaches, and for "localhost".
bool is_loopback(std::string_view host);
// True for an IP address, as opposed to a name; without brackets.
bool is_address(std::string_view host);
// Whom an address belongs to: itself, or of IPv6 its network of 64 bits, "2001:db8:1:2::/64", for
// one customer has all of it. Anything else as it stands.
std::string network_of(std::string_view host);

class Socket {
public:
    // Closes; callbacks that have not run are dropped.
    virtual ~Socket() = default;

    // Reads at least one byte into `buffer`, which outlives the call; 0 means that the peer has
    // ended its side. One read at a time.
    virtual void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) = 0;
    // Writes all of `bytes`, which outlive the call. One write at a time.
    virtual void write(ByteView bytes, Callback<void(Result<>)> done) = 0;
    // Ends our side after what was written; the peer's may go on.
    virtual void finish() = 0;
    // Ends both sides at once. Pending calls end with `cancelled`. The peer reads 0, or fails with
    // `unavailable` if bytes were still under way.
    virtual void close() = 0;
    virtual Endpoint peer() const = 0;
};

class Listener {
public:
    // Stops listening; accepted sockets go on.
    virtual ~Listener() = default;
    // One accept at a time.
    virtual void accept(Callback<void(Result<std::unique_ptr<Socket>>)> done) = 0;
    // With the real port if 0 was asked for.
    virtual Endpoint local() const = 0;
};

class Network {
public:
    virtual ~Network() = default;
    // invalid_argument for a bad address, already_exists if the port is taken.
    virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint) = 0;
    // not_found if the name does not resolve, unavailable if nobody listens, timed_out.
    virtual void connect(const Endpoint& endpoint, Duration timeout,
                         Callback<void(Result<std::unique_ptr<Socket>>)> done) = 0;
};

}  // namespace evenkeel::io
