#include "dashboard/browse_page.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evenkeel::dashboard {

std::vector<BrowsedEvent> BrowsePage::take(std::vector<BrowsedEvent> events) {
    std::ranges::move(events, std::back_inserter(events_));
    std::ranges::sort(events_, [this](const BrowsedEvent& a, const BrowsedEvent& b) {
        return is_before(a.place, b.place);
    });
    std::size_t fit = 0;
    std::size_t bytes = 0;
    while (fit < events_.size() && fit < options_.events_max && may_take(events_[fit].place)) {
        bytes += events_[fit].json.size();
        if (fit > 0 && bytes > options_.bytes_max) break;
        ++fit;
    }
    if (fit == events_.size()) return {};
    end_ = events_[fit].place;
    const auto first = events_.begin() + static_cast<std::ptrdiff_t>(fit);
    std::vector<BrowsedEvent> back(std::make_move_iterator(first),
                                   std::make_move_iterator(events_.end()));
    events_.erase(first, events_.end());
    return back;
}

}  // namespace evenkeel::dashboard
