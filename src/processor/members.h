// Who lives, judged by watching versions change on our own steady clock. The store's clock helps
// where we have not watched long enough; wall clocks of members are never compared with anything.
//
//     listing ──observe()──▶ each member: this version since when? ──▶ live or dead
//
// A member is dead when its version has not changed for Timing::dead since we first saw it (longer
// if the store is slow), or when the store says so with a second to spare. A store with an exact
// clock tells how long the version was there before we saw it (Timing::by_exact_age). After a time
// without listings, all begin anew: they may have been as blind as we. After a short one they get a
// moment to write. No I/O; told the time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "checkpoint/store.h"
#include "processor/timing.h"

namespace evenkeel::processor {

class Members {
public:
    struct Seen {
        checkpoint::Member member;
        Instant version_since;      // this version is there at least since then
        Instant incarnation_since;  // when we first saw this start of it
        bool is_dead = false;
        bool is_spared = false;  // the store was away while this version was there
    };
    struct Change {
        bool joined = false;
        bool died = false;
        bool content = false;  // something but a version changed, or one left
        bool any() const { return joined || died || content; }
    };

    Members(std::string self, const Timing& timing) : self_(std::move(self)), timing_(timing) {}

    // A listing that was answered now. `wall` is ours; only a canary looks at it.
    Change observe(std::vector<checkpoint::Member> listed, Instant now, WallTime wall);
    // The store did not list them.
    void note_failure() { has_failed_ = true; }
    // Our own write to the store took that long.
    void note_latency(Duration latency);

    // All but ourselves, the dead too; by id.
    const std::map<std::string, Seen, std::less<>>& others() const { return others_; }
    // Our own entry as listed, if it was.
    const std::optional<checkpoint::Member>& own() const { return own_; }
    bool is_live(std::string_view id) const;
    // Lives, and may be given something.
    bool is_up(std::string_view id) const;
    bool is_expecting(std::string_view id) const;
    bool is_on_probation(const Seen& seen, Instant now) const;
    Duration probation(std::uint32_t restarts) const;
    // When the first of them may be found dead; none if there is none.
    std::optional<Instant> next_death() const;
    Instant last_listed() const { return last_listed_; }
    Duration death_after() const;

private:
    Instant first_there(const checkpoint::Member& member, Instant now) const;
    bool judge(const Seen& seen, Instant now, WallTime wall) const;
    bool judge_by_age(const checkpoint::Member& member, Instant now) const;

    const std::string self_;
    const Timing timing_;
    std::map<std::string, Seen, std::less<>> others_;
    std::optional<checkpoint::Member> own_;
    bool is_first_ = true;
    bool has_failed_ = false;  // since the last listing
    Instant last_listed_;
    Instant age_counts_from_;  // before this, the store's ages do not count
    Duration latency_{0};      // of our writes, smoothed
};

}  // namespace evenkeel::processor
