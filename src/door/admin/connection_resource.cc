#include "door/admin/connection_resource.h"

#include <fmt/core.h>

#include "base/number.h"
#include "dashboard/json_writer.h"
#include "door/admin/query.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

using dashboard::JsonWriter;
using http::Response;

std::optional<std::string> text_or_none(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

void write_link(JsonWriter& json, const LinkInfo& link) {
    json.member("role", link.is_reader ? "receiver" : "sender").member("hub", link.hub);
    json.key("partition");
    link.partition ? json.value(link.partition->value) : json.null();
    json.member("group", text_or_none(link.group)).key("epoch");
    link.epoch ? json.value(link.epoch->value) : json.null();
    json.member("credit", link.credit).member("events", link.events);
    json.member("events_per_s", link.per_second).member("attached_at", link.since);
}

void write_connection(JsonWriter& json, const ConnectionInfo& connection) {
    json.member("id", fmt::format("{}", connection.id));
    json.member("peer", io::to_string(connection.from));
    json.member("transport", name_of(connection.transport));
    json.member("container", connection.container);
    json.member("product", text_or_none(connection.product));
    json.member("rule", text_or_none(connection.who)).member("opened_at", connection.since);
    json.member("link_count", connection.link_count);
    json.key("links").array([&] {
        for (const LinkInfo& link : connection.links) {
            json.object([&] { write_link(json, link); });
        }
    });
}

}  // namespace

Result<ConnectionQuery> ConnectionResource::query_of(const AdminCall& call) const {
    EK_TRY_ASSIGN(auto given, parse_query(call.request.query, {"after", "limit"}));
    ConnectionQuery query{.hub = eventhubs::folded(call.hub)};
    if (const auto& limit = given["limit"]; !limit.empty()) {
        const auto number = parse_number<std::size_t>(limit);
        if (!number || *number == 0 || *number > limit_max) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("limit must be a number from 1 to {}", limit_max)};
        }
        query.limit = *number;
    }
    if (const auto& after = given["after"]; !after.empty()) {
        const auto number = parse_number<std::uint64_t>(after);
        if (!number) {
            return Error{ErrorCode::invalid_argument, "after must be the id of a connection"};
        }
        query.after = *number;
    }
    return query;
}

Response ConnectionResource::list(const AdminCall& call) const {
    if (!call.hub.empty()) {
        if (const auto found = hubs_.find(call.hub); !found.ok()) return error_of(found.error());
    }
    const auto query = query_of(call);
    if (!query.ok()) return error_of(query.error());
    const ConnectionPage page = lister_ ? lister_(*query) : ConnectionPage();
    JsonWriter json;
    json.object([&] {
        json.member("total", page.total).key("next");
        page.next ? json.value(fmt::format("{}", *page.next)) : json.null();
        json.key("connections").array([&] {
            for (const ConnectionInfo& connection : page.connections) {
                json.object([&] { write_connection(json, connection); });
            }
        });
    });
    return {.body = json.take() + "\n"};
}

Response ConnectionResource::readers(const AdminCall& call) const {
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return error_of(found.error());
    auto given = parse_query(call.request.query, {"p"});
    if (!given.ok()) return error_of(given.error());
    std::uint32_t from = 0;
    std::uint32_t to = (*found)->partition_count();
    if (const auto& text = (*given)["p"]; !text.empty()) {
        const auto number = parse_number<std::uint32_t>(text);
        if (!number) return bad_request("p must be the number of a partition");
        if (*number >= to) {
            return error_of(
                {ErrorCode::not_found,
                 fmt::format("there is no partition {}; the last one is {}", *number, to - 1)});
        }
        from = *number;
        to = from + 1;
    }
    JsonWriter json;
    json.object([&] {
        json.key("readers").array([&] {
            for (std::uint32_t p = from; p < to; ++p) {
                const auto partition = (*found)->partition({p});
                if (!partition.ok()) continue;
                for (const auto& reader : (*partition)->readers()) {
                    json.object([&] {
                        json.member("partition", p).member("group", reader.group);
                        json.member("name", text_or_none(reader.name)).key("epoch");
                        reader.epoch ? json.value(reader.epoch->value) : json.null();
                        json.member("next_sequence_number", reader.next.value);
                    });
                }
            }
        });
    });
    return {.body = json.take() + "\n"};
}

}  // namespace evenkeel::door
