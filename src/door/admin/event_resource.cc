#include "door/admin/event_resource.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "dashboard/event_peek.h"
#include "dashboard/json_writer.h"
#include "door/admin/gate.h"
#include "door/admin/query.h"

namespace evenkeel::door {
namespace {

using dashboard::BrowseQuery;
using http::Response;

// A JSON text that is written already.
Callback<void(Result<std::string>)> answering(const Lifetime& lifetime, AdminAnswer answer) {
    return lifetime.guard([answer = std::move(answer)](Result<std::string> json) mutable {
        answer(json.ok() ? Response{.body = std::move(*json) + "\n"} : error_of(json.error()));
    });
}

Result<std::vector<std::uint32_t>> parse_partitions(std::string_view text) {
    std::vector<std::uint32_t> partitions;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const auto partition = parse_number<std::uint32_t>(word);
        if (!partition) {
            return Error{ErrorCode::invalid_argument,
                         "p must be numbers of partitions, such as 0,3"};
        }
        const bool is_new = std::ranges::find(partitions, *partition) == partitions.end();
        if (is_new) partitions.push_back(*partition);
    }
    return partitions;
}

// Batches of several partitions: answers when the last one is stored.
struct Sending {
    AdminAnswer answer;
    std::map<std::uint32_t, commitlog::Appended> stored;
    std::size_t left = 0;
    Result<> result = {};

    // Whoever sends all of it again stores these twice.
    Error error() const {
        Error error = result.error();
        if (stored.empty()) return error;
        std::string places;
        for (const auto& [partition, events] : stored) {
            places += fmt::format("{}{} ({} to {})", places.empty() ? "" : ", ", partition,
                                  events.first.value, events.last.value);
        }
        error.detail += "; stored nevertheless: those of the partitions " + places;
        return error;
    }
    void finish() {
        if (!result.ok()) return answer(error_of(error()));
        dashboard::JsonWriter json;
        json.object([&] {
            json.key("sent").array([&] {
                for (const auto& each : stored) {
                    json.object([&] {
                        json.member("partition", each.first);
                        json.member("first", each.second.first.value);
                        json.member("last", each.second.last.value);
                    });
                }
            });
        });
        answer({.status = 201, .body = json.take() + "\n"});
    }
};

}  // namespace

Result<BrowseQuery> EventResource::query_of(const AdminCall& call) const {
    EK_TRY_ASSIGN(auto given, parse_query(call.request.query, {"from", "p", "where", "limit",
                                                               "cursor", "since", "whole"}));
    BrowseQuery query;
    EK_TRY_ASSIGN(query.start, dashboard::parse_browse_start(given["from"]));
    EK_TRY_ASSIGN(query.partitions, parse_partitions(given["p"]));
    if (const auto& limit = given["limit"]; !limit.empty()) {
        const auto number = parse_number<std::size_t>(limit);
        if (!number || *number == 0 || *number > BrowseQuery::limit_max) {
            return Error{
                ErrorCode::invalid_argument,
                fmt::format("limit must be a number from 1 to {}", BrowseQuery::limit_max)};
        }
        query.limit = *number;
    }
    if (const auto& cursor = given["cursor"]; !cursor.empty()) {
        EK_TRY_ASSIGN(query.cursor, dashboard::parse_browse_cursor(cursor));
    }
    if (const auto& since = given["since"]; !since.empty()) {
        EK_TRY_ASSIGN(query.since, dashboard::parse_browse_places(since));
        if (query.start.kind != dashboard::BrowseStart::Kind::newest || query.cursor) {
            return Error{ErrorCode::invalid_argument, "since goes with from=newest"};
        }
    }
    if (const auto& where = given["where"]; !where.empty()) {
        if (!filters_) return Error{ErrorCode::unsupported, "this server has no filters"};
        EK_TRY_ASSIGN(query.match, filters_(call.hub, where));
    }
    if (given["whole"] == "1") query.length = dashboard::BodyLength::whole;
    return query;
}

void EventResource::browse(const AdminCall& call, AdminAnswer answer) {
    auto query = query_of(call);
    if (!query.ok()) return answer(error_of(query.error()));
    if (browses_ == browses_max) {
        return answer(
            error_of({ErrorCode::overloaded,
                      fmt::format("{} pages of events are being read already; ask again soon",
                                  browses_max)}));
    }
    ++browses_;
    dashboard::browse(place_of(call), std::move(*query),
                      lifetime_.guard([this, answer = answering(lifetime_, std::move(answer))](
                                          Result<std::string> json) mutable {
                          --browses_;
                          answer(std::move(json));
                      }));
}

