// A client's connection to a hub, which reconnects after a loss:
//
//     idle ──wanted──▶ connecting ─▶ opening ─▶ authorizing ──▶ ready ──lost──▶ (pause) ─▶
//     connecting
//                                                                └─ renews its token before it ends
//
// A token is made with the key, is that of the connection string, or comes from the user's
// credential, which runs on a thread of its own (token/0).
//
// Wanted links (ConnectionLinks) are attached when it is ready, and again after they were lost.
// Questions to the hub's management node (Questions) are retried in the same way.
//
// Invariants (CLIENT-6 is in client/connection_links.h)
//   CLIENT-5  One attempt to connect at a time, with growing pauses between failed ones.
//   CLIENT-7  After stop() has called `done`, no callback runs.
// Ownership: owns the transport, one at a time, and what is made for it.
// Threads: pinned to the loop.
// Failure: links and questions hear of what concerns them; the connection itself tries again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/secret.h"
#include "client/connection_links.h"
#include "client/failure.h"
#include "client/questions.h"
#include "client/requester.h"
#include "client/transport.h"
#include "eventhubs/connection_string.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/system/loop.h"
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
    Credential credential;
    Wrap wrap;  // empty: the socket as it is
    std::uint64_t seed = 1;
};

class Connection {
public:
    using Answered = Questions::Answered;

    // Both outlive the connection.
    Connection(io::Loop& loop, io::Network& network, ConnectionOptions options);
    ~Connection();

    // Attaches the link as soon as possible, unless that is under way. It outlives drop().
    void want(WantedLink& link) { links_.want(link); }
    // Detaches it; no callback follows.
    void drop(WantedLink& link) { links_.drop(link); }
    // The link works: resets its count of failures.
    void progressed(WantedLink& link) { links_.progressed(link); }
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
    // One transport and what is made for it.
    struct Live {
        std::unique_ptr<Transport> transport;
        std::unique_ptr<Requester> cbs;
        std::unique_ptr<Requester> management;
        ~Live();
    };

    void advance();
    void connect();
    void start(std::unique_ptr<io::Socket> socket);
    void authorize();
    void ask_credential();
    void answer_credential(const Result<Token>& token);
    void show(const Secret& token, WallTime expires);
    void authorized(const Secret& token, WallTime expires);
    void renew_after(Duration pause);
    void become_ready();
    // The attempt, or the connection that was ready, ends with this.
    void fail(const Failure& failure);
    void transport_closed(const Failure& why);
    void rest(const Failure& failure);
    void abandon_live();

    void ask(Questions::Make make, Answered done);
    // For questions; made anew when its links have ended.
    Requester& management();
    void check_state() const;

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
    WallTime token_expires_;
    std::uint64_t asked_tokens_ = 0;     // answers to earlier questions are void
    std::uint32_t renewals_failed_ = 0;  // in a row
    ConnectionLinks links_;
    Questions questions_;
    Task stopped_;
    Lifetime lifetime_;
    // Runs the credential; none without one. Ends first, so that no answer meets what is gone.
    std::unique_ptr<io::system::WorkerThread> token_thread_;
};

}  // namespace evenkeel::client
