#include "door/amqp/attach.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "amqp/message.h"
#include "door/amqp/conditions.h"
#include "door/amqp/filter.h"
#include "door/amqp/ingest.h"
#include "door/amqp/node_links.h"
#include "door/amqp/outflow.h"
#include "door/amqp/partition_name.h"
#include "eventhubs/names.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::door {
namespace {

bool wants(const amqp::Attach& attach, std::string_view capability) {
    const auto& desired = attach.desired_capabilities;
    return std::find(desired.begin(), desired.end(), capability) != desired.end();
}

// The client's properties with the producer's state in them.
amqp::Buffer with_producer(ByteView properties, const ProducerState& state) {
    amqp::Buffer bytes;
    amqp::Encoder encoder(bytes);
    const auto map = encoder.begin_map();
    std::uint32_t count = 6;
    amqp::for_each_pair(properties, [&](std::string_view key, ByteView value) {
        if (key == eventhubs::property::producer_id || key == eventhubs::property::producer_epoch ||
            key == eventhubs::property::producer_sequence)
            return;
        encoder.symbol(key);
        encoder.bytes(value);
        count += 2;
    });
    encoder.symbol(eventhubs::property::producer_id);
    encoder.long_(state.id);
    encoder.symbol(eventhubs::property::producer_epoch);
    const auto epoch = static_cast<std::uint16_t>(state.epoch);
    const std::byte encoded[] = {std::byte{amqp::code::short_}, static_cast<std::byte>(epoch >> 8),
                                 static_cast<std::byte>(epoch & 0xff)};
    encoder.bytes(encoded);
    encoder.symbol(eventhubs::property::producer_sequence);
    encoder.int_(state.sequence);
    encoder.end(map, count);
    return bytes;
}

}  // namespace

void Attacher::attach(amqp::Link& link) {
    const bool to_us = link.role() == amqp::Role::receiver;
    const amqp::Terminus& terminus = to_us ? link.peer().target : link.peer().source;
    if (!terminus.present || terminus.address.empty() || terminus.dynamic) {
        return host_.refuse(link,
                            {std::string(amqp::condition::invalid_field),
                             "the link names no address of an event hub"},
                            link.peer().name);
    }
    const eventhubs::Address address = eventhubs::parse_address(terminus.address);
    switch (address.kind) {
        case eventhubs::Address::Kind::cbs:
        case eventhubs::Address::Kind::management: return attach_node(link, address);
        case eventhubs::Address::Kind::hub:
        case eventhubs::Address::Kind::partition:
            if (to_us) return attach_ingest(link, address);
            break;
        case eventhubs::Address::Kind::consumer:
            if (!to_us) return attach_outflow(link, address);
            break;
    }
    host_.refuse(link,
                 {std::string(amqp::condition::not_allowed),
                  to_us ? "events are not sent to a consumer group"
                        : "events are read from hub/ConsumerGroups/group/Partitions/n"},
                 terminus.address);
}

void Attacher::attach_node(amqp::Link& link, const eventhubs::Address& address) {
    const amqp::Attach& asked = link.peer();
    if (address.kind == eventhubs::Address::Kind::cbs && link.role() == amqp::Role::receiver) {
        const auto takes_tokens = [](const LinkTable::Entry& other) {
            const Requests* const requests = other.user->requests();
            return requests && requests->node == eventhubs::Address::Kind::cbs;
        };
        const auto& links = host_.links().entries();
        if (std::any_of(links.begin(), links.end(), takes_tokens)) {
            return link.refuse(
                host_.tracked({std::string(amqp::condition::not_allowed),
                               "Only one sender to $cbs is allowed on a connection."},
                              eventhubs::node::cbs));
        }
    }
    amqp::Attach reply;
    reply.sender_settle = asked.sender_settle;
    reply.receiver_settle = asked.receiver_settle;
    reply.source = asked.source;
    reply.target = asked.target;
    reply.properties = asked.properties;
    if (link.role() == amqp::Role::receiver) {
        reply.max_message_bytes = host_.context().message_bytes_max;
        host_.links().add(link, std::make_unique<Requests>(host_, nodes_, link, address.kind));
        link.accept(std::move(reply));
        link.grant(Requests::credit);
    } else {
        host_.links().add(link, std::make_unique<Replies>(host_, nodes_, link, address.kind));
        link.accept(std::move(reply));
    }
}

