// The links that a client wants on its connection: attaches them when there is a transport, and
// again after they were lost, as long as their owners want that.
//
//     parked ──want──▶ waiting ─▶ attaching ─▶ attached ──lost──▶ resting ──pause──▶ waiting
//        ▲                                                  └─ not wanted any more ──┐
//        └───────────────────────────────────────────────────────────────────────────┘
//
// Invariants
//   CLIENT-6  What cannot succeed as asked is reported immediately and not retried.
// Ownership: owners outlive drop(); the transport is the connection's, which takes it away again.
// Threads: pinned to the loop.
// Failure: an owner hears of each loss, and says whether to try again.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/random.h"
#include "base/task.h"
#include "client/failure.h"
#include "client/transport.h"
#include "io/loop.h"

namespace evenkeel::client {

// A link that its owner wants attached.
class WantedLink {
public:
    virtual ~WantedLink() = default;
    // How to attach now; asked before each attempt.
    virtual amqp::Attach attach() = 0;
    // Good until on_lost().
    virtual void on_attached(amqp::Link& link) = 0;
    virtual void on_delivery(const amqp::Delivery&) {}
    virtual void on_credit() {}
    virtual void on_disposition(const amqp::Disposition&) {}
    // The link, or an attempt to attach it, failed; `failures` times in a row now. True: try again
    // after a pause, if that may help; false: not before it is wanted again.
    virtual bool on_lost(const Failure& failure, std::uint32_t failures) = 0;
};

class ConnectionLinks {
public:
    struct Events {
        Task waiting;       // a link waits for the connection, perhaps again
        Task unauthorized;  // the hub ended a link because the token has ended
    };

    // All outlive it.
    ConnectionLinks(io::Loop& loop, const RetryOptions& retry, Random& random, Events events);
    ~ConnectionLinks();

    // What links are attached on; null: nothing, until there is another one.
    void set_transport(Transport* transport) { transport_ = transport; }

    void want(WantedLink& link);
    // Detaches it; no callback follows.
    void drop(WantedLink& link);
    // The link works: resets its count of failures.
    void progressed(WantedLink& link);

    bool has_waiting() const;
    void attach_waiting();
    // The connection could not be made: those that wait for it hear of it, and wait on if they
    // like.
    void lose_waiting(const Failure& failure);
    // The connection is gone, and its links with it.
    void lose_attached(const Failure& failure);
    // For good: those that rest hear of it too, and each one that is wanted from now on.
    void end(const Failure& failure);

private:
    class Entry;

    void attach(Entry& entry);
    void lose(Entry& entry, const Failure& failure);
    bool tell(Entry& entry, const Failure& failure);

    io::Loop& loop_;
    const RetryOptions& retry_;
    Random& random_;
    Events events_;
    Transport* transport_ = nullptr;
    std::optional<Failure> ended_;
    std::map<WantedLink*, std::unique_ptr<Entry>> entries_;
};

}  // namespace evenkeel::client
