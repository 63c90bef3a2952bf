// A scale decision in words: inputs, formula and result, why not more, why not less. Pure.
#pragma once

#include <string>

#include "host/scale/decide.h"

namespace evenkeel::host {

struct ScaleWords {
    std::string why;       // "450 unread / 100 per instance = 5, next even split of 16 ... = 6"
    std::string not_more;  // "6 instances are enough for 600 unread events"
    std::string not_less;  // "the load of the last 60 s needs 6; may shrink in 41 s"
};

ScaleWords explain_scale(const ScaleDecision& decision, const ScalePolicy& policy);

// "6 instances wanted (4 now): ..." in one line, for logs.
std::string scale_line(const ScaleDecision& decision, const ScalePolicy& policy);

}  // namespace evenkeel::host
