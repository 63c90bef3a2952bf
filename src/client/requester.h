// Requests to a node of the hub ($cbs or $management) and their replies, over a pair of links of
// one transport. Threads: pinned to the loop.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/task.h"
#include "client/failure.h"
#include "client/requests.h"
#include "client/transport.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::client {

class Requester {
public:
    using Done = Callback<void(const Failure*, const NodeReply&)>;

    static constexpr std::size_t waiting_max = 1000;

    // Attaches immediately. `transport` outlives this and keeps the links.
    Requester(io::Loop& loop, Transport& transport, const std::string& address, Duration timeout);
    ~Requester();

    // `done` is called once, with a successful reply or with the failure; never after the
    // requester was destroyed.
    void ask(const NodeRequest& request, Done done);
    // The links are attached or attaching.
    bool is_usable() const { return !ended_; }

private:
    struct Half final : LinkEvents {
        explicit Half(Requester& to) : owner(to) {}
        void on_attached(amqp::Link& link) override { owner.attached(link); }
        void on_delivery(amqp::Link& link, const amqp::Delivery& delivery) override {
            owner.receive(link, delivery);
        }
        void on_credit(amqp::Link&) override { owner.send(); }
        void on_detached(const std::optional<amqp::Condition>& why) override { owner.end(why); }
        Requester& owner;
    };
    struct Waiting {
        Waiting(io::Loop& loop, Done answer) : done(std::move(answer)), timer(loop) {}
        Done done;
        io::Timer timer;
    };

    void attached(amqp::Link& link);
    void receive(amqp::Link& link, const amqp::Delivery& delivery);
    void send();
    void end(const std::optional<amqp::Condition>& why);
    void finish(std::uint64_t id, const Failure* failure, const NodeReply& reply);

    io::Loop& loop_;
    Transport& transport_;
    const std::string reply_to_;
    const Duration timeout_;
    Half sender_events_{*this};
    Half receiver_events_{*this};
    amqp::Link* sender_ = nullptr;
    bool receiver_attached_ = false;
    bool ended_ = false;
    std::uint64_t last_id_ = 0;
    std::deque<amqp::Buffer> to_send_;
    std::map<std::uint64_t, Waiting> waiting_;
};

}  // namespace evenkeel::client
