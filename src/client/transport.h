// One connected socket and the AMQP connection on it, on the client's side: reads, writes, sends
// keep-alives, and reports the events of a link to the object that attached it. It does not
// reconnect; client/connection.h makes a new one.
// Threads: pinned to the loop.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "amqp/connection.h"
#include "base/lifetime.h"
#include "base/task.h"
#include "client/failure.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"

namespace evenkeel::client {

// The events of a link that we attached. The callbacks may attach, detach and send.
class LinkEvents {
public:
    virtual ~LinkEvents() = default;
    // The hub has accepted it.
    virtual void on_attached(amqp::Link& link) = 0;
    virtual void on_delivery(amqp::Link&, const amqp::Delivery&) {}
    virtual void on_credit(amqp::Link&) {}
    virtual void on_disposition(amqp::Link&, const amqp::Disposition&) {}
    // The hub refused or ended the link; not called after our own detach.
    virtual void on_detached(const std::optional<amqp::Condition>& why) = 0;
};

class Transport final : public amqp::Handler {
public:
    struct Events {
        Task opened;
        // Called once, after on_detached() of its links. It may destroy the transport.
        Callback<void(const Failure&)> closed;
    };

    Transport(io::Loop& loop, std::unique_ptr<io::Socket> socket, amqp::ConnectionOptions options,
              Events events);
    ~Transport() override;

    void start();
    // What the hub said in its open.
    const amqp::Open& peer() const { return connection_.peer(); }
    // False once its links end.
    bool is_open() const { return opened_ && !closing_ && !connection_.is_closed(); }

    // In a session of its own, or in the session of another link.
    amqp::Link& attach(amqp::Attach attach, LinkEvents& events, amqp::Session* session = nullptr);
    // No callback follows. Ends its session.
    void detach(amqp::Link& link);
    // Writes the output after the running task, so that many small changes share one write.
    void flush_soon();
    // Closes the connection; `closed` is called when the hub has answered, or after a timeout.
    void close();
    // Closes the socket immediately. No callback follows; destroy it in a later task.
    void abandon();

    bool on_sasl(const amqp::SaslInit&) override { return false; }
    void on_open(const amqp::Open& open) override;
    void on_attach(amqp::Link& link) override;
    void on_attached(amqp::Link& link) override;
    void on_delivery(amqp::Link& link, const amqp::Delivery& delivery) override;
    void on_credit(amqp::Link& link) override;
    void on_disposition(amqp::Link& link, const amqp::Disposition& disposition) override;
    void on_detach(amqp::Link& link, const std::optional<amqp::Condition>& error) override;
    void on_closed(const std::optional<amqp::Condition>& error) override;

private:
    void read();
    void flush();
    void tick();
    void lose(const Error& why);
    void finish();

    io::Loop& loop_;
    std::unique_ptr<io::Socket> socket_;
    Events events_;
    amqp::Connection connection_;
    std::vector<std::byte> input_;
    amqp::Buffer sending_;
    bool opened_ = false;
    bool closing_ = false;
    bool writing_ = false;
    bool flush_posted_ = false;
    bool finished_ = false;
    bool abandoned_ = false;
    std::optional<Failure> why_;
    io::Timer timer_{loop_};
    io::Timer close_timer_{loop_};
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::client
