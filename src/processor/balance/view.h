// Makes the balancer's View of what the coordinator knows. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "processor/balance/balancer.h"
#include "processor/balance/members.h"
#include "processor/ownership/ownerships.h"

namespace evenkeel::processor {

struct ViewOfSelf {
    std::string id;
    bool is_leaving = false;
    bool is_on_probation = false;
    bool is_unable = false;
    bool gives_all = false;
    const std::map<PartitionId, std::string>& offers;  // what we give, and to whom
};

// Owners that live are members; those of ours that died or left own nothing; owners that we know no
// member of, and that write no epochs, are foreign as long as their entries are young.
View make_view(const ViewOfSelf& self, const Members& members, const Ownerships& ownerships,
               const std::function<Duration(const std::string&)>& foreign_expiry, Instant now);
// The owners that are none of ours, dead or not, and the age of the youngest entry of each.
std::map<std::string, Duration> foreign_owners(const std::string& self, const Members& members,
                                               const Ownerships& ownerships, Instant now);

}  // namespace evenkeel::processor