void Attacher::attach_ingest(amqp::Link& link, const eventhubs::Address& address) {
    const amqp::Attach& asked = link.peer();
    const std::string path = eventhubs::path_of(asked.target.address);
    const Entity entity{eventhubs::folded(address.hub), path};
    const auto refuse = [&](const amqp::Condition& why) { host_.refuse(link, why, address.hub); };
    // Who may not send does not learn what there is.
    if (!host_.login().may(Right::send, entity))
        return refuse(claim_missing("Send", host_.url_of(path)));
    const auto event_hub = host_.context().hubs.find(address.hub);
    if (!event_hub.ok()) return refuse(hub_missing(event_hub.error(), host_.url_of(address.hub)));
    const auto partition = partition_of(**event_hub, address);
    if (!partition.ok()) return refuse(invalid_partition(address.partition, address.hub));
    amqp::Attach reply;
    reply.sender_settle = asked.sender_settle;
    reply.receiver_settle = amqp::ReceiverSettle::first;
    reply.source = asked.source;
    reply.target = asked.target;
    reply.properties = asked.properties;
    reply.max_message_bytes =
        asked.max_message_bytes == 0
            ? host_.context().message_bytes_max
            : std::min(asked.max_message_bytes, host_.context().message_bytes_max);
    // What idempotent producers have sent can be read once the partition is recovered.
    if (*partition && !host_.context().hubs.recovery().done()) {
        const auto known = (*event_hub)->partition(**partition);
        const auto log = known.ok() ? (*known)->log() : Result<commitlog::Log*>(known.error());
        if (!log.ok()) return refuse(condition_of(log.error()));
    }
    const bool idempotent = wants(asked, eventhubs::capability::idempotent_producer);
    if (idempotent && !*partition) {
        return refuse({std::string(amqp::condition::not_allowed),
                       "An idempotent producer sends to one partition: attach to "
                       "hub/Partitions/n."});
    }
    auto user = std::make_unique<Ingest>(host_, link, (*event_hub)->record(), *partition,
                                         reply.max_message_bytes);
    user->need = Need{Right::send, entity};
    user->use = std::make_unique<LinkUse>(LinkUse{{.is_reader = false,
                                                   .hub = (*event_hub)->record().name,
                                                   .partition = *partition,
                                                   .since = host_.context().loop.clock().wall()}});
    user->use->sample(host_.context().loop.clock().now());
    if (wants(asked, amqp::restore_capability)) {
        if (!host_.login().may(Right::manage, entity)) {
            return refuse(claim_missing("Manage", host_.url_of(path)));
        }
        if (!*partition || idempotent) {
            return refuse({std::string(amqp::condition::not_allowed),
                           "Events are restored to one partition: attach to hub/Partitions/n."});
        }
        user->restore();
        reply.offered_capabilities.emplace_back(amqp::restore_capability);
    }
    if (wants(asked, amqp::receipt_capability)) {
        user->send_receipts();
        reply.offered_capabilities.emplace_back(amqp::receipt_capability);
    }
    if (!find_place(link, entity, *user)) return;
    const auto ingest = user->handle();
    host_.links().add(link, std::move(user));
    if (!idempotent) return accept_ingest(link, std::move(reply));
    host_.context().recall.prepare(**event_hub, **partition,
                                   [this, &link, ingest, hub = address.hub, partition = **partition,
                                    reply = std::move(reply)]() mutable {
                                       if (!ingest.get()) return;  // and so may we be
                                       accept_producer(link, *ingest.get(), hub, partition,
                                                       std::move(reply));
                                   });
}

void Attacher::accept_ingest(amqp::Link& link, amqp::Attach reply) {
    link.accept(std::move(reply));
    link.grant(Ingest::credit);
}

void Attacher::accept_producer(amqp::Link& link, Ingest& ingest, std::string_view hub,
                               PartitionId partition, amqp::Attach reply) {
    const auto refuse = [&](const amqp::Condition& why) {
        host_.links().remove(link);
        host_.refuse(link, why, link.peer().target.address);
        host_.wire().flush_soon();
    };
    const auto event_hub = host_.context().hubs.find(hub);  // it may have gone meanwhile
    if (!event_hub.ok()) return refuse(hub_missing(event_hub.error(), host_.url_of(hub)));
    if (!ingest.is_for(**event_hub)) {
        return refuse(entity_not_found(host_.url_of(hub)));
    }
    const ByteView properties = link.peer().properties;
    const ProducerWish wish{amqp::integer_in(properties, eventhubs::property::producer_id),
                            amqp::integer_in(properties, eventhubs::property::producer_epoch),
                            amqp::integer_in(properties, eventhubs::property::producer_sequence)};
    ProducerState state;
    if (const auto why = host_.context().producers.attach(
            {(*event_hub)->record().incarnation, partition}, wish, state)) {
        return refuse(*why);
    }
    ingest.serve(state);
    reply.offered_capabilities.emplace_back(eventhubs::capability::idempotent_producer);
    reply.properties = with_producer(properties, state);
    accept_ingest(link, std::move(reply));
    host_.wire().flush_soon();
}

