#include "door/amqp/nodes.h"

#include <fmt/core.h>

#include "amqp/message.h"
#include "door/amqp/conditions.h"
#include "door/amqp/node_links.h"
#include "door/amqp/partition_name.h"
#include "eventhubs/names.h"
#include "eventhubs/sas.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::door {
namespace {

namespace metric = eventhubs::metric;
namespace names = eventhubs::request;
namespace reply_names = eventhubs::reply;

using amqp::Buffer;
using amqp::Encoder;

constexpr std::int64_t year_one_ms = -62135596800000;

// The application properties of a reply.
Buffer status(std::int32_t code, std::string_view description, std::string_view condition,
              bool is_read) {
    Buffer bytes;
    Encoder encoder(bytes);
    const auto map = encoder.begin_map();
    std::uint32_t count = 2;
    if (is_read) {
        encoder.string(names::operation);
        encoder.string(names::read);
        count += 2;
    }
    encoder.string(reply_names::status_code);
    encoder.int_(code);
    if (!description.empty()) {
        encoder.string(reply_names::status_description);
        encoder.string(description);
        count += 2;
    }
    if (!condition.empty()) {
        encoder.string(reply_names::error_condition);
        encoder.symbol(condition);
        count += 2;
    }
    encoder.end(map, count);
    return bytes;
}

Buffer describe(const hub::EventHubRecord& record, const std::string& identity) {
    Buffer bytes;
    Encoder encoder(bytes);
    const auto map = encoder.begin_map();
    encoder.string(names::name);
    encoder.string(record.name);
    encoder.string(names::type);
    encoder.string(names::event_hub_type);
    encoder.string(reply_names::created_at);
    encoder.timestamp(record.created.milliseconds);
    encoder.string(reply_names::partition_count);
    encoder.int_(static_cast<std::int32_t>(record.partitions));
    encoder.string(reply_names::partition_ids);
    std::vector<std::string> ids;
    for (std::uint32_t i = 0; i < record.partitions; ++i) ids.push_back(std::to_string(i));
    encoder.strings(ids);
    encoder.string(reply_names::georeplication_factor);
    encoder.int_(1);
    // Ours: SDKs pass over what they do not know.
    encoder.string(reply_names::identity);
    encoder.string(identity);
    encoder.end(map, 14);
    return bytes;
}

Buffer describe(std::string_view hub, PartitionId partition,
                const commitlog::LogProperties& properties) {
    Buffer bytes;
    Encoder encoder(bytes);
    const bool never_used = properties.last_sequence.value < 0;
    const auto map = encoder.begin_map();
    encoder.string(names::name);
    encoder.string(hub);
    encoder.string(names::partition);
    encoder.string(std::to_string(partition.value));
    encoder.string(names::type);
    encoder.string(names::partition_type);
    encoder.string(reply_names::begin_sequence_number_epoch);
    encoder.int_(-1);
    encoder.string(reply_names::begin_sequence_number);
    encoder.long_(properties.begin_sequence.value);
    encoder.string(metric::last_sequence_number_epoch);
    encoder.int_(-1);
    encoder.string(metric::last_sequence_number);
    encoder.long_(properties.last_sequence.value);
    encoder.string(metric::last_offset);
    encoder.string(std::to_string(properties.last_offset.value));
    encoder.string(metric::last_time);
    encoder.timestamp(never_used ? year_one_ms : properties.last_enqueued.milliseconds);
    encoder.string(reply_names::is_partition_empty);
    encoder.boolean(properties.is_empty);
    encoder.end(map, 20);
    return bytes;
}

}  // namespace

void Nodes::handle(eventhubs::Address::Kind node, amqp::Link& link, const amqp::Request& request) {
    node == eventhubs::Address::Kind::cbs ? handle_cbs(link, request)
                                          : handle_management(link, request);
}

// Finds the client's receiver for a reply: by its target, its name, its session, or at all; of
// several that fit, the latest.
void Nodes::answer(amqp::Link& from, eventhubs::Address::Kind node, const amqp::Request& request,
                   Buffer message) {
    Replies* best = nullptr;
    int best_rank = 5;
    for (const auto& [link, user] : host_.links().entries()) {
        Replies* const replies = user->replies();
        if (!replies || replies->node != node) continue;
        int rank = 4;
        if (&link->session() == &from.session()) rank = 3;
        if (!request.reply_to.empty()) {
            if (link->peer().name == request.reply_to) rank = 2;
            if (link->peer().target.address == request.reply_to) rank = 1;
        }
        if (rank <= best_rank) {
            best_rank = rank;
            best = replies;
        }
    }
    if (best) best->push(std::move(message));
}