void EventResource::show(const AdminCall& call, AdminAnswer answer) {
    const auto partition = parse_number<std::uint32_t>(call.partition);
    const auto sequence = parse_number<std::int64_t>(call.sequence);
    if (!partition || !sequence || *sequence < 0) {
        return answer(bad_request("a partition and a sequence number are numbers"));
    }
    dashboard::show_event(place_of(call), {*partition}, {*sequence},
                          answering(lifetime_, std::move(answer)));
}

void EventResource::send(const AdminCall& call, AdminAnswer answer) {
    if (const auto hub = hubs_.find(call.hub); !hub.ok()) return answer(error_of(hub.error()));
    const auto copy = parse_copy_of(call.request.body);
    if (!copy.ok()) return answer(error_of(copy.error()));
    if (*copy) return send_copy(call, **copy, std::move(answer));
    const auto given = parse_sent_events(call.request.body, events_max);
    if (!given.ok()) return answer(error_of(given.error()));
    store({call.hub, *call.claim, call.request.peer}, *given, std::move(answer));
}

void EventResource::send_copy(const AdminCall& call, const CopyOf& wanted, AdminAnswer answer) {
    if (!is_allowed({*call.claim}, Right::listen, entity_of(wanted.hub), loop_.clock().wall())) {
        return answer(http::error_response(
            403, "forbidden",
            "the token does not allow to read events of '" + shown(wanted.hub) + "'"));
    }
    const auto hub = hubs_.find(wanted.hub);
    const auto partition = hub.ok() ? (*hub)->partition(wanted.partition) : hub.error();
    if (!partition.ok()) return answer(error_of(partition.error()));
    auto found = std::make_shared<Result<SentEvent>>(
        Error{ErrorCode::not_found, fmt::format("partition {} has no event {} (any more)",
                                                wanted.partition.value, wanted.sequence.value)});
    const Sender sender{call.hub, *call.claim, call.request.peer};
    dashboard::EventPeek::start(
        loop_, reads_, **partition, Position::at_sequence(wanted.sequence.value),
        [found, sequence = wanted.sequence](const Event& event) {
            if (event.sequence_number != sequence.value) return false;
            auto message = storable(event.sections);
            if (message.ok()) {
                *found = SentEvent{std::string(event.partition_key), std::move(*message)};
            } else {
                *found = message.error();
            }
            return false;
        },
        lifetime_.guard([this, found, sender, answer = std::move(answer)](
                            const Result<dashboard::EventPeek::Ended>& ended) mutable {
            if (!ended.ok()) return answer(error_of(ended.error()));
            if (!found->ok()) return answer(error_of(found->error()));
            store(sender, {{std::move(**found)}, std::nullopt}, std::move(answer));
        }));
}

void EventResource::store(const Sender& sender, const SentEvents& given, AdminAnswer answer) {
    const auto hub = hubs_.find(sender.hub);
    if (!hub.ok()) return answer(error_of(hub.error()));
    std::map<std::uint32_t, std::vector<commitlog::NewEvent>> batches;
    std::map<std::uint32_t, Intake::Size> sizes;
    Intake::Size whole;
    for (const SentEvent& event : given.events) {
        const auto partition = (*hub)->route(given.partition, event.partition_key);
        if (!partition.ok()) return answer(error_of(partition.error()));
        batches[partition->value].push_back(
            {as_bytes(event.partition_key), as_bytes(event.message)});
        for (Intake::Size* const size : {&whole, &sizes[partition->value]}) {
            ++size->events;
            size->bytes += event.message.size();
        }
    }
    if (auto refusal = intake_.refuse(sender.claim, sender.from, sender.hub, whole)) {
        return answer(std::move(*refusal));
    }
    auto sending = std::make_shared<Sending>();
    sending->answer = lifetime_.guard(std::move(answer));
    sending->left = batches.size();
    for (const auto& [partition, events] : batches) {
        (*hub)->append({partition}, events,
                       [sending, p = partition,
                        counted = lifetime_.guard([this, name = sender.hub, size = sizes[partition],
                                                   began = intake_.now()] {
                            intake_.note_stored(name, size, began);
                        })](const Result<commitlog::Appended>& appended) mutable {
                           if (appended.ok()) {
                               sending->stored[p] = *appended;
                               counted();
                           } else if (sending->result.ok()) {
                               sending->result = appended.error();
                           }
                           if (--sending->left == 0) sending->finish();
                       });
    }
}

}  // namespace evenkeel::door
