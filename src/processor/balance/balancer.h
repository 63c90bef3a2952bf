// Which partitions go to whom: a pure function of what one member sees. All members that see the
// same compute the same, so nobody has to lead.
//
//     View: who lives, who owns and offers what ──▶ plan() ──▶ what each should have, and of that:
//                                                              what *we* claim, offer and steal
//
// Invariants
//   BAL-1  Quotas are floor or ceiling of partitions by members, and sum up to the partitions.
//   BAL-2  A member offers only what exceeds its quota, counting what is offered already; a
//          receiver gets at most its quota, plus free partitions that nobody needs.
//   BAL-3  Moves are as few as can be: the larger shares go to those who have more than the floor.
//   BAL-4  The order of members or claims does not matter: ties are broken by hashes of names.
//   BAL-5  What a member cannot read goes to members that can, never to another that cannot.
// No I/O, no clock, no chance. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace evenkeel::processor {

// A place in View::members.
using MemberIndex = std::int32_t;
inline constexpr MemberIndex nobody = -1;

struct ViewMember {
    std::string id;
    bool is_leaving = false;
    bool is_on_probation = false;  // crashed again and again, or silent: gets nothing new for now
    bool is_foreign = false;       // an official member: known only by what it owns
    bool is_unable = false;        // cannot read: gets nothing, unless nobody can
    bool gives_all = false;        // and gives what it has to those that can
};

struct ViewPartition {
    MemberIndex owner = nobody;       // nobody: free to take
    MemberIndex offered_to = nobody;  // by its owner
    double load = 0;                  // events a second; 0 = unknown
};

struct View {
    MemberIndex self = nobody;
    std::vector<ViewMember> members;        // those that live, each once
    std::vector<ViewPartition> partitions;  // by number
    bool by_load = false;  // share by load where loads are known and no foreign member is seen
};

struct Move {
    PartitionId partition;
    MemberIndex from = nobody;  // nobody: it is free
    MemberIndex to = nobody;
    bool operator==(const Move&) const = default;
};

struct Plan {
    std::vector<std::uint32_t> counts;  // of each member, offers counted as done
    std::vector<std::uint32_t> quotas;
    std::vector<Move> moves;  // of all members: free ones first, then from leaving, then surplus
    bool by_load = false;

    // Ours among the moves, in the order to carry them out.
    std::vector<PartitionId> claims;  // free, and ours to take
    std::vector<PartitionId> steals;  // from foreign members that have too many
    std::vector<Move> offers;         // ours to give
    bool expects = false;             // something is to come to us
};

Plan plan(const View& view);

// The inputs, the shares and the moves with their reasons, for operators.
std::string explain(const View& view, const Plan& plan);

// How many partitions a newcomer may hold so far, if all of `quota` are its due at the end of
// `ramp`; at least 1 if any.
std::uint32_t ramp_limit(std::uint32_t quota, double age_seconds, double ramp_seconds);

// Equal on every machine; high values win.
std::uint64_t member_hash(const std::string& id);
std::uint64_t pair_hash(std::uint64_t member, PartitionId partition);

}  // namespace evenkeel::processor