void Attacher::attach_outflow(amqp::Link& link, const eventhubs::Address& address) {
    const amqp::Attach& asked = link.peer();
    const std::string path = eventhubs::path_of(asked.source.address);
    const Entity entity{eventhubs::folded(address.hub), path};
    const auto refuse = [&](const amqp::Condition& why) { host_.refuse(link, why, address.hub); };
    if (!host_.login().may(Right::listen, entity))
        return refuse(claim_missing("Listen", host_.url_of(path)));
    const auto event_hub = host_.context().hubs.find(address.hub);
    if (!event_hub.ok()) return refuse(hub_missing(event_hub.error(), host_.url_of(path)));
    const auto partition = partition_of(**event_hub, address);
    if (!partition.ok() || !*partition) {
        return refuse(invalid_partition(address.partition, address.hub));
    }
    const auto position = position_of_filter(asked.source.filter);
    if (!position.ok()) return refuse(condition_of(position.error()));

    hub::ReaderRequest request;
    if (const auto epoch = amqp::integer_in(asked.properties, eventhubs::property::epoch)) {
        request.epoch = Epoch{*epoch};
        if (*epoch < 0) {
            return refuse({std::string(vendor::argument_out_of_range),
                           fmt::format("The epoch {} is negative.", *epoch)});
        }
    }
    for (const auto key :
         {eventhubs::property::receiver_name_alias, eventhubs::property::receiver_name}) {
        if (const auto name = amqp::text_in(asked.properties, key)) request.name = peer_text(*name);
    }
    const Outflow::Wishes wishes{wants(asked, eventhubs::capability::runtime_metric),
                                 wants(asked, amqp::damage_capability)};
    auto user = std::make_unique<Outflow>(host_, link, wishes);
    user->need = Need{Right::listen, entity};
    user->use = std::make_unique<LinkUse>(LinkUse{{.is_reader = true,
                                                   .hub = (*event_hub)->record().name,
                                                   .partition = *partition,
                                                   .group = address.group,
                                                   .epoch = request.epoch,
                                                   .since = host_.context().loop.clock().wall()}});
    user->use->sample(host_.context().loop.clock().now());
    if (!find_place(link, entity, *user)) return;
    if (const auto attached = user->attach(**event_hub, address, **partition, *position, request);
        !attached.ok()) {
        const Error& error = attached.error();
        if (error.code == ErrorCode::not_found) return refuse(entity_not_found(host_.url_of(path)));
        auto why = storage_condition(error);
        if (error.code == ErrorCode::overloaded) why.name = amqp::condition::resource_limit;
        return refuse(why);
    }
    amqp::Attach reply;
    reply.sender_settle = amqp::SenderSettle::settled;
    reply.receiver_settle = asked.receiver_settle;
    reply.source = asked.source;
    reply.target = asked.target;
    reply.max_message_bytes = 0;
    reply.properties = asked.properties;
    if (wishes.metric)
        reply.offered_capabilities.emplace_back(eventhubs::capability::runtime_metric);
    if (wishes.damage) reply.offered_capabilities.emplace_back(amqp::damage_capability);
    host_.links().add(link, std::move(user));
    link.accept(std::move(reply));
}

bool Attacher::find_place(amqp::Link& link, const Entity& entity, PeerLink& user) {
    const QuotaRef quota = host_.context().quotas.of_hub(entity.hub);
    if (!quota) return true;
    user.place = host_.login().place_in(quota, false);
    if (user.place) return true;
    const amqp::Condition why = no_place(quota->name(), quota->options().connections_max);
    host_.context().activity.refused(Refusal::hub_connections, host_.visitor(), entity.hub,
                                     why.description);
    link.refuse(host_.tracked(why, entity.hub));
    return false;
}

}  // namespace evenkeel::door
