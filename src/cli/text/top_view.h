// A group in a terminal, as the dashboard's page shows it: a sentence, owners with letters, a row
// for each partition with how far it is behind, the last moves. Pure.
//
//      On an even keel. 2 owners share 4 partitions. Nobody is more than 0.6 s behind.
//      A agg-7f2c  2  1,202/s   B agg-b91e  2  1,190/s
//      P   IN      BEHIND                    OWNER  CHECKPOINT  STORED
//      0   591/s    0.2 s               ▇▇━━ A       18,209,216  0.7 s ago
//      1   622/s   18 min  ■ parked ▇▇▇▇▇▇━━ B       18,246,735  18 min ago
//      14:26:11  1  A → B  handed over: 'agg-b91e' joined
//
// Narrow terminals get fewer columns, low ones fewer rows: what needs somebody comes first.
// What comes from elsewhere (names, reasons) has no control characters here.
#pragma once

#include <cstdint>
#include <string>

#include "cli/text/terminal.h"
#include "dashboard/group_view.h"

namespace evenkeel::cli {

struct TopPlace {
    std::string event_hub;
    std::string group;
    bool has_rates = false;  // it was looked at before
};

// The words of the page's verdict, in one or two sentences.
std::string top_verdict(const dashboard::GroupView& view, const TopPlace& place);

// Lines, each with its end. `terminal` that is none: all rows, 80 columns, no colour.
std::string top_text(const dashboard::GroupView& view, const TopPlace& place,
                     const Terminal& terminal);

// "0.2 s", "46 s", "1 min 14 s", "5 h 29 min", "3 d 4 h"
std::string span_text(std::int64_t milliseconds);

}  // namespace evenkeel::cli