void Nodes::handle_cbs(amqp::Link& link, const amqp::Request& request) {
    const auto reply = [&](std::int32_t code, std::string_view text, std::string_view condition) {
        Buffer message;
        const std::string description =
            code == 202 ? std::string(text)
                        : std::string(text) +
                              tracking(eventhubs::node::cbs, host_.context().loop.clock().wall());
        amqp::encode_response(request.message_id, status(code, description, condition, false), {},
                              message);
        answer(link, eventhubs::Address::Kind::cbs, request, std::move(message));
    };
    const auto operation = amqp::text_in(request.properties, names::operation);
    const auto name = amqp::text_in(request.properties, names::name);
    const auto type = amqp::text_in(request.properties, names::type);
    if (operation != names::put_token || !name || !type) {
        return reply(400, "The request is not a put-token with name and type.",
                     vendor::argument_error);
    }
    auto claim = host_.login().check_token(*type, request.text, host_.host_name());
    if (!claim.ok()) {
        host_.context().activity.login_refused(host_.visitor(), who_says(request.text),
                                               claim.error().detail);
        return reply(401, claim.error().detail, vendor::auth_failed);
    }
    // Without a scheme the first name is the host's, if it is that of this connection.
    const auto below_host = eventhubs::path_on(host_.host_name(), *name);
    const bool has_scheme = name->find("://") != std::string_view::npos;
    const std::string audience =
        !has_scheme && below_host ? "sb://" + std::string(*name) : std::string(*name);
    const eventhubs::Address address = eventhubs::parse_address(audience);
    // Who asks for what its token does not reach does not learn whether it is there.
    if (!reaches(*claim, {eventhubs::folded(address.hub), eventhubs::path_of(audience)})) {
        constexpr auto why = "InvalidAudience: The token does not cover the audience.";
        host_.context().activity.login_refused(host_.visitor(), who_of(*claim), why);
        return reply(401, why, vendor::auth_failed);
    }
    if (!address.hub.empty() && !host_.context().hubs.find(address.hub).ok()) {
        const auto why = entity_not_found(std::string(*name));
        host_.context().activity.refused(Refusal::unknown_hub, host_.visitor(), *name,
                                         why.description);
        return reply(404, why.description, amqp::condition::not_found);
    }
    if (const auto why = host_.login().find_place(*claim)) return host_.close(*why);
    host_.login().renew(std::move(*claim));
    reply(202, "Accepted", "");
}

void Nodes::handle_management(amqp::Link& link, const amqp::Request& request) {
    const auto reply = [&](ByteView properties, ByteView body) {
        Buffer message;
        amqp::encode_response(request.message_id, properties, body, message);
        answer(link, eventhubs::Address::Kind::management, request, std::move(message));
    };
    const auto refuse = [&](std::int32_t code, amqp::Condition why) {
        why = host_.tracked(std::move(why), eventhubs::node::management);
        reply(status(code, why.description, why.name, true), {});
    };
    const auto operation = amqp::text_in(request.properties, names::operation);
    const auto type = amqp::text_in(request.properties, names::type);
    const auto name = amqp::text_in(request.properties, names::name);
    const bool known = type == names::event_hub_type || type == names::partition_type;
    if (operation != names::read || !known || !name) {
        return refuse(501, {std::string(amqp::condition::not_implemented),
                            "Only READ of com.microsoft:eventhub and com.microsoft:partition."});
    }
    const Entity entity{eventhubs::folded(*name), eventhubs::path_of(*name)};
    std::vector<Claim> claims = host_.login().claims();
    if (const auto token = amqp::text_in(request.properties, names::security_token);
        token && !token->empty()) {
        const bool is_sas = token->starts_with(eventhubs::sas_word);
        auto claim = host_.login().check_token(is_sas ? names::sas_token : names::json_web_token,
                                               *token, host_.host_name());
        if (!claim.ok()) {
            host_.context().activity.login_refused(host_.visitor(), who_says(*token),
                                                   claim.error().detail);
            return refuse(401, {std::string(vendor::auth_failed), claim.error().detail});
        }
        host_.login().show(*claim);
        claims.push_back(std::move(*claim));
    }
    const WallTime now = host_.context().loop.clock().wall();
    const bool allowed = is_allowed(claims, Right::listen, entity, now) ||
                         is_allowed(claims, Right::send, entity, now) ||
                         is_allowed(claims, Right::manage, entity, now);
    if (!allowed) return refuse(401, claim_missing("Listen", host_.url_of(entity.path)));
    const auto event_hub = host_.context().hubs.find(*name);
    if (!event_hub.ok()) return refuse(404, hub_missing(event_hub.error(), host_.url_of(*name)));
    if (type == names::event_hub_type) {
        return reply(status(200, "", "", true),
                     describe((*event_hub)->record(), host_.context().hubs.identity()));
    }
    eventhubs::Address address;
    if (const auto text = amqp::text_in(request.properties, names::partition)) {
        address.partition = *text;
    } else if (const auto number = amqp::integer_in(request.properties, names::partition)) {
        address.partition = std::to_string(*number);
    }
    const auto partition = partition_of(**event_hub, address);
    if (!partition.ok() || !*partition) {
        return refuse(400, invalid_partition(address.partition, *name));
    }
    const auto found = (*event_hub)->partition(**partition);
    const auto log = (*found)->log();
    if (!log.ok()) return refuse(503, storage_condition(log.error()));
    reply(status(200, "", "", true),
          describe((*event_hub)->record().name, **partition, (*log)->properties()));
}

}  // namespace evenkeel::door
