#include "processor/ownership/reach.h"

#include <algorithm>

namespace evenkeel::processor {

bool Reach::is_question_due(Instant now) {
    if (now - std::max(heard_, asked_) < unread_max_ / 4) return false;
    asked_ = now;
    return true;
}

std::optional<Instant> Reach::unread_since(Instant now) const {
    const Instant since = in_vain_since_ ? std::min(heard_, *in_vain_since_) : heard_;
    if (now - since < unread_max_ / 2) return std::nullopt;
    return since;
}

}  // namespace evenkeel::processor
