// Whether a processor reads from its hub: when it last heard from it, and whether its pumps get
// readers. A partition without events is no failure: after a while without a word the hub is asked.
//
//     heard ──unread_max / 4──▶ ask ──unread_max / 2──▶ unread_since() tells
//
// No I/O; the caller passes the time.
#pragma once

#include <optional>

#include "base/clock.h"

namespace evenkeel::processor {

class Reach {
public:
    Reach(Duration unread_max, Instant now) : unread_max_(unread_max), heard_(now) {}

    // The hub answered, whatever it was asked.
    void heard(Instant now) { heard_ = now; }
    // Nobody has heard from it for a while: ask it something. Once for each answer, and again if
    // none comes.
    bool is_question_due(Instant now);
    // All pumps try in vain since then; none if one of them reads, or there is none.
    void set_pumps(std::optional<Instant> in_vain_since) { in_vain_since_ = in_vain_since; }
    // Since when nothing is read although it should be, once that is half of unread_max.
    std::optional<Instant> unread_since(Instant now) const;
    // Look so often.
    Duration period() const { return unread_max_ / 8; }

private:
    const Duration unread_max_;
    Instant heard_;
    Instant asked_;
    std::optional<Instant> in_vain_since_;
};

}  // namespace evenkeel::processor
