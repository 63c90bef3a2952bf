// Why a partition changed hands, as operators read it in the journal. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"

namespace evenkeel::processor {

struct ClaimFacts {
    std::string self;
    std::string from;           // its owner before, "" if none
    bool is_take_over = false;  // of a member that is dead
    Epoch epoch;                // after the claim
};
std::string claim_reason(const ClaimFacts& claim);

struct TransferFacts {
    std::string self;
    std::string to = {};  // "" if it was released
    bool is_leaving = false;
    std::optional<Duration> unread = {};  // how long we have not heard from the hub
    bool has_joined = false;              // `to`, since the group was even last
    bool by_load = false;                 // shares are made even by load, else by number
};
std::string transfer_reason(const TransferFacts& transfer);

}  // namespace evenkeel::processor
