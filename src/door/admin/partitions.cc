#include "door/admin/partitions.h"

#include <cmath>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "door/admin/json_text.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;

// To a tenth: one event in the ten seconds that a rate looks back.
double rounded(double rate) {
    return std::round(rate * 10) / 10;
}

json::object partition_json(hub::Partition& partition, Instant now) {
    json::object object{{"partition", partition.id().value}};
    const auto log = partition.log();
    if (!log.ok()) {
        object["error"] = json_text(log.error().detail);
        return object;
    }
    const auto properties = (*log)->properties();
    const bool was_used = properties.last_sequence.value >= 0;
    object["begin_sequence_number"] = properties.begin_sequence.value;
    object["last_sequence_number"] = properties.last_sequence.value;
    object["last_offset"] = properties.last_offset.value;
    object["last_enqueued_at"] = nullptr;
    if (was_used) object["last_enqueued_at"] = json_text(to_string(properties.last_enqueued));
    object["is_empty"] = properties.is_empty;
    object["size_bytes"] = properties.bytes;
    object["readers"] = partition.reader_count();
    const auto traffic = partition.traffic(now);
    object["events_in_per_second"] = rounded(traffic.in);
    object["events_out_per_second"] = rounded(traffic.out);
    object["oldest_enqueued_at"] = nullptr;
    json::array problems;
    for (const auto& damage : (*log)->damages()) {
        problems.emplace_back(json_text(commitlog::to_string(damage)));
    }
    object["problems"] = std::move(problems);
    return object;
}

// The next record from the beginning: it is in memory, has to be read, or is not there. No
// hub/partition_stream.h: that is for a reader, which would count as one, and needs an owner that
// lives until it has answered. One record of each partition is read here, for all in one task, and
// none is read again: damage and missing files leave the answer open.
commitlog::ReadStep first_record(hub::Partition& partition) {
    const auto log = partition.log();
    if (!log.ok()) return {};
    auto cursor = (*log)->seek(Position::earliest());
    if (!cursor.ok()) return {};
    return (*log)->read(*cursor, 1);
}

// Left open if there is none, or if it is damaged.
void set_oldest(json::array& partitions, std::size_t index, const commitlog::Slice& events) {
    if (events.empty()) return;
    partitions[index].as_object()["oldest_enqueued_at"] =
        json_text(to_string((*events.begin()).enqueued));
}

}  // namespace

PartitionResource::PartitionResource(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs)
    : loop_(loop), reads_(reads), hubs_(hubs) {
    watch_traffic();
}

void PartitionResource::list(const AdminCall& call, AdminAnswer answer) {
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return answer(error_of(found.error()));
    const Instant now = loop_.clock().now();
    json::array partitions;
    std::vector<std::pair<std::size_t, commitlog::ColdRead>> cold;
    for (std::uint32_t i = 0; i < (*found)->partition_count(); ++i) {
        const auto partition = (*found)->partition({i});
        if (!partition.ok()) continue;
        const std::size_t index = partitions.size();
        partitions.emplace_back(partition_json(**partition, now));
        auto first = first_record(**partition);
        if (const auto* const slice = std::get_if<commitlog::Slice>(&first)) {
            set_oldest(partitions, index, *slice);
        } else if (auto* const read = std::get_if<commitlog::ColdRead>(&first)) {
            cold.emplace_back(index, std::move(*read));
        }
    }
    if (cold.empty()) return answer(json_response({{"partitions", std::move(partitions)}}));
    reads_.post([&loop = loop_, cold = std::move(cold), partitions = std::move(partitions),
                 answer = lifetime_.guard(std::move(answer))]() mutable {
        for (const auto& [index, read] : cold) {
            const auto outcome = read.perform();
            if (outcome.ok()) set_oldest(partitions, index, outcome->events);
        }
        cold.clear();
        loop.post([partitions = std::move(partitions), answer = std::move(answer)]() mutable {
            answer(json_response({{"partitions", std::move(partitions)}}));
        });
    });
}

void PartitionResource::watch_traffic() {
    hubs_.sample_traffic();
    loop_.run_after(hub::Rate::step, lifetime_.guard([this] { watch_traffic(); }));
}

}  // namespace evenkeel::door
