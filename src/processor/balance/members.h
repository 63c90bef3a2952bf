// Who lives, judged by watching versions change on our own steady clock. The store's clock can be
// set, and so it condemns nobody; wall clocks of members are never compared with anything.
//
//     listing ──observe()──▶ each member: this version since when? ──▶ live or dead
//
// A member is dead when its version has not changed for Timing::dead since we first saw it (longer
// if the store is slow: by most of our last writes, not by one or two of them). A store whose clock
// nobody sets tells how long the version was there before we saw it (Timing::by_exact_age,
// is_thrifty), but not longer than since our last look. After a time in which the store answered us
// nothing, all begin anew: they may have been as blind as we. After a short one they get a moment
// to write. A listing that takes long is not such a time while our heartbeats are answered. One
// that we have not seen writing yet, and that is old by the store's clock, keeps what it has but is
// given nothing. No I/O; the caller passes the time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "checkpoint/store.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class Members {
public:
    struct Seen {
        checkpoint::Member member;
        Instant version_since;      // this version is there at least since then
        Instant incarnation_since;  // when we first saw this start of it
        bool is_dead = false;
        bool is_spared = false;    // the store was away while this version was there
        bool has_written = false;  // while we looked
        bool is_silent = false;    // it has not, and the store's clock says since long
    };
    struct Change {
        bool joined = false;
        bool died = false;
        bool leaves = false;   // one said that it leaves
        bool content = false;  // something but a version changed, or one left
        bool any() const { return joined || died || content; }
    };

    Members(std::string self, const Timing& timing) : self_(std::move(self)), timing_(timing) {}

    // A listing that was answered now.
    Change observe(std::vector<checkpoint::Member> listed, Instant now);
    // The store did not list them.
    void note_failure() { has_failed_ = true; }
    // The store answered a write of ours, which took that long.
    void note_answer(Duration latency, Instant now);

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
    void note_answer(Instant now);
    Duration latency() const;
    Instant first_there(const checkpoint::Member& member, Instant now) const;
    bool judge(const Seen& seen, Instant now) const;
    bool is_old(const checkpoint::Member& member) const;

    const std::string self_;
    const Timing timing_;
    std::map<std::string, Seen, std::less<>> others_;
    std::optional<checkpoint::Member> own_;
    bool is_first_ = true;
    bool has_failed_ = false;  // since the last listing
    Instant last_listed_;
    Instant last_answer_;              // to a listing or a write
    Duration longest_silence_{0};      // between two answers, since the last listing
    std::vector<Duration> latencies_;  // of our last writes, the oldest first
};

}  // namespace evenkeel::processor
