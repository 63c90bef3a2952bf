// The socket of one client: bytes in and out, and how much may wait in between.
//
//     socket ──▶ input ──▶ amqp::Connection ──▶ output ──▶ socket
//                                                 ▲ room(): links fill it with events
//
//     open ── all was sent, connection closed ──▶ half_closed ── close() ──▶ closed
//
// Nothing is read while too much waits for the client; links get no room while too much waits for
// the socket, or while a write is under way. A client that does not read holds 128 KiB at most.
// Ownership: owns the socket; loop, connection and owner outlive it.
// Threads: part of Peer, on the hub's loop.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "amqp/connection.h"
#include "base/lifetime.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::door {

class Wire {
public:
    class Owner {
    public:
        // False: what came already waits for the disk, or the connection is on its way out.
        virtual bool takes_input() const = 0;
        // The socket failed, or the client ended it.
        virtual void on_lost(std::string why) = 0;
        // All was sent, and the connection is closed: our side of the socket ends.
        virtual void on_all_sent() = 0;
        // There is room again for a link that waited for it.
        virtual void on_room(amqp::Link& link) = 0;

    protected:
        ~Owner() = default;
    };

    Wire(io::Loop& loop, std::unique_ptr<io::Socket> socket, amqp::Connection& connection,
         Owner& owner);

    // Reads on if the owner takes input.
    void read();
    void flush();
    // Sends what is to be sent after the running task: many small changes share one write.
    void flush_soon();
    void close();
    bool is_closed() const { return state_ == State::closed; }

    // Of events, in the output: so many bytes more.
    std::size_t room() const;
    bool has_room() const { return room() > 0; }
    // The client has read a good deal since it came, or last stood still.
    bool keeps_up() const;
    // Calls on_room() for the link when has_room() may hold again.
    void wait_for_room(amqp::Link& link);
    void forget(amqp::Link& link);
    void forget_all() { blocked_.clear(); }
    // Called about once a second. True if the client has taken nothing since the last call.
    bool check_stall();

private:
    enum class State { open, half_closed, closed };

    bool wants_input() const;
    void take_input(std::size_t bytes);
    void end_our_side();
    void give_room();
    void check_state() const;

    io::Loop& loop_;
    const std::unique_ptr<io::Socket> socket_;
    amqp::Connection& connection_;
    Owner& owner_;
    State state_ = State::open;
    bool reading_ = false;
    bool writing_ = false;
    bool flush_posted_ = false;
    std::vector<std::byte> input_;
    std::uint32_t small_reads_ = 0;  // in a row
    amqp::Buffer sending_;
    std::uint64_t writes_ = 0;          // begun
    std::uint64_t writes_at_tick_ = 0;  // of those, at the last check_stall()
    std::uint64_t taken_bytes_ = 0;     // by the kernel, since the client came or last stood still
    std::deque<amqp::Link*> blocked_;   // wait for room, the first first
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
