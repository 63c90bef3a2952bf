// How members notice that their checkpoint store was emptied, or set back to an older copy. A
// record of the group holds a random incarnation, made once, and a count that rises now and then;
// members remember both.
//
//     request/store   "<incarnation> <count> [<accepted>]"   among the requests: each look finds it
//     request/lost    "<incarnation> <id>"   a loss, and who noticed it: no member begins until an
//                                            operator has accepted it
//
//     seen                                  means
//     our incarnation, our count or more    all is well
//     the same, one less                    the last rise was lost, as a fail-over of Redis may do
//     the same, less than that              an older copy
//     another incarnation, or none          emptied, or another store
//     another one that accepted ours        the loss was accepted while we did not look
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/store.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

inline constexpr std::string_view store_mark_key = "request/store";
inline constexpr std::string_view store_lost_key = "request/lost";

// The count rises at the first look after this: with each one (every two polls), and seldom where
// writes are paid for. A copy from before the last two rises is noticed.
Duration store_mark_period(const Timing& timing);
// A store without a mark may have been emptied a moment ago. Before the first event is handled,
// whoever made the mark waits so long for members that know better.
inline constexpr Duration store_settle = std::chrono::seconds(1);

struct StoreMark {
    std::string incarnation;
    std::uint64_t count = 0;
    std::string accepted = {};  // the incarnation whose loss an operator accepted; "" = none
    bool operator==(const StoreMark&) const = default;
};

std::string encode(const StoreMark& mark);
// None if it is not one.
std::optional<StoreMark> decode_store_mark(std::string_view text);

// What was lost, and who noticed it.
struct StoreLost {
    std::string incarnation;
    std::string noticed_by;
    bool operator==(const StoreLost&) const = default;
};

std::string encode(const StoreLost& lost);
StoreLost decode_store_lost(std::string_view text);

// What a listing of the requests says of the store.
struct StoreSigns {
    std::optional<StoreMark> mark;
    std::string mark_version;
    std::optional<StoreLost> lost;
    std::string lost_version;
};
StoreSigns read_store_signs(const std::vector<checkpoint::Record>& records);

struct StoreVerdict {
    Error error;               // `corrupt`: what happened, and what to do
    bool is_accepted = false;  // an operator knows: there is nothing to store again
};

// What one member remembers.
class StoreMemory {
public:
    explicit StoreMemory(Duration period) : period_(period) {}

    void join(const StoreMark& mark, Instant now);
    const std::string& incarnation() const { return known_.incarnation; }
    // None if it is the store that was joined, and has all that it had.
    std::optional<StoreVerdict> judge(const StoreSigns& signs, Instant now);
    // It has not risen for a period: raise it to this.
    std::optional<StoreMark> next(const StoreSigns& signs, Instant now) const;
    // The store has taken it, as was asked for at that time.
    void raised(const StoreMark& mark, Instant asked);

private:
    const Duration period_;
    StoreMark known_;
    Instant risen_;
};

// To whoever begins on a store whose loss was noticed.
Error not_accepted(const StoreLost& lost);

}  // namespace evenkeel::processor
