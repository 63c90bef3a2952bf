#include "door/links.h"

#include <fmt/core.h>

#include "amqp/message.h"
#include "door/conditions.h"
#include "door/peer.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t cold_read_bytes = std::size_t{64} << 10;

}  // namespace

void Requests::on_delivery(const amqp::Delivery& delivery) {
    if (!delivery.settled) {
        link_.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
    }
    if (link_.granted() < 50) link_.grant(100);
    const auto request = amqp::decode_request(delivery.bytes);
    if (delivery.too_large || !request.ok()) {
        return peer_.drop(link_,
                          {std::string(amqp::condition::decode_error),
                           request.ok() ? "the request is too large" : request.error().detail});
    }
    node_ == Address::Kind::cbs ? peer_.handle_cbs(link_, *request)
                                : peer_.handle_management(link_, *request);
}

void Replies::on_credit() {
    while (!waiting_.empty() && link_.can_send()) {
        const amqp::Buffer message = std::move(waiting_.front());
        waiting_.pop_front();
        link_.send({}, message, 0, false);
    }
    if (link_.drain()) link_.drained();
}

void Replies::push(amqp::Buffer message) {
    if (waiting_.size() >= waiting_max) waiting_.pop_front();  // a client that never reads them
    waiting_.push_back(std::move(message));
    on_credit();
}

void Ingest::on_delivery(const amqp::Delivery& delivery) {
    if (link_.granted() < credit / 2) link_.grant(credit);
    if (delivery.too_large) {
        return reject(delivery,
                      {std::string(amqp::condition::message_size),
                       fmt::format("The received message (delivery-id:{}, size:{} bytes) exceeds "
                                   "the limit ({} bytes) currently allowed on the link.",
                                   delivery.id, delivery.size, peer_.context_.message_bytes_max)});
    }
    append(delivery);
}

void Ingest::append(const amqp::Delivery& delivery) {
    Incoming& incoming = peer_.incoming_;
    if (const auto decoded = incoming.decode(delivery.bytes, delivery.message_format);
        !decoded.ok()) {
        return reject(delivery,
                      {std::string(amqp::condition::decode_error), decoded.error().detail});
    }
    if (incoming.events().empty()) {  // an empty batch stores nothing
        if (!delivery.settled) {
            link_.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
        }
        return;
    }
    const auto event_hub = peer_.context_.hubs.find(hub_);
    if (!event_hub.ok()) return reject(delivery, entity_not_found(hub_));
    // A key on a link to a partition is kept with the event, but does not route it.
    const auto partition =
        (*event_hub)->route(partition_, partition_ ? std::string_view() : incoming.key());
    if (!partition.ok()) return reject(delivery, condition_of(partition.error()));
    const std::uint64_t bytes = delivery.bytes.size();
    peer_.waiting_bytes_ += bytes;
    (*event_hub)
        ->append(
            *partition, incoming.events(),
            [this, bytes, id = delivery.id, settled = delivery.settled, &peer = peer_,
             link = std::weak_ptr<bool>(alive_),
             owner = std::weak_ptr<bool>(peer_.alive_)](Result<commitlog::Appended> appended) {
                if (owner.expired()) return;
                peer.waiting_bytes_ -= bytes;
                peer.flush_soon();
                if (link.expired() || settled) return;
                amqp::DeliveryState state{amqp::DeliveryState::Kind::accepted, std::nullopt};
                if (!appended.ok()) {
                    state = {amqp::DeliveryState::Kind::rejected, condition_of(appended.error())};
                }
                link_.settle(id, state);
            });
}

void Ingest::reject(const amqp::Delivery& delivery, const amqp::Condition& why) {
    if (delivery.settled) return;
    link_.settle(delivery.id, {amqp::DeliveryState::Kind::rejected, peer_.tracked(why, hub_)});
}

Outflow::~Outflow() = default;

Result<> Outflow::attach(hub::EventHub& event_hub, const Address& address, PartitionId partition,
                         const Position& position, const hub::ReaderRequest& request) {
    entity_ = address.hub;
    EK_TRY_ASSIGN(partition_, event_hub.partition(partition));
    EK_TRY_ASSIGN(reader_, event_hub.attach(address.group, partition, position, request,
                                            [this](const Error& why) {
                                                auto condition = condition_of(why);
                                                if (why.code == ErrorCode::not_found) {
                                                    condition = entity_not_found(entity_);
                                                }
                                                end(condition);
                                            }));
    return {};
}

void Outflow::pump() {
    if (waiting_ || !reader_) return;
    std::optional<RuntimeMetric> metric;
    if (wants_metric_) {
        if (const auto log = partition_->log(); log.ok()) {
            const auto now = (*log)->properties();
            metric = RuntimeMetric{now.last_sequence, now.last_offset, now.last_enqueued,
                                   peer_.context_.loop.clock().wall()};
        }
    }
    while (link_.can_send() && peer_.has_room()) {
        if (left_.empty() && !fill()) break;
        std::size_t sent = 0;
        for (const commitlog::Record& record : left_) {
            if (!link_.can_send() || !peer_.has_room()) break;
            send(record, metric);
            sent += commitlog::stored_bytes(record);
        }
        left_ = left_.without_first(sent);
    }
    if (link_.drain() && left_.empty() && waiting_) link_.drained();
    peer_.flush_soon();
}

bool Outflow::fill() {
    if (damage_) {
        // Told once, on this link; a client that comes back starts behind what it last got.
        Error why{ErrorCode::corrupt, commitlog::to_string(*damage_)};
        damage_.reset();
        end(condition_of(why));
        return false;
    }
    auto step = reader_->read(cold_read_bytes);
    if (!step.ok()) {
        end(condition_of(step.error()));
        return false;
    }
    if (auto* slice = std::get_if<commitlog::Slice>(&*step)) {
        left_ = std::move(*slice);
        return true;
    }
    waiting_ = true;
    if (auto* cold = std::get_if<commitlog::ColdRead>(&*step)) {
        perform(std::move(*cold));
    } else {
        reader_->wait([this] {
            waiting_ = false;
            pump();
        });
    }
    return false;
}

void Outflow::perform(commitlog::ColdRead read) {
    peer_.context_.reads.post([this, read = std::move(read), alive = std::weak_ptr<bool>(alive_),
                               &loop = peer_.context_.loop]() mutable {
        auto outcome = read.perform();
        loop.post([this, alive = std::move(alive), outcome = std::move(outcome)]() mutable {
            if (alive.expired() || !reader_) return;
            waiting_ = false;
            if (outcome.ok()) {
                reader_->advance(*outcome);
                left_ = outcome->events;
                damage_ = outcome->damage;
            } else if (outcome.error().code != ErrorCode::not_found) {
                return end(condition_of(outcome.error()));
            }
            pump();
        });
    });
}

void Outflow::send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric) {
    prefix_.clear();
    ByteView body;
    encode_prefix(record, metric, prefix_, body);
    link_.send(prefix_, body, 0, true);
}

void Outflow::end(const amqp::Condition& why) {
    reader_.reset();
    left_ = {};
    peer_.drop(link_, peer_.tracked(why, entity_));
}

}  // namespace evenkeel::door
