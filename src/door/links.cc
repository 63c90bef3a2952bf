#include "door/links.h"

#include <fmt/core.h>

#include "amqp/message.h"
#include "door/conditions.h"
#include "hub/names.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;
constexpr std::uint64_t record_overhead = 64;

// Events of an idempotent producer that are on their way to disk.
struct Numbered {
    ProducerPlace place;
    ProducerStamp stamp;
};

}  // namespace

void Requests::on_delivery(const amqp::Delivery& delivery) {
    if (!delivery.settled) {
        link_.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
    }
    if (link_.granted() < credit / 2) link_.grant(credit);
    const auto request = amqp::decode_request(delivery.bytes);
    if (delivery.too_large || !request.ok()) {
        return peer_.drop(link_,
                          {std::string(amqp::condition::decode_error),
                           request.ok() ? "the request is too large" : request.error().detail});
    }
    node_ == Address::Kind::cbs ? peer_.handle_cbs(link_, *request)
                                : peer_.handle_management(link_, *request);
}

Replies::~Replies() {
    while (!waiting_.empty()) pop();
}

amqp::Buffer Replies::pop() {
    amqp::Buffer message = std::move(waiting_.front());
    waiting_.pop_front();
    peer_.reply_bytes_ -= message.size();
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
    peer_.reply_bytes_ += message.size();
    waiting_.push_back(std::move(message));
    on_credit();
    if (peer_.reply_bytes_ > reply_bytes_max) {
        peer_.close({std::string(amqp::condition::resource_limit),
                     "More replies wait for credit than a connection may have."});
    }
}

Ingest::Ingest(Peer& peer, amqp::Link& link, std::string hub, std::optional<PartitionId> partition,
               std::uint64_t message_bytes_max, bool idempotent)
    : peer_(peer),
      link_(link),
      hub_(std::move(hub)),
      partition_(partition),
      message_bytes_max_(message_bytes_max),
      idempotent_(idempotent) {
    used = peer.context_.loop.clock().now();
}

void Ingest::on_delivery(const amqp::Delivery& delivery) {
    used = peer_.context_.loop.clock().now();
    if (link_.granted() < credit / 2) link_.grant(credit);
    if (delivery.too_large) {
        return reject(delivery,
                      {std::string(amqp::condition::message_size),
                       fmt::format("The received message (delivery-id:{}, size:{} bytes) exceeds "
                                   "the limit ({} bytes) currently allowed on the link.",
                                   delivery.id, delivery.size, message_bytes_max_)});
    }
    take(delivery);
}

void Ingest::take(const amqp::Delivery& delivery) {
    Incoming& incoming = peer_.incoming_;
    if (const auto decoded = incoming.decode(delivery.bytes, delivery.message_format);
        !decoded.ok()) {
        return reject(delivery,
                      {std::string(amqp::condition::decode_error), decoded.error().detail});
    }
    if (incoming.events().empty()) return accept(delivery);  // an empty batch stores nothing
    const auto event_hub = peer_.context_.hubs.find(hub_);
    if (!event_hub.ok()) {
        return reject(delivery, hub_missing(event_hub.error(), peer_.url_of(hub_)));
    }
    // A key on a link to a partition is kept with the event, but does not route it.
    if (const auto key = hub::check_partition_key(incoming.key()); !key.ok()) {
        return reject(delivery, condition_of(key.error()));
    }
    const auto partition =
        (*event_hub)->route(partition_, partition_ ? std::string_view() : incoming.key());
    if (!partition.ok()) return reject(delivery, condition_of(partition.error()));
    if (!peer_.context_.throttle.take(incoming.events().size(), delivery.bytes.size(), *used)) {
        return reject(delivery, throttled());
    }
    append(**event_hub, *partition, delivery);
}

void Ingest::append(hub::EventHub& event_hub, PartitionId partition,
                    const amqp::Delivery& delivery) {
    const Incoming& incoming = peer_.incoming_;
    std::unique_ptr<Numbered> numbered;
    if (idempotent_) {
        if (!incoming.stamp()) {
            return reject(delivery, {std::string(vendor::argument_error),
                                     "An event of an idempotent producer lacks its producer id, "
                                     "epoch and sequence number."});
        }
        numbered = std::make_unique<Numbered>(
            Numbered{{event_hub.record().incarnation, partition}, *incoming.stamp()});
        if (const auto why = peer_.context_.producers.admit(numbered->place, numbered->stamp,
                                                            incoming.events().size())) {
            return reject(delivery, *why);
        }
    }
    // Small events are larger in the log than on the wire.
    const auto bytes = static_cast<std::uint32_t>(delivery.bytes.size() +
                                                  incoming.events().size() * record_overhead);
    peer_.waiting_bytes_ += bytes;
    event_hub.append(
        partition, incoming.events(),
        [self = std::weak_ptr<Ingest>(alive_), owner = std::weak_ptr<Peer>(peer_.alive_),
         numbered = std::move(numbered), producers = peer_.context_.producers.weak(),
         count = incoming.events().size(), bytes, id = delivery.id,
         settled = delivery.settled](const Result<commitlog::Appended>& appended) {
            // Also if the client has gone: it may come back, and ask.
            if (const auto known = numbered ? producers.lock() : nullptr) {
                appended.ok() ? known->stored(numbered->place, numbered->stamp, count)
                              : known->take_back(numbered->place, numbered->stamp);
            }
            const auto peer = owner.lock();
            if (!peer) return;
            if (const auto ingest = self.lock(); ingest && !settled) {
                ingest->finish(id, appended);
            }
            peer->settled(bytes);
        });
}

