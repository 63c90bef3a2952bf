// tidy: no test: tests/client tests it against a door
#include "client/requester.h"

namespace evenkeel::client {
namespace {

constexpr std::uint32_t reply_credit = 100;

}  // namespace

Requester::Requester(io::Loop& loop, Transport& transport, const std::string& address,
                     Duration timeout)
    : loop_(loop), transport_(transport), reply_to_("reply-to-" + address), timeout_(timeout) {
    amqp::Attach replies;
    replies.name = address + "-receiver";
    replies.role = amqp::Role::receiver;
    replies.source = amqp::terminus(amqp::descriptor::source, address);
    replies.target = amqp::terminus(amqp::descriptor::target, reply_to_);
    amqp::Link& receiver = transport_.attach(std::move(replies), receiver_events_);
    amqp::Attach requests;
    requests.name = address + "-sender";
    requests.role = amqp::Role::sender;
    requests.source = amqp::terminus(amqp::descriptor::source, reply_to_);
    requests.target = amqp::terminus(amqp::descriptor::target, address);
    transport_.attach(std::move(requests), sender_events_, &receiver.session());
}

Requester::~Requester() = default;

void Requester::ask(const NodeRequest& request, Done done) {
    static const NodeReply none;
    if (ended_ || waiting_.size() >= waiting_max) {
        const Failure failure{
            {ErrorCode::overloaded, "too many requests wait for the hub"}, true, {}};
        return done(&failure, none);
    }
    const std::uint64_t id = ++last_id_;
    to_send_.push_back(encode_request(request, id, reply_to_));
    Waiting& waiting = waiting_.try_emplace(id, loop_, std::move(done)).first->second;
    waiting.timer.run_after(timeout_, [this, id] {
        const Failure failure{{ErrorCode::timed_out, "the hub did not answer a request"}, true, {}};
        finish(id, &failure, none);
    });
    send();
}

void Requester::attached(amqp::Link& link) {
    if (link.role() == amqp::Role::receiver) {
        receiver_attached_ = true;
        link.grant(reply_credit);
    } else {
        sender_ = &link;
    }
    send();
}

void Requester::send() {
    if (!sender_ || !receiver_attached_) return;
    bool sent = false;
    while (!to_send_.empty() && sender_->can_send()) {
        sender_->send({}, to_send_.front(), 0, true);
        to_send_.pop_front();
        sent = true;
    }
    if (sent) transport_.flush_soon();
}

void Requester::receive(amqp::Link& link, const amqp::Delivery& delivery) {
    if (!delivery.settled) {
        link.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
    }
    if (link.granted() < reply_credit / 2) link.grant(reply_credit);
    const auto reply = decode_reply(delivery.bytes);
    if (!reply.ok()) return;  // its request ends by time
    if (reply->ok()) return finish(reply->id, nullptr, *reply);
    const Failure failure = failure_of_status(reply->status, reply->condition, reply->description);
    finish(reply->id, &failure, *reply);
}

void Requester::end(const std::optional<amqp::Condition>& why) {
    ended_ = true;
    sender_ = nullptr;
    to_send_.clear();
    const Failure failure = failure_of(why);
    while (!waiting_.empty()) finish(waiting_.begin()->first, &failure, {});
}

void Requester::finish(std::uint64_t id, const Failure* failure, const NodeReply& reply) {
    auto found = waiting_.extract(id);
    if (found.empty()) return;  // it had timed out
    found.mapped().timer.cancel();
    found.mapped().done(failure, reply);
}

}  // namespace evenkeel::client
