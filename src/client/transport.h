// One connected socket and the AMQP connection on it, seen from the client: reads, writes, keeps
// alive, and hands what happens to a link to whoever attached it. It never comes back; client/
// connection.h makes a new one.
// Threads: pinned to the loop.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "amqp/connection.h"
#include "base/task.h"
#include "client/failure.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::client {

// What happens to a link of ours. Calls may attach, detach and send.
class LinkEvents {
public:
    virtual ~LinkEvents() = default;
    // The hub has accepted it.
    virtual void on_attached(amqp::Link& link) = 0;
    virtual void on_delivery(amqp::Link&, const amqp::Delivery&) {}
    virtual void on_credit(amqp::Link&) {}
    virtual void on_disposition(amqp::Link&, const amqp::Disposition&) {}
    // It was refused or has ended, and was not detached by us.
    virtual void on_detached(const std::optional<amqp::Condition>& why) = 0;
};

class Transport final : public amqp::Handler {
public:
    struct Events {
        Task opened;
        // Once; the transport may be destroyed in it. Its links have heard of it before.
        Callback<void(const Failure&)> closed;
    };

    Transport(io::Loop& loop, std::unique_ptr<io::Socket> socket, amqp::ConnectionOptions options,
              Events events);
    ~Transport() override;

    void start();
    // False from the moment on at which links end.
    bool is_open() const { return opened_ && !closing_ && !connection_.is_closed(); }

    // In a session of its own, or in that of another link of ours.
    amqp::Link& attach(amqp::Attach attach, LinkEvents& events, amqp::Session* session = nullptr);
    // Nothing more is heard of it. Ends its session.
    void detach(amqp::Link& link);
    // Sends what is to be sent after the running task: many small changes share one write.
    void flush_soon();
    // Says good-bye; `closed` follows when the hub has answered, or soon.
    void close();
    // Ends here and now: nothing is heard of it any more. It may be destroyed in a later task.
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
    std::optional<io::TimerId> timer_;
    std::optional<io::TimerId> close_timer_;
    // Alive as long as the transport is; tasks that come back look at it first.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::client
