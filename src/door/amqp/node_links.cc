#include "door/amqp/node_links.h"

#include <utility>

#include "amqp/message.h"
#include "door/amqp/nodes.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;

}  // namespace

void Requests::on_delivery(const amqp::Delivery& delivery) {
    if (!delivery.settled) {
        link_.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
    }
    if (link_.granted() < credit / 2) link_.grant(credit);
    const auto request = amqp::decode_request(delivery.bytes);
    if (delivery.too_large || !request.ok()) {
        return host_.links().drop(
            link_, {std::string(amqp::condition::decode_error),
                    request.ok() ? "the request is too large" : request.error().detail});
    }
    nodes_.handle(node, link_, *request);
}

Replies::~Replies() {
    while (!waiting_.empty()) pop();
}

amqp::Buffer Replies::pop() {
    amqp::Buffer message = std::move(waiting_.front());
    waiting_.pop_front();
    nodes_.reply_sent(message.size());
    return message;
}

void Replies::on_credit() {
    // Settled if the client asked for it: some keep to the letter of what they asked.
    const bool settled = link_.peer().sender_settle == amqp::SenderSettle::settled;
    while (!waiting_.empty() && link_.can_send()) link_.send({}, pop(), 0, settled);
    if (link_.drain()) link_.drained();
}

void Replies::push(amqp::Buffer message) {
    if (waiting_.size() >= waiting_max) pop();  // a client that never reads them
    nodes_.reply_waits(message.size());
    waiting_.push_back(std::move(message));
    EK_CHECK(waiting_.size() <= waiting_max, "replies that wait are bounded");
    on_credit();
    if (nodes_.reply_bytes() > reply_bytes_max) {
        host_.close({std::string(amqp::condition::resource_limit),
                     "More replies wait for credit than a connection may have."});
    }
}

}  // namespace evenkeel::door
