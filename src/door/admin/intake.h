// What comes in over HTTP counts as what comes in over AMQP does (door/amqp/ingest.h): for the
// quotas of namespace, key and event hub, and for the traffic of the event hub.
//
// Ownership: all it is given outlives it.
// Threads: part of Admin, on the hub's loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "door/activity.h"
#include "door/admin/call.h"
#include "door/quotas.h"
#include "io/loop.h"

namespace evenkeel::door {

class Intake {
public:
    struct Size {
        std::uint64_t events = 0;
        std::uint64_t bytes = 0;
    };

    // Without quotas nothing is refused, without activity nothing is counted.
    Intake(io::Loop& loop, const Quotas* quotas, Activity* activity)
        : loop_(loop), quotas_(quotas), activity_(activity) {}

    // Takes all of it from the quotas that it falls under; or nothing, and the answer is 429.
    std::optional<http::Response> refuse(const Claim& claim, const io::Endpoint& from,
                                         std::string_view hub, Size size);
    // It was stored in the event hub, which exists.
    void note_stored(std::string_view hub, Size size, Instant began);
    Instant now() const { return loop_.clock().now(); }

private:
    io::Loop& loop_;
    const Quotas* const quotas_;
    Activity* const activity_;
};

}  // namespace evenkeel::door
