#include "door/amqp/ingest.h"

#include <fmt/core.h>

#include "door/amqp/conditions.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

constexpr std::uint64_t record_overhead = 64;

// Events of an idempotent producer that are on their way to disk.
struct Numbered {
    ProducerPlace place;
    ProducerStamp stamp;
    BatchContent content;
};

}  // namespace

Ingest::Ingest(LinkHost& host, amqp::Link& link, const hub::EventHubRecord& hub,
               std::optional<PartitionId> partition, std::uint64_t message_bytes_max)
    : host_(host),
      link_(link),
      hub_(hub.name),
      incarnation_(hub.incarnation),
      partition_(partition),
      message_bytes_max_(message_bytes_max),
      traffic_(host.context().activity.hub(eventhubs::folded(hub_))) {
    used = host.context().loop.clock().now();
}

void Ingest::serve(const ProducerState& producer) {
    EK_CHECK(partition_ && !producer_, "a producer attaches once, to one partition");
    producer_ = producer;
}

void Ingest::on_delivery(const amqp::Delivery& delivery) {
    used = host_.context().loop.clock().now();
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
    Incoming& incoming = host_.incoming();
    if (const auto decoded = incoming.decode(delivery.bytes, delivery.message_format, restores_);
        !decoded.ok()) {
        return reject(delivery,
                      {std::string(amqp::condition::decode_error), decoded.error().detail});
    }
    if (incoming.events().empty()) return accept(delivery);  // an empty batch stores nothing
    const auto event_hub = host_.context().hubs.find(hub_);
    if (!event_hub.ok()) {
        return reject(delivery, hub_missing(event_hub.error(), host_.url_of(hub_)));
    }
    if (!is_for(**event_hub)) {  // the one that the client attached to is gone
        return host_.links().drop(link_, host_.tracked(entity_not_found(host_.url_of(hub_)), hub_));
    }
    // A key on a link to a partition is kept with the event, but does not route it.
    if (const auto key = eventhubs::check_partition_key(incoming.key()); !key.ok()) {
        return reject(delivery, condition_of(key.error()));
    }
    for (const auto& event :
         restores_ ? std::span(incoming.events()) : std::span<const commitlog::NewEvent>()) {
        if (const auto key = eventhubs::check_partition_key(as_text(event.key)); !key.ok()) {
            return reject(delivery, condition_of(key.error()));
        }
    }
    const auto partition =
        (*event_hub)->route(partition_, partition_ ? std::string_view() : incoming.key());
    if (!partition.ok()) return reject(delivery, condition_of(partition.error()));
    if (const auto excess =
            door::take(quotas(), incoming.events().size(), delivery.bytes.size(), *used)) {
        const auto why = throttled(excess->quota->name(), excess->limit);
        host_.context().activity.refused(reason_of(*excess->quota), host_.visitor(), hub_,
                                         why.description);
        return reject(delivery, why);
    }
    append(**event_hub, *partition, delivery);
}

std::span<const QuotaRef> Ingest::quotas() {
    const Quotas& all = host_.context().quotas;
    const std::pair version{host_.login().version(), all.generation()};
    if (quotas_of_ != version) {
        quotas_of_ = version;
        quotas_ = all.of(need ? host_.login().key_of(*need) : std::string_view(),
                         eventhubs::folded(hub_));
    }
    return quotas_;
}

void Ingest::append(hub::EventHub& event_hub, PartitionId partition,
                    const amqp::Delivery& delivery) {
    const Incoming& incoming = host_.incoming();
    std::unique_ptr<Numbered> numbered;
    if (producer_) {
        if (const auto why = check_stamp()) return reject(delivery, *why);
        numbered = std::make_unique<Numbered>(Numbered{{event_hub.record().incarnation, partition},
                                                       *incoming.stamp(),
                                                       content_of(incoming.events())});
        Producers& producers = host_.context().producers;
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
    host_.append_begun(bytes);
    event_hub.append(
        partition, incoming.events(),
        [self = handle(), owner = host_.handle(), numbered = std::move(numbered),
         producers = host_.context().producers.handle(), count = incoming.events().size(), bytes,
         id = delivery.id, partition, settled = delivery.settled, traffic = traffic_,
         size = delivery.bytes.size(), began = *used](const Result<commitlog::Appended>& appended) {
            // Also if the client has gone: it may come back, and ask.
            if (Producers* const known = numbered ? producers.get() : nullptr) {
                appended.ok() ? known->stored(numbered->place, numbered->stamp, numbered->content)
                              : known->take_back(numbered->place, numbered->stamp);
            }
            if (appended.ok()) {
                traffic->events_in += count;
                traffic->bytes_in += size;
            }
            LinkHost* const host = owner.get();
            if (!host) return;
            Ingest* const ingest = self.get();
            if (appended.ok() && ingest && ingest->use) {
                ingest->use->info.events += static_cast<std::int64_t>(count);
            }
            if (appended.ok()) {
                const PeerContext& context = host->context();
                context.activity.stored(context.loop.clock().now() - began);
            }
            if (ingest && !settled) ingest->finish(id, partition, appended);
            host->append_ended(bytes);
        });
}

std::optional<amqp::Condition> Ingest::check_stamp() const {
    const auto& stamp = host_.incoming().stamp();
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

void Ingest::finish(std::uint32_t delivery, PartitionId partition,
                    const Result<commitlog::Appended>& appended) {
    amqp::DeliveryState state{amqp::DeliveryState::Kind::accepted, std::nullopt};
    if (appended.ok() && receipts_) {
        state.receipt = amqp::Receipt{partition.value, appended->first.value, appended->last.value,
                                      appended->last_offset.value};
    } else if (!appended.ok()) {
        state = {amqp::DeliveryState::Kind::rejected,
                 host_.tracked(storage_condition(appended.error()), hub_)};
    }
    link_.settle(delivery, state);
}

void Ingest::accept(const amqp::Delivery& delivery) {
    if (delivery.settled) return;
    link_.settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
}

void Ingest::reject(const amqp::Delivery& delivery, const amqp::Condition& why) {
    if (delivery.settled) return;
    link_.settle(delivery.id, {amqp::DeliveryState::Kind::rejected, host_.tracked(why, hub_)});
}

}  // namespace evenkeel::door
