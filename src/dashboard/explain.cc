#include "dashboard/explain.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::dashboard {
namespace {

std::string time_text(std::int64_t ms) {
    return ms == 0 ? "a time that is not known" : to_string(WallTime{ms});
}

std::string owner_sentence(const PartitionView& partition) {
    if (!partition.owner) return fmt::format("Nobody owns partition {}.", partition.partition);
    return fmt::format("{} owns partition {} since {}, with epoch {}.", *partition.owner,
                       partition.partition, time_text(partition.owned_since_ms), partition.epoch);
}

std::string origin_sentence(const GroupView& view, std::uint32_t partition) {
    const auto move = std::ranges::find_if(view.moves, [&](const processor::OwnerMove& each) {
        return each.partition.value == partition;
    });
    if (move == view.moves.end()) return "Its last move is not known.";
    return fmt::format(
        "It went from {} to {} at {}: {}.", move->from.empty() ? "nobody" : move->from,
        move->to.empty() ? "nobody" : move->to, time_text(move->at_ms), move->reason);
}

std::string share_sentence(const GroupView& view) {
    constexpr std::size_t named_max = 12;
    if (view.members.empty()) return "No member of the group is running.";
    std::string shares;
    for (std::size_t i = 0; i < std::min(view.members.size(), named_max); ++i) {
        shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", view.members[i].id,
                              view.members[i].share);
    }
    if (view.members.size() > named_max) {
        shares += fmt::format(" and {} more", view.members.size() - named_max);
    }
    return fmt::format("{} member{} share {} partitions: {}.", view.members.size(),
                       view.members.size() == 1 ? "" : "s", view.partitions.size(), shares);
}

std::string state_sentence(const PartitionView& partition) {
    if (partition.state == "parked") {
        return fmt::format("It is parked since {}: {}. It stays so until it is resumed.",
                           time_text(partition.since_ms.value_or(0)),
                           partition.cause.value_or("the reason is not known"));
    }
    if (partition.state == "paused") return "It is paused by an operator until it is resumed.";
    return "";
}

std::string next_sentence(const GroupView& view, const PartitionView& partition) {
    const auto owner = std::ranges::find_if(
        view.members, [&](const MemberView& member) { return partition.owner == member.id; });
    const bool is_there = owner != view.members.end();
    if (partition.phase == "offered" && partition.next) {
        return fmt::format(
            "It is offered to {}: when its handler has ended and its checkpoint is "
            "stored, it moves.",
            *partition.next);
    }
    const std::string next = partition.next ? *partition.next + " takes it" : "nobody can take it";
    if (!partition.owner) return fmt::format("It is free: {}.", next);
    if (!is_there) return fmt::format("Its owner is not a member any more: {}.", next);
    if (owner->state == "silent") {
        return fmt::format("Its owner has been silent for {:.1f} s. If it stays so, {}.",
                           static_cast<double>(owner->silent_ms) / 1000, next);
    }
    if (owner->state == "leaving") return "Its owner is leaving and hands everything over.";
    const auto [least, most] = std::ranges::minmax(view.members, {}, &MemberView::share);
    return most.share - least.share <= 1
               ? "Shares differ by at most one, so it stays."
               : "Shares differ by more than one: members are joining or leaving, and partitions "
                 "move one after another.";
}

}  // namespace

std::vector<std::string> explain(const GroupView& view, std::uint32_t partition) {
    if (partition >= view.partitions.size()) return {};
    const PartitionView& wanted = view.partitions[partition];
    std::vector<std::string> sentences{owner_sentence(wanted), origin_sentence(view, partition),
                                       share_sentence(view)};
    if (auto state = state_sentence(wanted); !state.empty()) sentences.push_back(std::move(state));
    sentences.push_back(next_sentence(view, wanted));
    return sentences;
}

}  // namespace evenkeel::dashboard
