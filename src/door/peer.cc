#include "door/peer.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "amqp/message.h"
#include "door/conditions.h"
#include "door/filter.h"
#include "door/links.h"
#include "hub/names.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t input_bytes = std::size_t{64} << 10;
constexpr std::size_t output_bytes_max = std::size_t{64} << 10;       // then the log waits
constexpr std::uint64_t waiting_bytes_max = std::uint64_t{16} << 20;  // then the socket waits
constexpr std::string_view metric_capability = "com.microsoft:enable-receiver-runtime-metric";

amqp::ConnectionOptions options_for(const PeerContext& context) {
    amqp::ConnectionOptions options;
    options.container = "evenkeel";
    options.max_message_bytes = context.message_bytes_max;
    return options;
}

std::string url_of(std::string_view path) {
    return "sb://evenkeel/" + std::string(path);
}

}  // namespace

Peer::Peer(const PeerContext& context, std::unique_ptr<io::Socket> socket, Task gone)
    : context_(context),
      socket_(std::move(socket)),
      gone_(std::move(gone)),
      connection_(options_for(context), *this, context.loop.clock().now()) {
    input_.resize(input_bytes);
}

Peer::~Peer() = default;

void Peer::start() {
    read();
}

void Peer::read() {
    if (reading_ || finished_ || connection_.is_closed() || waiting_bytes_ > waiting_bytes_max) {
        return;
    }
    reading_ = true;
    socket_->read(input_, [this](Result<std::size_t> got) {
        reading_ = false;
        if (!got.ok() || *got == 0) {
            connection_.lost();
            return finish();
        }
        connection_.receive(ByteView(input_).first(*got), context_.loop.clock().now());
        flush();
        read();
    });
}

void Peer::flush_soon() {
    if (flush_posted_) return;
    flush_posted_ = true;
    context_.loop.post([this, alive = std::weak_ptr<bool>(alive_)] {
        if (alive.expired()) return;
        flush_posted_ = false;
        flush();
        read();
    });
}

void Peer::flush() {
    if (writing_ || finished_) return;
    if (connection_.output_bytes() == 0) {
        if (connection_.is_closed()) finish();
        return;
    }
    connection_.take_output(sending_);
    writing_ = true;
    socket_->write(sending_, [this](const Result<>& written) {
        writing_ = false;
        if (!written.ok()) {
            connection_.lost();
            return finish();
        }
        // There is room again: let the links go on before the next write.
        const auto links = links_;
        for (amqp::Link* const link : links) {
            if (links_.contains(link) && link->user) {
                static_cast<PeerLink&>(*link->user).on_room();
            }
        }
        flush();
    });
}

bool Peer::has_room() const {
    return connection_.output_bytes() < output_bytes_max;
}

void Peer::drop(amqp::Link& link, const amqp::Condition& why) {
    links_.erase(&link);
    link.detach(why);
    flush_soon();
}

void Peer::finish() {
    if (finished_) return;
    finished_ = true;
    socket_->close();
    if (gone_) context_.loop.post(std::move(gone_));
}

void Peer::close(const amqp::Condition& why) {
    connection_.close(why);
    flush();
}

void Peer::tick(Instant now) {
    if (finished_) return;
    connection_.tick(now);
    const WallTime wall = context_.loop.clock().wall();
    const auto links = links_;
    for (amqp::Link* const link : links) {
        auto* const user = static_cast<PeerLink*>(link->user.get());
        if (!user || user->need.path.empty() ||
            is_allowed(claims_, user->need.right, user->need.path, wall)) {
            continue;
        }
        const std::string path = user->need.path;
        link->user.reset();
        drop(*link, tracked({std::string(amqp::condition::unauthorized),
                             "ExpiredToken: The token of this link has expired."},
                            path));
    }
    flush();
}

bool Peer::on_sasl(const amqp::SaslInit& init) {
    if (init.mechanism != "PLAIN") return true;
    // authorization id NUL key name NUL key
    const std::string_view response = init.response;
    const auto first = response.find('\0');
    const auto second = first == std::string_view::npos ? first : response.find('\0', first + 1);
    if (second == std::string_view::npos) return false;
    const auto claim = context_.rules.check_key(response.substr(first + 1, second - first - 1),
                                                response.substr(second + 1));
    if (claim.ok()) claims_.push_back(*claim);
    return claim.ok();
}

void Peer::on_open(const amqp::Open&) {}

void Peer::on_closed(const std::optional<amqp::Condition>&) {
    links_.clear();
    claims_.clear();
    flush_soon();
}

void Peer::on_delivery(amqp::Link& link, const amqp::Delivery& delivery) {
    if (link.user) static_cast<PeerLink&>(*link.user).on_delivery(delivery);
}

void Peer::on_credit(amqp::Link& link) {
    if (link.user) static_cast<PeerLink&>(*link.user).on_credit();
}

void Peer::on_detach(amqp::Link& link, const std::optional<amqp::Condition>&) {
    links_.erase(&link);
    link.user.reset();  // frees the reader's place at once
}

bool Peer::may(Right right, std::string_view path) const {
    return is_allowed(claims_, right, path, context_.loop.clock().wall());
}

amqp::Condition Peer::tracked(amqp::Condition condition, std::string_view entity) const {
    condition.description += tracking(entity, context_.loop.clock().wall());
    return condition;
}

