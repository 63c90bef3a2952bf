#include "dashboard/explain.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "base/text.h"
#include "processor/ownership/move_reason.h"

namespace evenkeel::dashboard {
namespace {

constexpr std::size_t reason_bytes_max = 160;

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
    return text;
}

std::string duration_text(std::int64_t ms) {
    if (ms < 1000) return fmt::format("{} ms", ms);
    if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
    return fmt::format("{} min {} s", ms / 60'000, ms / 1000 % 60);
}

// ", nobody read it for 41 ms and nothing repeated", of what is known.
std::string cost(const processor::OwnerMove& move) {
    std::vector<std::string> words;
    if (move.gap_ms) words.push_back("nobody read it for " + duration_text(*move.gap_ms));
    if (move.repeated == 0) {
        words.emplace_back("nothing repeated");
    } else if (move.repeated) {
        words.push_back(
            fmt::format("{} event{} repeated", *move.repeated, *move.repeated == 1 ? "" : "s"));
    }
    return words.empty() ? "" : "; " + listed(words);
}

// Behind "It came from agg-7f2c".
std::string cause_words(const processor::OwnerMove& move) {
    processor::TransferFacts facts{.self = move.from, .to = move.to};
    if (move.reason == transfer_reason(facts)) return " because shares differed";
    facts.by_load = true;
    if (move.reason == transfer_reason(facts)) return " because loads differed";
    facts.has_joined = true;
    if (move.reason == transfer_reason(facts)) return " when " + shown(move.to) + " joined";
    facts.is_leaving = true;
    if (move.reason == transfer_reason(facts)) return ", which stopped";
    return " (" + printable(move.reason, reason_bytes_max) + ")";
}

std::string origin_sentence(const GroupView& view, std::uint32_t partition) {
    const auto move = std::ranges::find_if(view.moves, [&](const processor::OwnerMove& each) {
        return each.partition.value == partition;
    });
    if (move == view.moves.end()) {
        return "No move of it is in the journal: it has been here for longer than that.";
    }
    if (move->to.empty()) return fmt::format("{} gave it up.", shown(move->from));
    if (move->from.empty()) return fmt::format("Nobody had it before {}.", shown(move->to));
    if (move->from == move->to) {
        return fmt::format("{} had it before it was restarted{}.", shown(move->to), cost(*move));
    }
    if (move->reason.starts_with("taken over")) {
        return fmt::format("It was taken over from {}, which was silent{}.", shown(move->from),
                           cost(*move));
    }
    return fmt::format("It came from {}{}{}.", shown(move->from), cause_words(*move), cost(*move));
}

// The shares of the members that take partitions, the largest first.
std::vector<std::uint32_t> shares_of(const GroupView& view) {
    std::vector<std::uint32_t> shares;
    for (const MemberView& member : view.members) {
        if (member.state == "active" || member.share > 0) shares.push_back(member.share);
    }
    std::ranges::sort(shares, std::greater<>());
    return shares;
}

std::string balance_sentence(const GroupView& view) {
    constexpr std::size_t named_max = 6;
    const auto shares = shares_of(view);
    if (shares.size() < 2) return "It stays: there is no other member.";
    std::vector<std::string> words;
    words.reserve(shares.size());
    for (const auto share : shares) words.push_back(std::to_string(share));
    const std::string said = shares.size() <= named_max
                                 ? "are " + listed(words)
                                 : fmt::format("go from {} to {}", shares.back(), shares.front());
    const std::size_t least = view.partitions.size() / shares.size();
    const std::string fair = view.partitions.size() % shares.size() == 0
                                 ? std::to_string(least)
                                 : fmt::format("{} or {}", least, least + 1);
    return shares.front() - shares.back() <= 1
               ? fmt::format(
                     "It stays: shares {}. A fair share of {} among {} is {}, so moving it "
                     "would make nothing more even.",
                     said, view.partitions.size(), shares.size(), fair)
               : fmt::format("Shares {}, so partitions still move, one after another.", said);
}

std::string state_sentence(const PartitionView& partition) {
    if (partition.state == "parked") return "It is parked: nobody reads it until it is resumed.";
    if (partition.state == "paused") return "It is paused: nobody reads it until it is resumed.";
    if (partition.state == "stalled") return "A stall alone does not move a partition.";
    return "";
}

std::string next_sentence(const GroupView& view, const PartitionView& partition) {
    const auto owner = std::ranges::find_if(
        view.members, [&](const MemberView& member) { return partition.owner == member.id; });
    const std::string next =
        partition.next ? shown(*partition.next) + " takes it" : "nobody can take it";
    if (!partition.owner) return fmt::format("It is free: {}.", next);
    if (owner == view.members.end()) {
        return fmt::format("Its owner is not a member any more: {}.", next);
    }
    if (owner->state == "silent") return fmt::format("If its owner stays silent, {}.", next);
    if (partition.phase != "owned" && partition.next) {
        return fmt::format(
            "It is on its way to {}: it moves when its handler has ended and its checkpoint is "
            "stored.",
            shown(*partition.next));
    }
    if (owner->state == "leaving") return "Its owner is leaving and hands everything over.";
    return balance_sentence(view);
}

}  // namespace

std::vector<std::string> explain(const GroupView& view, std::uint32_t partition) {
    if (partition >= view.partitions.size()) return {};
    const PartitionView& wanted = view.partitions[partition];
    std::vector<std::string> sentences{origin_sentence(view, partition),
                                       next_sentence(view, wanted)};
    if (auto state = state_sentence(wanted); !state.empty()) sentences.push_back(std::move(state));
    return sentences;
}

}  // namespace evenkeel::dashboard
