#include "checkpoint/redis/cluster.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t slots_count = 16'384;
using Kind = RespValue::Kind;

Error unreadable() {
    return {ErrorCode::corrupt, "CLUSTER SLOTS answers something else than slots and nodes"};
}

// [first slot, last slot, [host, port, ...] of the primary, replicas...]
bool is_range(const RespValue& entry) {
    if (entry.list.size() < 3 || entry.list[2].list.size() < 2) return false;
    const RespValue &first = entry.list[0], &last = entry.list[1], &port = entry.list[2].list[1];
    return first.kind == Kind::integer && last.kind == Kind::integer && first.integer >= 0 &&
           first.integer <= last.integer && last.integer < static_cast<std::int64_t>(slots_count) &&
           port.kind == Kind::integer && port.integer > 0 && port.integer <= 65'535;
}

}  // namespace

bool is_of_cluster(const RespValue& hello) {
    for (std::size_t i = 0; i + 1 < hello.list.size(); i += 2) {
        if (hello.list[i].text == "mode") return hello.list[i + 1].text == "cluster";
    }
    return false;
}

Result<std::vector<io::Endpoint>> cluster_primaries(const RespValue& slots,
                                                    const std::string& host) {
    std::vector<io::Endpoint> primaries;
    std::array<bool, slots_count> is_served{};
    if (slots.kind != Kind::list) return unreadable();
    for (const RespValue& entry : slots.list) {
        if (!is_range(entry)) return unreadable();
        const auto first = static_cast<std::size_t>(entry.list[0].integer);
        const auto last = static_cast<std::size_t>(entry.list[1].integer);
        std::fill(is_served.begin() + static_cast<std::ptrdiff_t>(first),
                  is_served.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
        const std::vector<RespValue>& node = entry.list[2].list;
        const bool is_nameless = node[0].text.empty() || node[0].text == "?";
        const io::Endpoint endpoint{is_nameless ? host : node[0].text,
                                    static_cast<std::uint16_t>(node[1].integer)};
        if (std::ranges::find(primaries, endpoint) == primaries.end()) {
            primaries.push_back(endpoint);
        }
    }
    const auto missing = std::ranges::count(is_served, false);
    if (missing > 0) {
        return Error{ErrorCode::unavailable,
                     fmt::format("{} of the cluster's {} slots have no node, so that keys may be "
                                 "missing; try again when CLUSTER INFO says cluster_state:ok",
                                 missing, slots_count)};
    }
    return primaries;
}

}  // namespace evenkeel::checkpoint
