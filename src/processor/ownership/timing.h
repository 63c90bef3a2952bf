// How often processors look for each other, and after what silence one counts as dead.
//
//     heartbeat sent ──────────── lease ─────────▶ it stops by itself
//     heartbeat seen ──────────── dead ───────────────────▶ others take its partitions
//
// A processor stops `lease` after it *sent* its last good heartbeat; others wait for `dead` after
// they first *saw* it, which is later. So lease < dead is all that keeps two from reading one
// partition; clocks are never compared, only their rates count.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace evenkeel::processor {

struct Timing {
    Duration heartbeat{std::chrono::milliseconds(2000)};  // each is drawn from [0.9, 1] of it
    Duration poll{std::chrono::milliseconds(2000)};       // of the group; drawn in the same way
    Duration poll_fast{std::chrono::milliseconds(250)};   // while something is expected or unowned
    Duration poll_fast_max{std::chrono::seconds(30)};     // for so long at a time
    Duration dead{std::chrono::milliseconds(6000)};
    Duration lease{std::chrono::milliseconds(5000)};
    // Where the store's clock is exact, `dead` counts from the write and not from when it was seen.
    // Otherwise an instance that is back soon is more likely to find its partitions again.
    bool by_exact_age = false;
    // After a join, before voluntary moves; and before one that leaves begins to give.
    Duration settle{std::chrono::milliseconds(500)};
    Duration settle_push{std::chrono::milliseconds(200)};  // the same, with a store that notifies
    Duration ramp{std::chrono::milliseconds(1000)};  // a newcomer takes free partitions gradually
    // Official members are judged by the age of their entries; ours are renewed when three eighths
    // of it have passed. Less, down to the lower bound, for those that are seen to renew often
    // (processor/balance/foreign_pace.h).
    Duration foreign_expiry{std::chrono::seconds(120)};
    Duration foreign_expiry_min{std::chrono::seconds(30)};
    // While such members are there, as quick as they need it: the shortest of their expiries is 30
    // s (.NET before 5.7), and 60 s of those of today.
    Duration foreign_renewal{std::chrono::seconds(10)};
    Duration foreign_renewal_max{std::chrono::seconds(45)};
    // Requests are dear, and one listing shows everything (checkpoint::Pace). While no official
    // member is there, each look renews one of our entries, so that a newcomer of theirs counts us,
    // and takes only what is its due.
    bool is_thrifty = false;
    // Without a word from the hub for half of this an instance says so and is given nothing; after
    // all of it, it gives its partitions to those that hear from the hub, if there are any.
    Duration unread_max{std::chrono::seconds(20)};
    Duration leave_max{std::chrono::seconds(20)};       // hand everything over within this
    Duration request_max{std::chrono::seconds(10)};     // then the store counts as not answering
    Duration restart_memory{std::chrono::minutes(10)};  // a crash counts against its id for so long
    Duration probation_max{std::chrono::seconds(60)};
};

// A dead instance is replaced within about 8 s.
Timing standard_timing();
// Within 3 s where the store's clock is exact (SQLite), else within about 3.5 s; with more than
// twice the requests to the store.
Timing fast_timing();
// For stores that want few requests: within about 110 s, with less than five requests a minute.
Timing thrifty_timing();

// What a member writes beside its host, so that those who watch know when it counts as dead:
// "host:pid fast". The profile is "fast", "standard" or "thrifty".
std::string note_with_profile(std::string_view host, std::string_view profile);
struct MemberNote {
    std::string host;
    std::string profile = {};           // "": not told
    std::optional<Timing> timing = {};  // of the profile
};
MemberNote read_note(std::string_view note);

// `invalid_argument` names the pair that does not fit, and what would (OWN-11).
Result<> validate(const Timing& timing);

}  // namespace evenkeel::processor
