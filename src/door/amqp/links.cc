#include "door/amqp/links.h"

#include <utility>

#include <fmt/core.h>

#include "amqp/message.h"
#include "base/log.h"
#include "door/amqp/conditions.h"
#include "hub/names.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;
constexpr std::uint64_t record_overhead = 64;

// What a link reads from disk at a time: little at first, more for a client that keeps up.
constexpr hub::PartitionStream::Options stream_options{
    .read_bytes_min = std::size_t{16} << 10,
    .read_bytes_max = std::size_t{256} << 10,
    .from_page_cache = true,
};

// Without the name of the file, which is the server's. client/failure.cc parses it.
std::string range_text(const commitlog::Damage& damage) {
    return fmt::format("events {} to {} are damaged (stream positions {} to {})", damage.from.value,
                       damage.to.value - 1, damage.begin.value, damage.end.value);
}

// Events of an idempotent producer that are on their way to disk.
struct Numbered {
    ProducerPlace place;
    ProducerStamp stamp;
    BatchContent content;
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
    node == Address::Kind::cbs ? peer_.handle_cbs(link_, *request)
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

Ingest::Ingest(Peer& peer, amqp::Link& link, const hub::EventHubRecord& hub,
               std::optional<PartitionId> partition, std::uint64_t message_bytes_max)
    : peer_(peer),
      link_(link),
      hub_(hub.name),
      incarnation_(hub.incarnation),
      partition_(partition),
      message_bytes_max_(message_bytes_max),
      traffic_(peer.context_.activity.hub(hub::folded(hub_))) {
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
    if (!is_for(**event_hub)) {  // the one that the client attached to is gone
        return peer_.drop(link_, peer_.tracked(entity_not_found(peer_.url_of(hub_)), hub_));
    }
    // A key on a link to a partition is kept with the event, but does not route it.
    if (const auto key = hub::check_partition_key(incoming.key()); !key.ok()) {
        return reject(delivery, condition_of(key.error()));
    }
    const auto partition =
        (*event_hub)->route(partition_, partition_ ? std::string_view() : incoming.key());
    if (!partition.ok()) return reject(delivery, condition_of(partition.error()));
    if (const auto excess =
            door::take(quotas(), incoming.events().size(), delivery.bytes.size(), *used)) {
        const QuotaOptions& of = excess->quota->options();
        const Refusal reason = !of.key.empty()   ? Refusal::key_rate
                               : !of.hub.empty() ? Refusal::hub_rate
                                                 : Refusal::throttled;
        const auto why = throttled(excess->quota->name(), excess->limit);
        peer_.context_.activity.refused(reason, peer_.visitor_, hub_, why.description);
        return reject(delivery, why);
    }
    append(**event_hub, *partition, delivery);
}

std::span<const QuotaRef> Ingest::quotas() {
    const Quotas& all = peer_.context_.quotas;
    const std::pair version{peer_.claims_version_, all.generation()};
    if (quotas_of_ != version) {
        quotas_of_ = version;
        quotas_ = all.of(need ? peer_.key_of(*need) : std::string_view(), hub::folded(hub_));
    }
    return quotas_;
}

void Ingest::append(hub::EventHub& event_hub, PartitionId partition,
                    const amqp::Delivery& delivery) {
    const Incoming& incoming = peer_.incoming_;
    std::unique_ptr<Numbered> numbered;
    if (producer_) {
        if (const auto why = check_stamp()) return reject(delivery, *why);
        numbered = std::make_unique<Numbered>(Numbered{{event_hub.record().incarnation, partition},
                                                       *incoming.stamp(),
                                                       content_of(incoming.events())});
        Producers& producers = peer_.context_.producers;
        if (producers.is_repeat(numbered->place, numbered->stamp, numbered->content)) {
            return accept(delivery);
        }
        if (const auto why =
                producers.admit(numbered->place, numbered->stamp, incoming.events().size())) {
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
         count = incoming.events().size(), bytes, id = delivery.id, settled = delivery.settled,
         traffic = traffic_, size = delivery.bytes.size(),
         began = *used](const Result<commitlog::Appended>& appended) {
            // Also if the client has gone: it may come back, and ask.
            if (const auto known = numbered ? producers.lock() : nullptr) {
                appended.ok() ? known->stored(numbered->place, numbered->stamp, numbered->content)
                              : known->take_back(numbered->place, numbered->stamp);
            }
            if (appended.ok()) {
                traffic->events_in += count;
                traffic->bytes_in += size;
            }
            const auto peer = owner.lock();
            if (!peer) return;
            if (appended.ok()) {
                peer->context_.activity.stored(peer->context_.loop.clock().now() - began);
            }
            if (const auto ingest = self.lock(); ingest && !settled) {
                ingest->finish(id, appended);
            }
            peer->settled(bytes);
        });
}

std::optional<amqp::Condition> Ingest::check_stamp() const {
    const auto& stamp = peer_.incoming_.stamp();
    if (!stamp) {
        return amqp::Condition{std::string(vendor::argument_error),
                               "An event of an idempotent producer lacks its producer id, epoch "
                               "and sequence number."};
    }
    if (stamp->id != producer_->id) {
        return amqp::Condition{
            std::string(vendor::argument_error),
            fmt::format("The producer id {} of the event is not that of the link, {}.", stamp->id,
                        producer_->id)};
    }
    if (stamp->epoch > producer_->epoch) {
        return amqp::Condition{
            std::string(vendor::argument_error),
            fmt::format("The producer epoch {} of the event is not that of the link, {}.",
                        stamp->epoch, producer_->epoch)};
    }
    return std::nullopt;
}

void Ingest::finish(std::uint32_t delivery, const Result<commitlog::Appended>& appended) {
    amqp::DeliveryState state{amqp::DeliveryState::Kind::accepted, std::nullopt};
    if (!appended.ok()) {
        state = {amqp::DeliveryState::Kind::rejected,
                 peer_.tracked(storage_condition(appended.error()), hub_)};
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

Outflow::Outflow(Peer& peer, amqp::Link& link, Wishes wishes)
    : peer_(peer),
      link_(link),
      wishes_(wishes),
      reads_(peer.context_.loop, peer.context_.reads),
      stream_(*this, reads_, stream_options) {}

Outflow::~Outflow() = default;

Result<> Outflow::attach(hub::EventHub& event_hub, const Address& address, PartitionId partition,
                         const Position& position, const hub::ReaderRequest& request) {
    entity_ = address.hub;
    traffic_ = peer_.context_.activity.hub(hub::folded(address.hub));
    EK_TRY_ASSIGN(partition_, event_hub.partition(partition));
    EK_TRY_ASSIGN(auto reader,
                  event_hub.attach(address.group, partition, position, request, stream_.ended()));
    stream_.start(std::move(reader));
    return {};
}

void Outflow::on_ended(const Error& why) {
    if (dropped_) return;
    end(why.code == ErrorCode::not_found ? entity_not_found(entity_) : storage_condition(why));
}

bool Outflow::keeps_up() const {
    return peer_.keeps_up();
}

void Outflow::on_credit() {
    pump();
    give_back_credit();
}

// Drain: only when there is nothing more to send, not while something is being read from disk.
void Outflow::give_back_credit() {
    const bool goes_on = !stream_.has_ended() && !is_waiting();
    if (!link_.drain() || (goes_on && link_.credit() > 0)) return;
    link_.drained();
    peer_.flush_soon();
}

void Outflow::pump() {
    if (is_waiting() || stream_.has_ended()) return;
    const auto metric = runtime_metric();
    UsualPrefix usual(amqp::Link::head_bytes);
    while (can_send()) {
        if (!peer_.has_room()) {
            peer_.wait_for_room(link_);
            break;
        }
        if (left_.empty() && !fill()) break;
        if (half_sent_ && (*left_.begin()).sequence != half_sent_->sequence) {
            return end({std::string(amqp::condition::detach_forced),
                        fmt::format("Event {} was removed while it was being sent.",
                                    half_sent_->sequence.value)});
        }
        send_left(metric, usual);
    }
    give_back_credit();
    peer_.flush_soon();
}

void Outflow::send_left(const std::optional<RuntimeMetric>& metric, UsualPrefix& usual) {
    std::size_t sent = 0;
    std::int64_t events = 0;
    for (const commitlog::Record& record : left_) {
        if (!can_send() || !peer_.has_room()) break;
        const bool whole = !half_sent_ && record.body.size() <= whole_bytes_max;
        if (whole && !metric && UsualPrefix::suits(record)) {
            link_.send_behind_head(usual.encode(record), record.body);
        } else if (whole) {
            send(record, metric);
        } else if (!send_part(record, metric)) {
            break;
        }
        sent += commitlog::stored_bytes(record);
        ++events;
    }
    stream_.count_sent(events);
    traffic_->events_out += static_cast<std::uint64_t>(events);
    traffic_->bytes_out += sent;
    left_ = left_.without_first(sent);
    if (left_.empty()) left_ = {};  // lets go of the bytes, which may be a large event's
}

std::optional<RuntimeMetric> Outflow::runtime_metric() const {
    if (!wishes_.metric) return std::nullopt;
    const auto log = partition_->log();
    if (!log.ok()) return std::nullopt;
    const auto now = (*log)->properties();
    return RuntimeMetric{now.last_sequence, now.last_offset, now.last_enqueued,
                         peer_.context_.loop.clock().wall()};
}

amqp::Condition Outflow::read_failed(const Error& error) const {
    trace(TraceLevel::warning, "events could not be read for a client",
          {{"event_hub", entity_}, {"cause", error.detail}});
    return storage_condition(error);
}

bool Outflow::fill() {
    while (true) {
        auto step = stream_.next();
        if (!step.ok()) {
            end(read_failed(step.error()));
            return false;
        }
        if (auto* const events = std::get_if<commitlog::Slice>(&*step)) {
            left_ = std::move(*events);
            return true;
        }
        const auto* const damage = std::get_if<commitlog::Damage>(&*step);
        if (!damage) return false;
        // The log has reported it to operators. Clients that do not ask for reports just go on
        // behind it: they would come back to the same place for ever.
        if (wishes_.damage) {
            // Reported once, on this link; a client that comes back starts behind the damage.
            end({std::string(amqp::condition::internal_error), range_text(*damage)});
            return false;
        }
    }
}

bool Outflow::on_stall() {
    if (!stream_.release(left_)) return false;
    left_ = {};
    prefix_ = {};
    return true;
}

void Outflow::send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric) {
    prefix_.clear();
    ByteView body;
    encode_prefix(record, metric, prefix_, body);
    link_.send(prefix_, body, 0, true);
}

bool Outflow::send_part(const commitlog::Record& record,
                        const std::optional<RuntimeMetric>& metric) {
    if (!half_sent_) {
        half_sent_ = HalfSent{record.sequence, metric};
        prefix_.clear();
    }
    if (prefix_.empty()) {
        ByteView body;
        encode_prefix(record, half_sent_->metric, prefix_, body);
        half_sent_->body_from = record.body.size() - body.size();
    }
    const ByteView body = record.body.subspan(half_sent_->body_from);
    const std::size_t bytes_max = std::max(peer_.room(), part_bytes_min);
    half_sent_->bytes += link_.send_part(prefix_, body, half_sent_->bytes, bytes_max);
    if (half_sent_->bytes < prefix_.size() + body.size()) return false;
    half_sent_.reset();
    return true;
}

void Outflow::end(const amqp::Condition& why) {
    if (std::exchange(dropped_, true)) return;
    peer_.context_.activity.reader_displaced(peer_.visitor_, entity_,
                                             why.name + ": " + why.description);
    left_ = {};
    stream_.end({ErrorCode::cancelled, why.description});
    peer_.drop(link_, peer_.tracked(why, entity_));
}

}  // namespace evenkeel::door
