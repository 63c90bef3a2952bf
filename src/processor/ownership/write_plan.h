// Which ownership records a round writes: renewals and verifications of what we hold, claims of
// what is free, and what is taken from processors of other SDKs. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "checkpoint/store.h"
#include "processor/balance/balancer.h"
#include "processor/balance/holdings.h"
#include "processor/balance/smoothed_loads.h"
#include "processor/ownership/coordinator_options.h"
#include "processor/ownership/hand_over.h"
#include "processor/ownership/lease.h"
#include "processor/ownership/ownerships.h"
#include "processor/ownership/renewals.h"

namespace evenkeel::processor {

struct OwnershipWrite {
    enum class Kind : std::uint8_t { claim, verify, renew };

    checkpoint::Ownership entry;  // as it shall be; its version the one to replace
    Kind kind;
    std::string from = {};      // a claim: who had it
    bool is_take_over = false;  // a claim: `from` is a member of ours, and must be dead
};

// What the choice depends on; all of it outlives the call.
struct WriteFacts {
    const CoordinatorOptions& options;
    const View& view;
    const Plan& plan;
    const Holdings& holdings;
    const Ownerships& ownerships;
    const HandOvers& hand_overs;
    const SmoothedLoads& loads;
    const Renewals& renewals;
    const Lease& lease;
    Instant started_at;
    bool is_leaving = false;
    bool is_calm = false;
    Instant now;
    WallTime wall;
};

// In the order to write them.
std::vector<OwnershipWrite> choose_writes(const WriteFacts& facts);

}  // namespace evenkeel::processor
