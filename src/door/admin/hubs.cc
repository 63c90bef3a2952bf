// tidy: no test: tested by admin_test.cc
#include "door/admin/hubs.h"

#include <chrono>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "door/admin/gate.h"
#include "door/admin/groups.h"
#include "door/admin/json_text.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;
using http::error_response;
using http::Response;

constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
// Such that times do not overflow: 10,000 years.
constexpr std::int64_t retention_ms_max = std::int64_t{10'000} * 365 * 24 * 3600 * 1000;

Result<EventHubChange> take_change(Members& members) {
    EventHubChange change;
    EK_TRY_ASSIGN(const auto partitions,
                  members.take_number("partitions", std::numeric_limits<std::int32_t>::max()));
    EK_TRY_ASSIGN(const auto retention, members.take_number("retention_ms", retention_ms_max));
    EK_TRY_ASSIGN(const auto bytes, members.take_number("partition_bytes_max", number_max));
    EK_TRY(members.check_empty());
    if (partitions) change.partitions = static_cast<std::uint32_t>(*partitions);
    if (retention) change.retention = std::chrono::milliseconds(*retention);
    if (bytes) change.partition_bytes_max = static_cast<std::uint64_t>(*bytes);
    return change;
}

json::object hub_json(const hub::EventHubRecord& record) {
    json::array groups;
    for (const auto& group : groups_of(record)) groups.emplace_back(json_text(group));
    return {{"name", json_text(record.name)},
            {"partitions", record.partitions},
            {"retention_ms", record.retention.count()},
            {"partition_bytes_max", record.partition_bytes_max},
            {"created_at", json_text(to_string(record.created))},
            {"groups", std::move(groups)}};
}

// Calls `done` when the last one is done, with the first error if there was one.
void purge_all(const std::vector<commitlog::Log*>& logs, SequenceNumber first_kept,
               Callback<void(Result<>)> done) {
    // Each log answers when it likes, so what they have in common belongs to the last of them.
    struct Progress {
        Callback<void(Result<>)> done;
        std::size_t left = 0;
        Result<> result = {};
    };
    auto progress = std::make_shared<Progress>();
    progress->done = std::move(done);
    progress->left = logs.size();
    for (commitlog::Log* log : logs) {
        log->purge(first_kept, [progress](Result<> purged) {
            if (!purged.ok() && progress->result.ok()) progress->result = std::move(purged);
            if (--progress->left == 0) progress->done(std::move(progress->result));
        });
    }
}

}  // namespace

Response HubResource::list(const AdminCall& call) const {
    const WallTime now = loop_.clock().wall();
    json::array hubs;
    for (const auto* record : hubs_.list()) {
        if (may_read(*call.claim, entity_of(record->name), now)) {
            hubs.emplace_back(hub_json(*record));
        }
    }
    return json_response({{"hubs", std::move(hubs)}});
}

Response HubResource::show(const std::string& name, int status) const {
    const auto found = hubs_.find(name);
    if (!found.ok()) return error_of(found.error());
    return json_response(hub_json((*found)->record()), status);
}

void HubResource::create(const AdminCall& call, AdminAnswer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto name = members->take_text("name");
    if (!name.ok()) return answer(error_of(name.error()));
    if (!*name) return answer(bad_request("name is missing"));
    const auto wanted = take_change(*members);
    if (!wanted.ok()) return answer(error_of(wanted.error()));
    EventHubOptions options;
    options.partitions = wanted->partitions.value_or(options.partitions);
    options.retention = wanted->retention.value_or(options.retention);
    options.partition_bytes_max = wanted->partition_bytes_max.value_or(options.partition_bytes_max);
    hubs_.create(**name, options, then(lifetime_, std::move(answer), [this, name = **name] {
        return show(name, 201);
    }));
}

void HubResource::alter(const AdminCall& call, AdminAnswer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto change = take_change(*members);
    if (!change.ok()) return answer(error_of(change.error()));
    hubs_.alter(call.hub, *change, then(lifetime_, std::move(answer), [this, name = call.hub] {
                    return show(name, 200);
                }));
}

void HubResource::remove(const AdminCall& call, AdminAnswer answer) {
    hubs_.remove(call.hub, lifetime_.guard([this, hub = call.hub, answer = std::move(answer)](
                                               const Result<>& removed) mutable {
        if (!removed.ok()) return answer(error_of(removed.error()));
        keys_.remove_hub(hub, then(lifetime_, std::move(answer), &no_content));
    }));
}

void HubResource::purge(const AdminCall& call, AdminAnswer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto partition =
        members->take_number("partition", std::numeric_limits<std::int32_t>::max());
    if (!partition.ok()) return answer(error_of(partition.error()));
    const auto before = members->take_number("before_sequence_number", number_max);
    if (!before.ok()) return answer(error_of(before.error()));
    if (const auto rest = members->check_empty(); !rest.ok()) {
        return answer(error_of(rest.error()));
    }
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return answer(error_of(found.error()));
    std::vector<commitlog::Log*> logs;
    for (std::uint32_t i = 0; i < (*found)->partition_count(); ++i) {
        if (*partition && **partition != i) continue;
        const auto one = (*found)->partition({i});
        const auto log = one.ok() ? (*one)->log() : Result<commitlog::Log*>(one.error());
        if (!log.ok()) return answer(error_of(log.error()));
        logs.push_back(*log);
    }
    if (logs.empty()) {
        return answer(error_response(404, "not_found", "there is no such partition"));
    }
    const SequenceNumber first_kept{before->value_or(number_max)};
    purge_all(logs, first_kept, then(lifetime_, std::move(answer), &no_content));
}

}  // namespace evenkeel::door
