// What lies between simulated hosts: the wire, the connections on it, and those that wait to be
// accepted. Inside of io/sim/network.h, where the rules NET-1 to NET-4 are.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "io/sim/scheduler.h"
#include "io/socket.h"

namespace evenkeel::io::sim {

class Backlog;
class Connection;

using SocketCallback = Callback<void(Result<std::unique_ptr<Socket>>)>;

// The sides of a connection.
constexpr int connector = 0;
constexpr int acceptor = 1;

struct DelayRange {
    Duration min;
    Duration max;
};

// The hosts, what lies between them, and all connections.
class Wire : public std::enable_shared_from_this<Wire> {
public:
    struct Host {
        bool up = false;
        std::map<std::uint16_t, std::shared_ptr<Backlog>> listeners;
        std::uint16_t last_port = 0;  // that was given out
    };

    explicit Wire(Scheduler& scheduler_)
        : scheduler(scheduler_), random(scheduler_.fork_random()) {}

    // True if nothing passes that way now.
    bool holds(const std::string& from, const std::string& to) const;
    // When a message that is sent now arrives.
    Instant arrival(const std::string& from, const std::string& to);
    std::uint16_t free_port(Host& host);
    std::vector<std::shared_ptr<Connection>> live_connections();
    // After a cut was healed or a host thawed.
    void release_held();

    Scheduler& scheduler;
    Random random;
    DelayRange delay{std::chrono::microseconds(50), std::chrono::microseconds(500)};
    std::map<std::pair<std::string, std::string>, DelayRange> delays;
    std::set<std::pair<std::string, std::string>> cuts;
    std::set<std::string> frozen;
    std::map<std::string, Host> hosts;
    std::vector<std::weak_ptr<Connection>> connections;
};

// Two ends and what is on the way between them.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Wire& wire, Endpoint from, Endpoint to) : wire_(wire) {
        ends_[connector].self = std::move(from);
        ends_[acceptor].self = std::move(to);
    }

    const Endpoint& address(int side) const { return ends_[side].self; }
    void connect(SimLoop& loop, Duration timeout, SocketCallback done);
    // The connection waits in a backlog of that loop.
    void set_acceptor(SimLoop& loop) { ends_[acceptor].loop = &loop; }
    void read(int side, ByteSpan buffer, Callback<void(Result<std::size_t>)> done);
    void write(int side, ByteView bytes, Callback<void(Result<>)> done);
    void finish(int side);
    void close(int side);
    // The owner goes: its callbacks do not run.
    void abandon(int side);
    void reset();
    // The host has crashed.
    void lose(int side);
    void release_held();

private:
    enum class Kind {
        open,      // to the acceptor's host
        accepted,  // back
        refused,   // back
        data,
        consumed,  // back: the reader took `size` bytes, so there is room for more
        finished,  // no more data
        reset,
    };

    struct Message {
        Kind kind;
        std::vector<std::byte> bytes{};
        std::size_t size = 0;
        Instant arrives{};
    };

    // Why a connection gives errors from now on.
    enum class Broken { no, unknown_host, refused, timed_out, reset };

    // One side. `loop` is null before and after it has an owner.
    struct End {
        Endpoint self;
        SimLoop* loop = nullptr;

        SocketCallback connect_done;
        bool connect_posted = false;
        TimerId connect_timer{};

        ByteSpan read_buffer;
        Callback<void(Result<std::size_t>)> read_done;
        bool read_posted = false;
        std::deque<std::byte> received;
        bool peer_finished = false;

        ByteView write_rest;
        Callback<void(Result<>)> write_done;
        bool write_posted = false;
        std::size_t in_pipe = 0;  // sent, and not yet read by the peer
        bool finishing = false;   // ours ends after write_rest
        bool finish_sent = false;
        bool wrote_after_finish = false;

        Broken broken = Broken::no;
        bool closed = false;
    };

    void send(int from, Message message);
    void schedule_delivery(int from, Instant when);
    void deliver(int from);
    void receive(int to, Message& message);
    void open_arrived();
    void break_end(int side, Broken why);
    void pump(int side);
    void wake_connect();
    void wake_reader(int side);
    void wake_writer(int side);
    void end_connect();
    void end_read(int side);
    void end_write(int side);
    Error broken_error(int side) const;

    Wire& wire_;
    End ends_[2];
    std::deque<Message> on_the_way_[2];  // by sender; `arrives` never decreases
    Instant last_arrival_[2];
};

// Connections that wait for accept().
class Backlog : public std::enable_shared_from_this<Backlog> {
public:
    explicit Backlog(SimLoop& loop) : loop_(loop) {}

    // False if there is no room.
    bool add(std::shared_ptr<Connection> connection);
    void accept(SocketCallback done);
    void close();

private:
    void wake();
    void end_accept();

    SimLoop& loop_;
    std::deque<std::shared_ptr<Connection>> waiting_;
    SocketCallback done_;
    bool posted_ = false;
};

}  // namespace evenkeel::io::sim
