// A wanted link as its connection keeps it. Internal to client/connection.cc and its parts.
#pragma once

#include "client/connection.h"
#include "io/timer.h"

namespace evenkeel::client {

class Connection::Entry final : public LinkEvents {
public:
    enum class State : std::uint8_t {
        parked,     // until it is wanted again
        resting,    // until its pause is over
        waiting,    // for the connection
        attaching,  // the hub has not answered yet
        attached,
    };

    Entry(Connection& connection, WantedLink& owner)
        : timer(connection.loop_), connection_(connection), owner_(&owner) {}

    void on_attached(amqp::Link& attached) override {
        if (!owner_) return;
        timer.cancel();
        state = State::attached;
        attached_at = connection_.loop_.clock().now();
        owner_->on_attached(attached);
    }
    void on_delivery(amqp::Link&, const amqp::Delivery& delivery) override {
        if (owner_) owner_->on_delivery(delivery);
    }
    void on_credit(amqp::Link&) override {
        if (owner_) owner_->on_credit();
    }
    void on_disposition(amqp::Link&, const amqp::Disposition& disposition) override {
        if (owner_) owner_->on_disposition(disposition);
    }
    void on_detached(const std::optional<amqp::Condition>& why) override;

    WantedLink* owner() const { return owner_; }
    // Nothing reaches the owner any more.
    void disown() { owner_ = nullptr; }

    State state = State::parked;
    amqp::Link* link = nullptr;  // while attaching and attached
    std::uint32_t failures = 0;  // in a row
    Instant attached_at;
    io::Timer timer;

private:
    Connection& connection_;
    WantedLink* owner_;
};

}  // namespace evenkeel::client
