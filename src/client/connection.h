// A client's connection to a hub, which reconnects after a loss:
//
//     idle ──wanted──▶ connecting ─▶ opening ─▶ authorizing ──▶ ready ──lost──▶ (pause) ─▶
//     connecting
//                                                                └─ renews its token before it ends
//
// Wanted links are attached when it is ready, and again after they were lost, as long as their
// owners want that. Requests to the hub's management node are retried in the same way.
//
// Invariants
//   CLIENT-5  One attempt to connect at a time, with growing pauses between failed ones.
//   CLIENT-6  What cannot succeed as asked is reported immediately and not retried.
//   CLIENT-7  After stop() has called `done`, no callback runs.
// Threads: pinned to the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/secret.h"
#include "client/failure.h"
#include "client/requester.h"
#include "client/transport.h"
#include "eventhubs/connection_string.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"

namespace evenkeel::client {

// Turns a connected socket into one that encrypts, or that speaks WebSocket.
using Wrap = std::function<std::unique_ptr<io::Socket>(io::Loop&, std::unique_ptr<io::Socket>,
                                                       const io::Endpoint&)>;

struct ConnectionOptions {
    eventhubs::Target target;
    std::string name;
    RetryOptions retry;
    std::chrono::seconds token_life{3600};
    Wrap wrap;  // empty: the socket as it is
    std::uint64_t seed = 1;
};

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

class Connection {
public:
    using Answered = Callback<void(Result<NodeReply>)>;

    // Both outlive the connection.
    Connection(io::Loop& loop, io::Network& network, ConnectionOptions options);
    ~Connection();

    // Attaches the link as soon as possible, unless that is under way. It outlives drop().
    void want(WantedLink& link);
    // Detaches it; no callback follows.
    void drop(WantedLink& link);
    // The link works: resets its count of failures.
    void progressed(WantedLink& link);
    void flush_soon();
    // The pause before retry number `retry` of anything.
    Duration retry_pause(std::uint32_t retry) {
        return retry_delay(options_.retry, retry, random_);
    }

    void read_event_hub(Answered done);
    void read_partition(std::uint32_t partition, Answered done);

    // Ends links and requests with `cancelled`, then closes the connection.
    void stop(Task done);

    io::Loop& loop() const { return loop_; }
    const ConnectionOptions& options() const { return options_; }
    // False once the hub closes the connection, though the transport may exist a little longer.
    bool is_ready() const { return live_ && ready_ && live_->transport->is_open(); }

private:
    class Entry;
    // One transport and what is made for it.
    struct Live {
        std::unique_ptr<Transport> transport;
        std::unique_ptr<Requester> cbs;
        std::unique_ptr<Requester> management;
        ~Live();
    };
    struct Question {
        Callback<NodeRequest(const Secret& token)> make;
        Answered done;
        std::uint32_t retries = 0;
        enum class State : std::uint8_t { waiting, asked, resting } state = State::waiting;
    };

    void advance();
    void connect();
    void start(std::unique_ptr<io::Socket> socket);
    void authorize();
    void authorized(const Secret& token, WallTime expires);
    void become_ready();
    // The attempt, or the connection that was ready, ends with this.
    void fail(const Failure& failure);
    void transport_closed(const Failure& why);
    void rest(const Failure& failure);
    void abandon_live();

    // connection_links.cc
    void attach(Entry& entry);
    void lose(Entry& entry, const Failure& failure);
    bool tell(Entry& entry, const Failure& failure);
    void lose_unattached(const Failure& failure);
    void lose_attached(const Failure& failure);
    void ask(Callback<NodeRequest(const Secret&)> make, Answered done);
    void ask_now(std::uint64_t id, Question& question);
    void question_failed(std::uint64_t id, const Failure& failure);
    bool is_needed() const;

    io::Loop& loop_;
    io::Network& network_;
    const ConnectionOptions options_;
    Random random_;
    std::unique_ptr<Live> live_;
    bool connecting_ = false;  // until there is a transport
    bool ready_ = false;
    bool authorizing_ = false;
    bool stopping_ = false;
    std::uint32_t failures_ = 0;  // in a row
    Instant not_before_;          // the next attempt
    std::uint64_t attempt_ = 0;   // answers to earlier ones are void
    io::Timer attempt_timer_{loop_};
    io::Timer pause_timer_{loop_};
    io::Timer renewal_timer_{loop_};
    Secret token_;
    std::map<WantedLink*, std::unique_ptr<Entry>> entries_;
    std::map<std::uint64_t, Question> questions_;
    std::uint64_t last_question_ = 0;
    Task stopped_;
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::client