void Peer::on_attach(amqp::Link& link) {
    const bool to_us = link.role() == amqp::Role::receiver;
    const amqp::Terminus& terminus = to_us ? link.peer().target : link.peer().source;
    if (!terminus.present || terminus.address.empty() || terminus.dynamic) {
        return link.refuse(tracked({std::string(amqp::condition::invalid_field),
                                    "the link names no address of an event hub"},
                                   link.peer().name));
    }
    const Address address = parse_address(terminus.address);
    switch (address.kind) {
        case Address::Kind::cbs:
        case Address::Kind::management: return attach_node(link, address);
        case Address::Kind::hub:
        case Address::Kind::partition:
            if (to_us) return attach_ingest(link, address);
            break;
        case Address::Kind::consumer:
            if (!to_us) return attach_outflow(link, address);
            break;
    }
    link.refuse(tracked({std::string(amqp::condition::not_allowed),
                         to_us ? "events are not sent to a consumer group"
                               : "events are read from hub/ConsumerGroups/group/Partitions/n"},
                        terminus.address));
}

void Peer::attach_node(amqp::Link& link, const Address& address) {
    const amqp::Attach& asked = link.peer();
    amqp::Attach reply;
    reply.sender_settle = asked.sender_settle;
    reply.receiver_settle = asked.receiver_settle;
    reply.source = asked.source;
    reply.target = asked.target;
    reply.properties = asked.properties;
    if (link.role() == amqp::Role::receiver) {
        reply.max_message_bytes = context_.message_bytes_max;
        link.user = std::make_unique<Requests>(*this, link, address.kind);
        link.accept(std::move(reply));
        link.grant(100);
    } else {
        reply.sender_settle = amqp::SenderSettle::mixed;
        link.user = std::make_unique<Replies>(link, address.kind);
        link.accept(std::move(reply));
    }
    links_.insert(&link);
}

Result<std::optional<PartitionId>> Peer::partition_of(hub::EventHub& event_hub,
                                                      const Address& address) const {
    if (address.partition.empty()) return std::optional<PartitionId>();
    std::uint32_t number = 0;
    const char* const end = address.partition.data() + address.partition.size();
    const auto parsed = std::from_chars(address.partition.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number >= event_hub.partition_count()) {
        return Error{ErrorCode::not_found, "no such partition"};
    }
    return std::optional<PartitionId>(PartitionId{number});
}

void Peer::attach_ingest(amqp::Link& link, const Address& address) {
    const std::string path = path_of(link.peer().target.address);
    const auto event_hub = context_.hubs.find(address.hub);
    if (!event_hub.ok()) {
        return link.refuse(tracked(entity_not_found(url_of(address.hub)), address.hub));
    }
    if (!may(Right::send, path)) {
        return link.refuse(tracked(claim_missing("Send", url_of(path)), address.hub));
    }
    const auto partition = partition_of(**event_hub, address);
    if (!partition.ok()) {
        return link.refuse(tracked(invalid_partition(address.partition, address.hub), address.hub));
    }
    const amqp::Attach& asked = link.peer();
    amqp::Attach reply;
    reply.sender_settle = asked.sender_settle;
    reply.receiver_settle = amqp::ReceiverSettle::first;
    reply.source = asked.source;
    reply.target = asked.target;
    reply.properties = asked.properties;
    reply.max_message_bytes = asked.max_message_bytes == 0
                                  ? context_.message_bytes_max
                                  : std::min(asked.max_message_bytes, context_.message_bytes_max);
    auto user = std::make_unique<Ingest>(*this, link, address.hub, *partition);
    user->need = {Right::send, path};
    link.user = std::move(user);
    links_.insert(&link);
    link.accept(std::move(reply));
    link.grant(Ingest::credit);
}

void Peer::attach_outflow(amqp::Link& link, const Address& address) {
    const amqp::Attach& asked = link.peer();
    const std::string path = path_of(asked.source.address);
    const auto refuse = [&](const amqp::Condition& why) { link.refuse(tracked(why, address.hub)); };
    const auto event_hub = context_.hubs.find(address.hub);
    if (!event_hub.ok()) return refuse(entity_not_found(url_of(path)));
    if (!may(Right::listen, path)) return refuse(claim_missing("Listen", url_of(path)));
    const auto partition = partition_of(**event_hub, address);
    if (!partition.ok() || !*partition) {
        return refuse(invalid_partition(address.partition, address.hub));
    }
    const auto position = position_of_filter(asked.source.filter);
    if (!position.ok()) return refuse(condition_of(position.error()));

    hub::ReaderRequest request;
    if (const auto epoch = amqp::integer_in(asked.properties, "com.microsoft:epoch")) {
        request.epoch = Epoch{*epoch};
        if (*epoch < 0) {
            return refuse({std::string(vendor::argument_out_of_range),
                           fmt::format("The epoch {} is negative.", *epoch)});
        }
    }
    for (const auto key : {"com.microsoft:receiver-name", "com.microsoft.com:receiver-name"}) {
        if (const auto name = amqp::text_in(asked.properties, key)) request.name = *name;
    }
    const auto& desired = asked.desired_capabilities;
    const bool metric =
        std::find(desired.begin(), desired.end(), metric_capability) != desired.end();
    auto user = std::make_unique<Outflow>(*this, link, metric);
    user->need = {Right::listen, path};
    if (const auto attached = user->attach(**event_hub, address, **partition, *position, request);
        !attached.ok()) {
        const Error& error = attached.error();
        if (error.code == ErrorCode::not_found) return refuse(entity_not_found(url_of(path)));
        auto why = condition_of(error);
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
    if (metric) reply.offered_capabilities = {std::string(metric_capability)};
    link.user = std::move(user);
    links_.insert(&link);
    link.accept(std::move(reply));
}

}  // namespace evenkeel::door