void Ingest::finish(std::uint32_t delivery, const Result<commitlog::Appended>& appended) {
    amqp::DeliveryState state{amqp::DeliveryState::Kind::accepted, std::nullopt};
    if (!appended.ok()) {
        state = {amqp::DeliveryState::Kind::rejected,
                 peer_.tracked(condition_of(appended.error()), hub_)};
    }
    link_.settle(delivery, state);
}

void Ingest::accept(const amqp::Delivery& delivery) {
    if (delivery.settled) return;
    link_.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
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

void Outflow::on_credit() {
    pump();
    give_back_credit();
}

// Drain: only when there is nothing more to send, not while something is being read from disk.
void Outflow::give_back_credit() {
    if (!link_.drain() || (reader_ && !at_end_ && link_.credit() > 0)) return;
    link_.drained();
    peer_.flush_soon();
}

void Outflow::pump() {
    if (at_end_ || !reader_) return;
    std::optional<RuntimeMetric> metric;
    if (wants_metric_) {
        if (const auto log = partition_->log(); log.ok()) {
            const auto now = (*log)->properties();
            metric = RuntimeMetric{now.last_sequence, now.last_offset, now.last_enqueued,
                                   peer_.context_.loop.clock().wall()};
        }
    }
    UsualPrefix usual(amqp::Link::head_bytes);
    while (link_.can_send()) {
        if (!peer_.has_room()) {
            peer_.wait_for_room(link_);
            break;
        }
        if (left_.empty() && !fill()) break;
        std::size_t sent = 0;
        std::int64_t events = 0;
        for (const commitlog::Record& record : left_) {
            if (!link_.can_send() || !peer_.has_room()) break;
            if (!metric && UsualPrefix::suits(record)) {
                link_.send_behind_head(usual.encode(record), record.body);
            } else {
                send(record, metric);
            }
            sent += commitlog::stored_bytes(record);
            ++events;
        }
        reader_->count_sent(events);
        left_ = left_.without_first(sent);
    }
    give_back_credit();
    peer_.flush_soon();
}

bool Outflow::fill() {
    while (true) {
        if (damage_) {
            // Told once, on this link; a client that comes back starts behind what it last got.
            Error why{ErrorCode::corrupt, commitlog::to_string(*damage_)};
            damage_.reset();
            end(condition_of(why));
            return false;
        }
        if (!ahead_) {
            if (reading_ || at_end_) return false;
            auto step = reader_->read(read_bytes_);
            if (!step.ok()) {
                end(condition_of(step.error()));
                return false;
            }
            take(std::move(*step));
            if (!ahead_) {
                if (reading_) return false;
                at_end_ = true;
                reader_->wait([this] {
                    at_end_ = false;
                    pump();
                });
                return false;
            }
        }
        left_ = std::move(ahead_->events);
        damage_ = std::move(ahead_->damage);
        ahead_.reset();
        read_ahead();
        if (!left_.empty()) return true;
    }
}

// At the end there is nothing to take.
void Outflow::take(commitlog::ReadStep step) {
    if (auto* const slice = std::get_if<commitlog::Slice>(&step)) {
        ahead_.emplace();
        ahead_->events = std::move(*slice);
    } else if (auto* const cold = std::get_if<commitlog::ColdRead>(&step)) {
        perform(std::move(*cold));
    }
}

void Outflow::read_ahead() {
    if (!waited_ || read_bytes_ == read_bytes_min || reading_ || ahead_ || damage_) return;
    auto step = reader_->read(read_bytes_);
    // An error is met again, and told, when its turn comes.
    if (step.ok()) take(std::move(*step));
}

// From the page cache at once: another thread would cost more than the reading.
void Outflow::perform(commitlog::ColdRead read) {
    if (auto outcome = read.perform_cached()) {
        waited_ = false;
        return took(std::move(*outcome));
    }
    waited_ = true;
    reading_ = true;
    peer_.context_.reads.post([this, read = std::move(read), alive = std::weak_ptr<bool>(alive_),
                               &loop = peer_.context_.loop]() mutable {
        auto outcome = read.perform();
        loop.post([this, alive = std::move(alive), outcome = std::move(outcome)]() mutable {
            if (!alive.expired()) performed(std::move(outcome));
        });
    });
}

void Outflow::performed(Result<commitlog::ReadOutcome> outcome) {
    reading_ = false;
    if (!reader_) return;
    if (outcome.ok()) {
        took(std::move(*outcome));
    } else if (outcome.error().code != ErrorCode::not_found) {
        return end(condition_of(outcome.error()));
    }
    pump();
}

void Outflow::took(commitlog::ReadOutcome outcome) {
    reader_->advance(outcome);
    ahead_ = std::move(outcome);
    if (peer_.keeps_up()) read_bytes_ = std::min(read_bytes_ * 2, read_bytes_max);
}

void Outflow::on_stall() {
    read_bytes_ = read_bytes_min;
    if (!reader_ || reading_ || damage_ || (ahead_ && ahead_->damage)) return;
    const commitlog::Slice& first = left_.empty() && ahead_ ? ahead_->events : left_;
    if (first.empty() || !reader_->rewind((*first.begin()).sequence)) return;
    left_ = {};
    ahead_.reset();
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
    ahead_.reset();
    peer_.drop(link_, peer_.tracked(why, entity_));
}

}  // namespace evenkeel::door
