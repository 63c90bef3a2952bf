// What the scale controller remembers of a group: its load now, the greatest load of the last
// minutes, how fast events arrive, and how fast one instance handles them. It knows no policy, so
// several can be asked about the same history. Pure.
//
// Invariants
//   SCALE-1  After a reading that failed, the history is unknown until the next one that succeeds.
//   SCALE-2  An instance's rate is measured only while partitions had unread events all the time:
//            an idle instance says nothing about what it could do. Or it follows from a count of
//            instances that fell behind, so that more were started.
// Threads: a value. Time is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "host/scale/group_load.h"
#include "host/scale/recent_max.h"

namespace evenkeel::host {

class LoadHistory {
public:
    explicit LoadHistory(NeverRead never_read = NeverRead::one_event) : never_read_(never_read) {}

    // A reading, while so many instances ran. Times do not go back.
    void note(const GroupLoad& load, std::uint32_t instances, Instant now);
    // The hub or the store could not be read; `why` is for the operator, without secrets.
    void note_unknown(std::string why);

    // None: the last reading succeeded.
    const std::optional<std::string>& unknown() const { return unknown_; }
    const LoadSum& latest() const { return latest_; }
    const RecentMax& unread() const { return unread_; }
    // Unread events, and those that arrived since the reading before: 0 only while nothing happens.
    const RecentMax& activity() const { return activity_; }
    // How long it has been watched without a gap.
    Duration watched(Instant now) const { return now - since_; }
    // Partitions move. False if that lasts longer than any hand-over: then something else is wrong.
    bool is_moving(Instant now) const;

    // When there were fewer instances than at the reading before.
    std::optional<Instant> shrunk_at() const { return shrunk_at_; }

    std::optional<double> arrivals_per_s() const { return arrivals_; }
    // What one busy instance handles; none if it was never measured. The longer ago that was, the
    // better it is taken to be: so a slow hour does not keep instances for ever.
    std::optional<double> instance_per_s(Instant now) const;

private:
    void measure_arrivals(const LoadSum& sum, Instant now);
    void measure_instance(const LoadSum& sum, std::uint32_t instances, Instant now);
    void learn_from_growth(const LoadSum& sum, std::uint32_t instances, Instant now);
    void measured(double rate, Instant now);

    struct Arrivals {
        Instant at;
        std::int64_t stored;
    };
    struct Span {  // with the same number of instances
        Instant begin;
        std::int64_t handled;
        std::uint32_t instances;
    };

    NeverRead never_read_;
    std::optional<std::string> unknown_ = "it was not read yet";
    LoadSum latest_;
    RecentMax unread_;
    RecentMax activity_;
    Instant since_;
    std::optional<Instant> moving_since_;
    std::optional<Arrivals> arrivals_from_;
    std::optional<double> arrivals_;  // smoothed
    std::optional<Span> span_;
    std::uint32_t instances_ = 0;  // at the last reading
    Instant noted_at_;
    std::optional<Span> falling_behind_;  // unread events have risen with each reading since
    Instant behind_until_;                // the last of those readings
    Instant grown_at_;
    std::optional<Instant> shrunk_at_;
    std::optional<double> instance_;
    Instant instance_at_;
};

}  // namespace evenkeel::host
